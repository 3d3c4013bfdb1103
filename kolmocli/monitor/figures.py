"""One function per figure of a run: records in, a figure out, None where there is nothing to draw."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kolmocli.curriculum.information import entropy_bits
from kolmocli.monitor.canvas import (
    BAND,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    RED,
    SKY,
    WINDOW,
    curve,
    dress,
    figure,
    legend,
    running_mean,
)
from kolmocli.monitor.words import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.figure import Figure

Record = dict[str, Any]
STEP = "REINFORCE step"
_HALF_BAND = 0.1
_MOST_PANELS = 16


@dataclass(frozen=True, slots=True)
class Run:
    """The files of a run, read."""

    metrics: list[Record]
    events: list[Record]
    summary: Record

    @property
    def rl(self) -> list[Record]:
        """The steps after the warm start."""
        return [record for record in self.metrics if record.get("phase") != "warmup"]

    @property
    def warmup(self) -> list[Record]:
        return [record for record in self.metrics if record.get("phase") == "warmup"]

    @property
    def evaluations(self) -> list[Record]:
        """Evaluation events in order of steps, each with an accuracy."""
        found = [e for e in self.events if e.get("kind") == "eval" and number(e, "accuracy") is not None]
        return sorted(found, key=lambda e: int(e["step"]))

    @property
    def target(self) -> float:
        target = number(self.summary.get("pass_rate"), "target")
        return 0.5 if target is None else target


def series(records: Sequence[Record], key: str) -> tuple[list[float], list[float]]:
    """(steps, values) of the records that have the number."""
    found = [(float(r["step"]), number(r, key)) for r in records]
    kept = [(step, value) for step, value in found if value is not None]
    return [step for step, _ in kept], [value for _, value in kept]


def compression_rate(run: Run) -> Figure | None:
    """Coded size ÷ plain size: of the training rollouts, and of the held-out tasks."""
    steps, values = series(run.rl, "compression_rate")
    tested = [e for e in run.evaluations if number(e, "compression_rate") is not None]
    if not values and not tested:
        return None
    fig = figure("Compression rate", "Bits after ÷ bits before; only correct programs count.")
    axes = dress(fig.subplots(), STEP, "coded size ÷ plain size  (lower is better)")
    axes.axhline(1.0, color=GREY, linewidth=1, linestyle=":")
    axes.annotate("stored as it is", (0.995, 1.0), xycoords=("axes fraction", "data"), **_NOTE)
    if values:
        curve(axes, steps, values, BLUE, "training rollouts, against the literal")
    if tested:
        at, sizes = [e["step"] for e in tested], [e["compression_rate"] for e in tested]
        axes.plot(at, sizes, "o-", color=ORANGE, markersize=7, linewidth=1.2, label="held-out tasks, against raw bytes")
    _baselines(axes, run)
    axes.set_ylim(bottom=0.0, top=max(1.1, 1.05 * max([*values, *(e["compression_rate"] for e in tested)])))
    legend(axes)
    return fig


_NOTE: dict[str, Any] = {
    "textcoords": "offset points",
    "xytext": (0, 3),
    "ha": "right",
    "fontsize": 8,
    "color": GREY,
}


def _baselines(axes: Axes, run: Run) -> None:
    """The best solid stream of a standard codec on the held-out tasks, as a line."""
    report = (run.summary.get("eval") or {}).get("after") or {}
    solid = {name: number(rates, "solid") for name, rates in (report.get("baselines") or {}).items()}
    known = {name: rate for name, rate in solid.items() if rate is not None}
    if known:
        name = min(known, key=lambda codec: known[codec])
        axes.axhline(known[name], color=GREY, linewidth=1, linestyle="--")
        axes.annotate(f"{name}, all as one", (0.995, known[name]), xycoords=("axes fraction", "data"), **_NOTE)


def accuracy(run: Run) -> Figure | None:
    """Held-out accuracy with 95 % intervals, from the evaluation before REINFORCE to the one after."""
    points = run.evaluations
    if not points:
        return None
    fig = figure("Held-out accuracy", "Share of held-out tasks solved by one program, with 95 % intervals.")
    axes = dress(fig.subplots(), STEP, "accuracy  (%)")
    at = [float(e["step"]) for e in points]
    shares = [100 * float(e["accuracy"]) for e in points]
    ends = [e.get("accuracy_ci") or (e["accuracy"], e["accuracy"]) for e in points]
    below = [max(0.0, s - 100 * low) for s, (low, _) in zip(shares, ends, strict=True)]
    above = [max(0.0, 100 * high - s) for s, (_, high) in zip(shares, ends, strict=True)]
    axes.errorbar(at, shares, yerr=[below, above], fmt="o-", color=BLUE, capsize=4, markersize=7, linewidth=1.6)
    for x, y, event in zip(at, shares, points, strict=True):
        axes.annotate(
            f"{y:.1f} %" + (f"\n{event['name']}" if event.get("name") in ("before", "after") else ""),
            (x, y), textcoords="offset points", xytext=(9, -4), fontsize=9, va="top", color=GREY,
        )  # fmt: skip
    axes.set_ylim(0, min(100.0, 1.25 * max(100 * high for _, high in ends) + 2))
    axes.margins(x=0.08)
    return fig


def reward(run: Run) -> Figure | None:
    """Mean reward of a step."""
    steps, values = series(run.rl, "reward")
    if not values:
        return None
    fig = figure(
        "Reward",
        "Mean over the rollouts of a step. The controller holds it level: look at accuracy for progress.",
    )
    axes = dress(fig.subplots(), STEP, "mean reward per rollout")
    curve(axes, steps, values, BLUE, "reward")
    legend(axes)
    return fig


def loss(run: Run) -> Figure | None:
    """The supervised loss of the warm start beside the policy-gradient loss and its gradient norm."""
    warm = series(run.warmup, "loss")
    steps, values = series(run.rl, "loss")
    if not values and not warm[1]:
        return None
    fig = figure("Loss", "The policy-gradient loss is no measure of progress: its gradient is what matters.")
    panels = fig.subplots(1, 2 if warm[1] and values else 1, squeeze=False)[0]
    if warm[1]:
        axes = dress(panels[0], "warm-start step", "cross-entropy  (nats per token)", "Supervised warm start")
        axes.plot(*warm, color=ORANGE, linewidth=2)
        axes.set_ylim(bottom=0.0)
    if values:
        axes = dress(panels[-1], STEP, "policy-gradient loss", "REINFORCE")
        curve(axes, steps, values, BLUE, "loss")
        _, norms = series(run.rl, "grad_norm")
        if len(norms) == len(steps):
            right = axes.twinx()
            right.plot(steps, running_mean(norms, WINDOW), color=RED, linewidth=1.2, linestyle="--")
            right.set_ylabel("gradient norm, before clipping  (dashed)", fontsize=10, color=RED)
            right.set_ylim(0.0, 1.25 * max(norms) or 1.0)
            right.spines["top"].set_visible(False)
            right.tick_params(labelsize=9, colors=RED)
        axes.legend(fontsize=9, frameon=False, loc="lower left")
    return fig


def pass_rate(run: Run) -> Figure | None:
    """A panel per family: pass rate with its 90 % interval, over the target band."""
    names = list(dict.fromkeys(name for r in run.rl for name in r.get("buckets") or {}))
    if not names:
        return None
    shown = names[:_MOST_PANELS]
    part = "" if len(shown) == len(names) else f", {len(shown)} of {len(names)} families"
    fig = figure(
        f"Pass rate per family{part}",
        f"Green band: target {run.target:g} ± {_HALF_BAND:g}. Line: mean of {WINDOW} steps; shade: 90 % interval "
        "of the step.\nGrey, dashed: level, from the lowest at the bottom to the highest at the top.",
    )
    columns = _COLUMNS.get(len(shown), 4)
    rows = math.ceil(len(shown) / columns)
    panels = fig.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    for i, axes in enumerate(panels.flat):
        if i >= len(shown):
            axes.set_visible(False)
            continue
        last_row, first_column = i + columns >= len(shown), i % columns == 0
        dress(axes, STEP if i // columns == rows - 1 else "", "pass rate" if first_column else "", shown[i])
        axes.tick_params(labelbottom=last_row)
        _family(axes, run, shown[i])
    return fig


_COLUMNS = {1: 1, 2: 2, 3: 3, 4: 2, 5: 3, 6: 3, 9: 3}
"""Panels side by side, where four would leave holes."""


def _family(axes: Axes, run: Run, name: str) -> None:
    records = [{"step": r["step"], **r["buckets"][name]} for r in run.rl if name in (r.get("buckets") or {})]
    axes.axhspan(run.target - _HALF_BAND, run.target + _HALF_BAND, color=BAND, zorder=0)
    axes.axhline(run.target, color=GREEN, linewidth=1)
    heights = [(r["step"], _height(r)) for r in records]
    known = [(step, height) for step, height in heights if height is not None]
    axes.plot([s for s, _ in known], [h for _, h in known], color=GREY, linewidth=1, linestyle="--")
    measured = [r for r in records if r.get("ci") and number(r, "pass_rate") is not None]
    axes.fill_between(
        [r["step"] for r in measured], [r["ci"][0] for r in measured], [r["ci"][1] for r in measured],
        color=SKY, alpha=0.25, linewidth=0,
    )  # fmt: skip
    steps, values = series(records, "pass_rate")
    axes.plot(steps, running_mean(values, WINDOW), color=BLUE, linewidth=2)
    axes.set_ylim(-0.02, 1.02)


def _height(bucket: Record) -> float | None:
    """The level between 0 (the lowest) and 1 (the highest)."""
    level, top = number(bucket, "level"), number(bucket, "top")
    return None if level is None or top is None or top <= 1 else (level - 1) / (top - 1)


def bits(run: Run) -> Figure | None:
    """Where the run stood on the curves of information per sample, and how much it gathered.

    The curves are H(p) for a pass/fail outcome and −log2 p for a supervised answer.
    """
    steps, totals = series(run.rl, "bits_total")
    if not totals:
        return None
    fig = figure("Information", "What one rollout can teach: H(p) bits at pass rate p, and nothing where p is 0 or 1.")
    linear, logarithmic, right = fig.subplots(1, 3, width_ratios=(1, 1.12, 1))
    points = [(r["step"], number(r, "pass_rate"), number(r, "bits_per_rollout")) for r in run.rl]
    known = [(step, p, b) for step, p, b in points if p is not None and b is not None]
    _samples(dress(linear, "pass rate p", "bits per sample", "Bits per sample"), known)
    linear.set_xlim(0, 1)
    legend(linear)
    dots = _samples(dress(logarithmic, "pass rate p, logarithmic", "", "The same, by orders of magnitude"), known)
    logarithmic.set_xscale("log")
    logarithmic.set_xlim(_LOWEST_RATE, 1)
    fig.colorbar(dots, ax=logarithmic, label="step", pad=0.02, aspect=40).ax.tick_params(labelsize=9)
    dress(right, STEP, "bits, cumulative", "Gathered")
    right.plot(steps, totals, color=BLUE, linewidth=2.2, label="this run")
    rollouts = running_total([number(r, "rollouts") or 0.0 for r in run.rl if number(r, "bits_total") is not None])
    right.plot(steps, rollouts, color=PURPLE, linewidth=1.2, linestyle="--", label="1 bit per rollout")
    right.set_ylim(bottom=0.0)
    legend(right)
    return fig


_LOWEST_RATE = 1e-3


def _samples(axes: Axes, known: Sequence[tuple[float, float, float]]) -> PathCollection:
    """Both curves, and every step of the run as a dot at its (pass rate, bits per rollout)."""
    grid = [_LOWEST_RATE ** (1 - i / 400) for i in range(401)]
    axes.plot(grid, [entropy_bits(min(1.0, p)) for p in grid], color=BLUE, linewidth=2, label="pass or fail, H(p)")
    axes.plot(grid, [-math.log2(p) for p in grid], color=ORANGE, linewidth=1.6, label="supervised, −log2 p")
    axes.set_ylim(0, 3)
    return axes.scatter(
        [p for _, p, _ in known], [b for _, _, b in known], c=[s for s, _, _ in known],
        cmap="viridis", s=16, zorder=3, label="steps of this run",
    )  # fmt: skip


def running_total(values: Sequence[float]) -> list[float]:
    """Cumulative sums."""
    totals, total = [], 0.0
    for value in values:
        total += value
        totals.append(total)
    return totals


FIGURES = {
    "compression_rate": compression_rate,
    "accuracy": accuracy,
    "reward": reward,
    "loss": loss,
    "pass_rate": pass_rate,
    "bits": bits,
}
"""Every figure by the name of its file."""
