"""The curves of learning: one function per figure, a run in, a figure out, None where there is nothing to draw."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kolmocli.monitor.figures.canvas import (
    BLUE,
    GREY,
    ORANGE,
    RED,
    STEP,
    WINDOW,
    curve,
    dress,
    figure,
    legend,
    running_mean,
)
from kolmocli.monitor.history import History, series
from kolmocli.monitor.words import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def compression_rate(run: History) -> Figure | None:
    """Coded size ÷ plain size: of the training rollouts, and of the held-out tasks."""
    steps, values = series(run.rl, lambda r: r.compression_rate)
    tested = [(e.step, e.compression_rate) for e in run.evaluations if e.compression_rate is not None]
    if not values and not tested:
        return None
    fig = figure("Compression rate", "Bits after ÷ bits before; only correct programs count.")
    axes = dress(fig.subplots(), STEP, "coded size ÷ plain size  (lower is better)")
    axes.axhline(1.0, color=GREY, linewidth=1, linestyle=":")
    axes.annotate("stored as it is", (0.995, 1.0), xycoords=("axes fraction", "data"), **_NOTE)
    if values:
        curve(axes, steps, values, BLUE, "training rollouts, against the literal")
    if tested:
        at, sizes = [step for step, _ in tested], [size for _, size in tested]
        axes.plot(at, sizes, "o-", color=ORANGE, markersize=7, linewidth=1.2, label="held-out tasks, against raw bytes")
    _baselines(axes, run)
    axes.set_ylim(bottom=0.0, top=max(1.1, 1.05 * max([*values, *(size for _, size in tested)])))
    legend(axes)
    return fig


_NOTE: dict[str, Any] = {
    "textcoords": "offset points",
    "xytext": (0, 3),
    "ha": "right",
    "fontsize": 8,
    "color": GREY,
}


def _baselines(axes: Axes, run: History) -> None:
    """The best solid stream of a standard codec on the held-out tasks, as a line."""
    report = run.summary.eval.after or {}
    solid = {name: number(rates, "solid") for name, rates in (report.get("baselines") or {}).items()}
    known = {name: rate for name, rate in solid.items() if rate is not None}
    if known:
        name = min(known, key=lambda codec: known[codec])
        axes.axhline(known[name], color=GREY, linewidth=1, linestyle="--")
        # On the other side of the line than the programs, whose curve would cross the words.
        below = (number(report, "compression_rate") or 0.0) > known[name]
        side = {"xytext": (0, -3), "va": "top"} if below else {}
        place = {"xycoords": ("axes fraction", "data"), **_NOTE, **side}
        axes.annotate(f"{name}, all as one", (0.6, known[name]), **place)


def accuracy(run: History) -> Figure | None:
    """Held-out accuracy with 95 % intervals, from the evaluation before REINFORCE to the one after."""
    points = run.evaluations
    if not points:
        return None
    fig = figure("Held-out accuracy", "Share of held-out tasks solved by one program, with 95 % intervals.")
    axes = dress(fig.subplots(), STEP, "accuracy  (%)")
    at = [float(e.step) for e in points]
    accuracies = [e.accuracy or 0.0 for e in points]
    shares = [100 * accuracy for accuracy in accuracies]
    ends = [e.accuracy_ci or (accuracy, accuracy) for e, accuracy in zip(points, accuracies, strict=True)]
    below = [max(0.0, s - 100 * low) for s, (low, _) in zip(shares, ends, strict=True)]
    above = [max(0.0, 100 * high - s) for s, (_, high) in zip(shares, ends, strict=True)]
    axes.errorbar(at, shares, yerr=[below, above], fmt="o-", color=BLUE, capsize=4, markersize=7, linewidth=1.6)
    for x, y, event in zip(at, shares, points, strict=True):
        axes.annotate(
            f"{y:.1f} %" + (f"\n{event.name}" if event.name in ("before", "after") else ""),
            (x, y), textcoords="offset points", xytext=(9, -4), fontsize=9, va="top", color=GREY,
        )  # fmt: skip
    axes.set_ylim(0, min(100.0, 1.25 * max(100 * high for _, high in ends) + 2))
    axes.margins(x=0.08)
    return fig


def reward(run: History) -> Figure | None:
    """Mean reward of a step."""
    steps, values = series(run.rl, lambda r: r.reward)
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


def loss(run: History) -> Figure | None:
    """The supervised loss of the warm start, and the policy-gradient loss with its gradient norm."""
    warm = series(run.warmup, lambda r: r.loss)
    steps, values = series(run.rl, lambda r: r.loss)
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
        _, norms = series(run.rl, lambda r: r.grad_norm)
        if len(norms) == len(steps):
            right = axes.twinx()
            right.plot(steps, running_mean(norms, WINDOW), color=RED, linewidth=1.2, linestyle="--")
            right.set_ylabel("gradient norm, before clipping  (dashed)", fontsize=10, color=RED)
            right.set_ylim(0.0, 1.25 * max(norms) or 1.0)
            right.spines["top"].set_visible(False)
            right.tick_params(labelsize=9, colors=RED)
        axes.legend(fontsize=9, frameon=False, loc="lower left")
    return fig
