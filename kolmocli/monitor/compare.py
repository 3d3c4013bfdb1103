"""Several runs on the same axes: where each was after as many rollouts, and what it had gathered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kolmocli.curriculum.information import per_gflop
from kolmocli.errors import UsageError
from kolmocli.files import own_folder, writing
from kolmocli.monitor.events import EvaluationEvent
from kolmocli.monitor.figures.canvas import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    RED,
    SKY,
    WINDOW,
    dress,
    figure,
    label_of,
    legend,
    png,
    running_mean,
)
from kolmocli.monitor.history import History, read_history, running_total
from kolmocli.monitor.page import image, page, section, table
from kolmocli.monitor.records import ReinforceRecord
from kolmocli.monitor.words import compact, decimal, duration, percent, rate
from kolmocli.monitor.writer import write_atomically

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = (BLUE, ORANGE, GREEN, RED, PURPLE, SKY, GREY)
_DASHES = ("-", "--", ":")
_ROLLOUTS = "rollouts so far"
_END = 20
"""Last letters of a run's name that a legend keeps: the seed and the number tell runs apart."""


def write_comparison(run_dirs: Sequence[Path], folder: Path) -> list[Path]:
    """Write `plots/*.png` and `report.html` of these runs into `folder`, and return their paths.

    Raises UsageError for fewer than two runs, for a folder that holds none, and for an output folder that is a run.
    """
    if len(run_dirs) < 2:
        raise UsageError("--compare: name at least two runs")
    if (folder / "metrics.jsonl").exists():
        raise UsageError(f"{folder}: this folder holds a run; name another one with --output")
    from kolmocli.monitor.plots import write_pictures

    runs = dict(zip(names(run_dirs), map(read_history, run_dirs), strict=True))
    images = {name: png(fig) for name, draw in FIGURES.items() if (fig := draw(runs)) is not None}
    report = folder / "report.html"
    with writing(folder):
        paths = write_pictures(own_folder(folder / "plots"), images)
        write_atomically(report, render(runs, images))
    return [*paths, report]


def names(run_dirs: Sequence[Path]) -> list[str]:
    """A name per run, the shortest end of its path that no other has. Raises UsageError for a run named twice."""
    paths = [Path(run_dir).resolve() for run_dir in run_dirs]
    for i, path in enumerate(paths):
        if path in paths[:i]:
            raise UsageError(f"--compare: {run_dirs[i]} is named twice")
    parts = 1
    while len({path.parts[-parts:] for path in paths}) < len(paths):
        parts += 1
    return ["/".join(path.parts[-parts:]) for path in paths]


Runs = dict[str, History]


def accuracy(runs: Runs) -> Figure | None:
    """Held-out accuracy with its 95 % intervals."""
    if not any(run.evaluations for run in runs.values()):
        return None
    fig = figure("Held-out accuracy", "With 95 % intervals. Compare only runs with the same held-out tasks.")
    axes = dress(fig.subplots(), _ROLLOUTS, "accuracy  (%)")
    for style, (name, run) in zip(_styles(), runs.items(), strict=False):
        points = run.evaluations
        if points:
            at = [_rollouts_at(run, e.step) for e in points]
            shares = [100 * (e.accuracy or 0.0) for e in points]
            ends = [[100 * end for end in e.accuracy_ci or (e.accuracy or 0.0,) * 2] for e in points]
            spread = [[abs(s - end[i]) for s, end in zip(shares, ends, strict=True)] for i in (0, 1)]
            axes.errorbar(
                at, shares, yerr=spread, marker="o", capsize=3, linewidth=1.8, label=label_of(name, _END), **style
            )
    axes.set_ylim(bottom=0.0)
    legend(axes)
    return fig


Number = Callable[[ReinforceRecord], float | None]


def _curves(
    value: Number, title: str, label: str, subtitle: str = "", *, smooth: bool = True
) -> Callable[[Runs], Figure | None]:
    """A figure with one number of every step, a curve per run."""

    def draw(runs: Runs) -> Figure | None:
        known = {name: points for name, run in runs.items() if (points := _series(run, value))}
        if not known:
            return None
        fig = figure(title, subtitle)
        axes = dress(fig.subplots(), _ROLLOUTS, f"{label}, mean of {WINDOW} steps" if smooth else label)
        _overlay(axes, runs, known, smooth)
        return fig

    return draw


def _overlay(axes: Axes, runs: Runs, known: dict[str, list[tuple[float, float]]], smooth: bool) -> None:
    for style, name in zip(_styles(), runs, strict=False):
        if name in known:
            values = [value for _, value in known[name]]
            shown = running_mean(values, WINDOW) if smooth else values
            axes.plot([at for at, _ in known[name]], shown, linewidth=1.9, label=label_of(name, _END), **style)
    legend(axes)


FIGURES: dict[str, Callable[[Runs], Figure | None]] = {
    "accuracy": accuracy,
    "pass_rate": _curves(
        lambda r: r.pass_rate,
        "Pass rate",
        "pass rate",
        "A mean of hopeless and trivial tasks looks alike: see the bits.",
    ),
    "bits_per_rollout": _curves(
        lambda r: r.bits_per_rollout, "Bits per rollout", "H(p) bits", "Measured group by group, so that it shows."
    ),
    "bits_total": _curves(lambda r: r.bits_total, "Bits gathered", "bits, cumulative", smooth=False),
    "compression_rate": _curves(
        lambda r: r.compression_rate, "Compression rate", "coded size ÷ literal, training rollouts"
    ),
    "reward": _curves(lambda r: r.reward, "Reward", "mean reward per rollout"),
}


def render(runs: Runs, images: dict[str, bytes]) -> str:
    """The page as text."""
    head = ("run", "steps", "rollouts", "time", "accuracy before", "after", "95 %", "mean pass rate", "bits per rollout",
            "bits gathered", "dead groups", "bits per GFLOP")  # fmt: skip
    parts = [
        *section("Side by side", table(head, [_row(name, run) for name, run in runs.items()])),
        *section("Curves", *(image(png, name.replace("_", " ")) for name, png in images.items())),
    ]
    return page("Comparison", f"{len(runs)} runs", parts)


def _row(name: str, run: History) -> tuple[str, ...]:
    evaluated = {e.name: e for e in run.evaluations}
    before, after = (evaluated.get(when, EvaluationEvent()) for when in ("before", "after"))
    rollouts, groups = sum(r.rollouts or 0 for r in run.rl), sum(r.groups or 0 for r in run.rl)
    dead, flops = sum(r.dead_groups or 0 for r in run.rl), sum(r.flops or 0.0 for r in run.rl)
    bits = (_series(run, lambda r: r.bits_total) or [(0.0, 0.0)])[-1][1]
    rates = [value for _, value in _series(run, lambda r: r.pass_rate)]
    return (
        name,
        f"{len(run.rl)}",
        compact(rollouts),
        duration(run.summary.seconds.total),
        percent(before.accuracy),
        percent(after.accuracy),
        " – ".join(map(percent, after.accuracy_ci or [])) or "–",
        rate(sum(rates) / len(rates) if rates else None),
        decimal(bits / rollouts if rollouts else None),
        compact(bits),
        percent(dead / groups if groups else None),
        decimal(per_gflop(bits, flops)),
    )


def _series(run: History, value: Number) -> list[tuple[float, float]]:
    """(rollouts so far, value) of the steps that have the number."""
    at = running_total([float(r.rollouts or 0) for r in run.rl])
    return [(x, found) for x, r in zip(at, run.rl, strict=True) if (found := value(r)) is not None]


def _rollouts_at(run: History, step: int) -> float:
    return sum(r.rollouts or 0 for r in run.rl if r.step <= step)


def _styles() -> Iterator[dict[str, Any]]:
    """Colours first, then the same colours dashed and dotted; beyond that they come again."""
    return cycle([{"color": colour, "linestyle": dash} for dash in _DASHES for colour in _COLOURS])
