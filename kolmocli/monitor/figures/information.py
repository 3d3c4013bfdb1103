"""Figures of information: bits per sample against pass rate, bits per GFLOP, and the noise of the gradient."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from kolmocli.curriculum.information import entropy_bits, supervised_bits
from kolmocli.monitor.figures.canvas import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    STEP,
    WINDOW,
    dress,
    figure,
    label_of,
    legend,
    logarithmic,
    running_mean,
)
from kolmocli.monitor.history import History, SomeRecord, running_total
from kolmocli.monitor.records import GradientRecord, StepRecord

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.figure import Figure

_LOWEST_RATE = 1e-4
_LINEAR_TOP = 3.0

Point = tuple[float, float, float]
"""(step, pass rate, bits)."""


def bits(run: History) -> Figure | None:
    """Draw the run on the curves of information per sample, by shares and by orders of magnitude.

    The curves are H(p) for a pass/fail outcome and −log2 p for a supervised answer.
    """
    rollouts, answers = _points(run.rl, lambda r: r.bits_per_rollout), _answers(run)
    if not rollouts and not answers:
        return None
    fig = figure(
        "Bits per sample",
        "Dots: steps of this run. One outcome tells at most H(p) bits, and less where the tasks of a step differ; one answer "
        "at least −log2 p, and\nmore where several programs would pass. An answer is measured before it is learned. "
        "At the left edge: no sample passed.",
    )
    linear, orders = fig.subplots(1, 2, width_ratios=(1, 1.25))
    _samples(dress(linear, "pass rate p", "bits per sample", "Pass rate by shares"), rollouts, answers)
    linear.set_xlim(0, 1)
    linear.set_ylim(0, _LINEAR_TOP)
    legend(linear)
    dots = _samples(dress(orders, "pass rate p, logarithmic", "", "The same by orders of magnitude"), rollouts, answers)
    orders.set_xlim(_LOWEST_RATE, 1)
    logarithmic(orders, "x")
    orders.set_ylim(0, 1.06 * max([supervised_bits(_LOWEST_RATE), *(b for _, _, b in answers)]))
    if dots is not None:
        bar = fig.colorbar(dots, ax=orders, label=STEP, pad=0.02, aspect=40)
        bar.ax.tick_params(labelsize=9)
        bar.ax.locator_params(axis="y", integer=True)
    return fig


def _points(records: Sequence[SomeRecord], bits: Callable[[SomeRecord], float | None]) -> list[Point]:
    found = [(float(r.step), r.pass_rate, bits(r)) for r in records]
    return [(step, p, value) for step, p, value in found if p is not None and value is not None]


def _answers(run: History) -> list[Point]:
    """The steps of the warm start that measured the pass rate."""
    return _points(run.warmup, lambda r: r.bits_per_answer)


def _samples(axes: Axes, rollouts: Sequence[Point], answers: Sequence[Point]) -> PathCollection | None:
    grid = [_LOWEST_RATE ** (1 - i / 400) for i in range(401)]
    axes.plot(
        grid, [supervised_bits(min(1.0, p)) for p in grid], color=ORANGE, linewidth=1.8, label="an answer, −log2 p"
    )
    axes.plot(grid, [entropy_bits(min(1.0, p)) for p in grid], color=BLUE, linewidth=2, label="pass or fail, H(p)")
    if answers:
        axes.scatter(
            [max(p, _LOWEST_RATE) for _, p, _ in answers], [b for _, _, b in answers], marker="D", s=34, zorder=3,
            color=ORANGE, edgecolors="white", linewidths=0.8, label="warm start, per answer", clip_on=True,
        )  # fmt: skip
    if not rollouts:
        return None
    return axes.scatter(
        [max(p, _LOWEST_RATE) for _, p, _ in rollouts], [b for _, _, b in rollouts], c=[s for s, _, _ in rollouts],
        cmap="viridis", s=16, zorder=4, label="REINFORCE, per rollout",
    )  # fmt: skip


def bits_per_gflop(run: History) -> Figure | None:
    """Draw bits per billion operations, and bits in all: both ways of learning on one axis of computation."""
    taught, played = _spent(run.warmup, 0.0), _spent(run.rl, _spent_in_all(run.warmup))
    if not taught and not played:
        return None
    fig = figure(
        "Bits per GFLOP",
        "Warm start: −log2 p of each answer before it was learned. REINFORCE: H(p) of each outcome. "
        "The same unit; what the bits are about is not the same.",
    )
    left, right = fig.subplots(1, 2)
    dress(left, "computation so far  (GFLOP)", f"bits per GFLOP, mean of {WINDOW} steps, logarithmic", "Rate")
    dress(right, "computation so far  (GFLOP)", "bits, cumulative, logarithmic", "Gathered")
    for points, colour, name in ((taught, ORANGE, "warm start"), (played, BLUE, "REINFORCE")):
        if points:
            at = [x for x, _, _ in points]
            left.plot(at, _ratio(points), color=colour, linewidth=2.2, label=label_of(name))
            right.plot(at, running_total([b for _, b, _ in points]), color=colour, linewidth=2.2, label=label_of(name))
    if played:
        most = running_total([float(r.rollouts or 0) for r in run.rl if r.flops])
        right.plot(
            [x for x, _, _ in played], most, color=GREY, linewidth=1.2, linestyle="--", label="1 bit per rollout"
        )
    hindsight = [(x, r.answer_bits_total) for (x, _, _), r in zip(played, run.rl, strict=False)]
    if any(total for _, total in hindsight):
        known = [(x, total) for x, total in hindsight if total is not None]
        right.plot([x for x, _ in known], [t for _, t in known], color=PURPLE, linewidth=1.6, label="hindsight answers")
    logarithmic(left, "y")
    logarithmic(right, "y")
    legend(left)
    legend(right)
    return fig


def _spent(records: Sequence[StepRecord], before: float) -> list[tuple[float, float, float]]:
    """(GFLOP so far, bits of the step, GFLOP of the step) of the records that have both."""
    points = []
    for record in records:
        if record.flops is None:
            continue
        gflop = record.flops / 1e9
        before += gflop
        points.append((before, (record.bits_per_gflop or 0.0) * gflop, gflop))
    return points if any(b for _, b, _ in points) else []


def _spent_in_all(records: Sequence[StepRecord]) -> float:
    return sum(r.flops or 0.0 for r in records) / 1e9


def _ratio(points: Sequence[tuple[float, float, float]]) -> list[float]:
    """Bits over GFLOP of the last steps together; NaN, a gap, where there was no bit."""
    gathered = running_mean([b for _, b, _ in points], WINDOW)
    spent = running_mean([g for _, _, g in points], WINDOW)
    return [b / g if b > 0.0 and g > 0.0 else math.nan for b, g in zip(gathered, spent, strict=True)]


_POOLED = 5
"""Measurements that one estimate of the noise scale is made of: signal and variance are added up, then divided."""


def gradient_noise(run: History) -> Figure | None:
    """Draw the length of each group's gradient over the share of it that passed, and the noise scale in rollouts."""
    measured = [(float(r.step), r.gradient) for r in run.rl if r.gradient is not None]
    rows = [(k, n, norm) for _, g in measured for _, k, n, norm in g.norms or () if norm is not None]
    if not rows:
        return None
    pools = [measured[i : i + _POOLED] for i in range(0, len(measured), _POOLED)]
    scales = [(pool[-1][0], noise_scale([g for _, g in pool])) for pool in pools]
    known = [(step, scale) for step, scale in scales if scale is not None]
    fig = figure(
        "Noise of the gradient",
        "Left: a dot per group; dashed: ∝ √(p (1−p)), for rollouts whose gradients are alike in length and unrelated.\n"
        f"Right: variance ÷ squared length of the mean gradient (McCandlish et al. 2018), {_POOLED} measurements at a time; "
        f"no signal was found in {len(scales) - len(known)} of {len(scales)}.",
    )
    left, right = fig.subplots(1, 2)
    _by_pass_rate(dress(left, "pass rate of the group, k / G", "length of its gradient", "Per group"), rows)
    dress(right, STEP, "rollouts, logarithmic", "Rollouts at which signal equals noise")
    right.plot(
        [s for s, _ in known], [v for _, v in known], "o-", color=BLUE, linewidth=1.8, label="simple noise scale"
    )
    used = [(float(r.step), r.rollouts) for r in run.rl if r.rollouts]
    right.plot([s for s, _ in used], [n for _, n in used], color=GREEN, linewidth=1.4, label="rollouts of a step")
    logarithmic(right, "y")
    legend(right)
    return fig


def _by_pass_rate(axes: Axes, rows: Sequence[tuple[int, int, float]]) -> None:
    by_rate: dict[float, list[float]] = defaultdict(list)
    for passes, rollouts, norm in rows:
        by_rate[passes / rollouts].append(norm)
    for rate, norms in by_rate.items():
        # Side by side, or a hundred dots look like one: a fixed fan, so that the picture is the same every time.
        fan = [rate + 0.018 * ((i * 0.618) % 1.0 - 0.5) * 2 for i in range(len(norms))]
        axes.scatter(fan, norms, s=9, color=BLUE, alpha=0.3, linewidths=0)
    rates = sorted(by_rate)
    middle = [sorted(by_rate[rate]) for rate in rates]
    centre = [sum(norms) / len(norms) for norms in middle]
    low = [c - n[len(n) // 10] for c, n in zip(centre, middle, strict=True)]
    high = [n[-1 - len(n) // 10] - c for c, n in zip(centre, middle, strict=True)]
    axes.errorbar(
        rates, centre, yerr=[[max(0.0, x) for x in low], [max(0.0, x) for x in high]], fmt="o", color=BLUE,
        markersize=6, capsize=3, linewidth=1.2, label="mean, with 10 % and 90 %",
    )  # fmt: skip
    squared = sum(n * n for norms in middle for n in norms)
    expected = sum(rate * (1 - rate) * len(norms) for rate, norms in zip(rates, middle, strict=True))
    if expected:
        grid = [i / 100 for i in range(101)]
        curve = [math.sqrt(squared / expected * p * (1 - p)) for p in grid]
        axes.plot(grid, curve, color=ORANGE, linewidth=1.4, linestyle="--", label="∝ √(p (1−p))")
    axes.set_xlim(-0.04, 1.04)
    axes.set_ylim(0.0, 1.25 * max(n for norms in middle for n in norms) or 1.0)  # room for the legend
    legend(axes)


def noise_scale(pool: Sequence[GradientRecord]) -> float | None:
    """Variance ÷ signal of several measurements together, in rollouts; None where the signal is not above zero."""
    known = [g for g in pool if g.signal is not None and g.variance is not None and g.groups]
    signal, variance = sum(g.signal or 0.0 for g in known), sum(g.variance or 0.0 for g in known)
    if not known or signal <= 0.0:
        return None
    sizes = [rollouts for g in known for _, _, rollouts, _ in g.norms or ()]
    return variance / signal * sum(sizes) / len(sizes)
