"""Figures of the families: their pass rates one by one, and all of them as a map over time."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from kolmocli.monitor.figures.canvas import (
    BAND,
    BLUE,
    GREEN,
    GREY,
    SKY,
    STEP,
    WINDOW,
    dress,
    figure,
    label_of,
    running_mean,
)
from kolmocli.monitor.history import History
from kolmocli.monitor.records import BucketRecord

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_HALF_BAND = 0.1
_MOST_PANELS = 16
_COLUMNS = {1: 1, 2: 2, 3: 3, 4: 2, 5: 3, 6: 3, 9: 3}
"""Panels side by side, where four would leave holes."""


def pass_rate(run: History) -> Figure | None:
    """A panel per family: pass rate with its 90 % interval, over the target band."""
    names = run.families
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


def _family(axes: Axes, run: History, name: str) -> None:
    records = run.of_family(name)
    axes.axhspan(run.target - _HALF_BAND, run.target + _HALF_BAND, color=BAND, zorder=0)
    axes.axhline(run.target, color=GREEN, linewidth=1)
    heights = [(step, height(bucket)) for step, bucket in records]
    known = [(step, level) for step, level in heights if level is not None]
    axes.plot([s for s, _ in known], [h for _, h in known], color=GREY, linewidth=1, linestyle="--")
    measured = [(step, b.ci) for step, b in records if b.ci is not None and b.pass_rate is not None]
    axes.fill_between(
        [step for step, _ in measured], [low for _, (low, _) in measured], [high for _, (_, high) in measured],
        color=SKY, alpha=0.25, linewidth=0,
    )  # fmt: skip
    steps = [step for step, b in records if b.pass_rate is not None]
    values = [b.pass_rate for _, b in records if b.pass_rate is not None]
    axes.plot(steps, running_mean(values, WINDOW), color=BLUE, linewidth=2)
    axes.set_ylim(-0.02, 1.02)


def height(bucket: BucketRecord) -> float | None:
    """The level between 0 (the lowest) and 1 (the highest)."""
    level, top = bucket.level, bucket.top
    return None if level is None or top is None or top <= 1 else (level - 1) / (top - 1)


_MOST_ROWS = 24
_MOST_CELLS = 120
"""Columns of the map: more are narrower than a reader sees, so neighbouring steps are averaged."""


def bucket_map(run: History) -> Figure | None:
    """Every family over time, a row each: the level where it was held, and how much of it passed there."""
    names = run.families[:_MOST_ROWS]
    if not names:
        return None
    part = "" if len(names) == len(run.families) else f", {len(names)} of {len(run.families)} families"
    steps = [r.step for r in run.rl]
    width = max(1, math.ceil((max(steps) - min(steps) + 1) / _MOST_CELLS))
    cells = f"A cell is the mean of {width} steps; " if width > 1 else "A cell is a step; "
    fig = figure(f"Families over time{part}", cells + "white: not sampled, or no level held.")
    levels = _grid(run, names, height, min(steps), max(steps), width)
    rates = _grid(run, names, lambda bucket: bucket.pass_rate, min(steps), max(steps), width)
    extent = (min(steps) - 0.5, min(steps) + width * len(rates[0]) - 0.5, len(names) - 0.5, -0.5)
    left, right = fig.subplots(1, 2, sharey=True)
    for axes, grid, colours, title, label in (
        (left, levels, "viridis", "Level", "lowest = 0, highest = 1"),
        (right, rates, _around(run.target), "Pass rate", f"target {run.target:g}: pale"),
    ):
        dress(axes, STEP, "", title).grid(False)
        image = axes.imshow(grid, aspect="auto", interpolation="nearest", cmap=colours, vmin=0, vmax=1, extent=extent)
        fig.colorbar(image, ax=axes, location="bottom", aspect=40, pad=0.03, label=label).ax.tick_params(labelsize=8)
    left.set_yticks(range(len(names)), [label_of(name) for name in names])
    return fig


def _around(target: float) -> object:
    """Colours that are pale at the target: red where too little passes, blue where too much does."""
    from matplotlib.colors import LinearSegmentedColormap

    middle = min(0.98, max(0.02, target))
    return LinearSegmentedColormap.from_list("around", [(0.0, "#a50026"), (middle, "#f7f7f0"), (1.0, "#313695")])


def _grid(
    run: History, names: Sequence[str], value: Callable[[BucketRecord], float | None], first: int, last: int, width: int
) -> list[list[float]]:
    """[family][cell]: the mean of what `value` gives in the steps of a cell; NaN where there is none."""
    cells = (last - first) // width + 1
    grid = []
    for name in names:
        found: list[list[float]] = [[] for _ in range(cells)]
        for step, bucket in run.of_family(name):
            known = value(bucket)
            if known is not None:
                found[(step - first) // width].append(known)
        grid.append([sum(values) / len(values) if values else math.nan for values in found])
    return grid
