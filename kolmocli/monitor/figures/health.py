"""The sandbox over time: what became of the programs, and how fast they ran."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kolmocli.monitor.figures.canvas import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    RED,
    SKY,
    STEP,
    WINDOW,
    curve,
    dress,
    figure,
    legend,
    running_mean,
)
from kolmocli.monitor.history import History
from kolmocli.monitor.records import ReinforceRecord

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FATES = {
    "passed": (GREEN, "passed"),
    "missed": (SKY, "ran, another value"),
    "RUNTIME": (ORANGE, "runtime error"),
    "SYNTAX": (PURPLE, "not of the language"),
    "limits": (RED, "time, memory, output"),
    "refused": ("#8c510a", "denied, or left damage"),
    "faults": (GREY, "lost by the sandbox"),
}
"""Outcomes of a program, with colour and name; those in small letters, but for the first two, hold several verdicts."""
_LIMITS = ("TLE_CPU", "TLE_WALL", "MLE", "OLE", "SIGNAL")
_REFUSED = ("DENIED", "POISON")
_FAULTS = ("INFRA", "CANCELLED")


def sandbox(run: History) -> Figure | None:
    """Verdicts as shares of the programs of a step, and programs per second."""
    judged = [(r.step, r.verdicts) for r in run.rl if r.verdicts and sum(r.verdicts.values()) > 0]
    speeds = [(float(r.step), speed) for r in run.rl if (speed := _speed(r)) is not None]
    if not judged and not speeds:
        return None
    lost = sum(r.infra or 0 for r in run.rl)
    fig = figure("Sandbox", f"{lost} programs were lost by the sandbox; those are never a reward.")
    ratios = (1.6, 1.0) if judged and speeds else (1.0,)
    panels = fig.subplots(1, len(ratios), squeeze=False, width_ratios=ratios)[0]
    if judged:
        axes = dress(panels[0], STEP, "share of the programs  (%)", f"What became of them, mean of {WINDOW} steps")
        shares = {
            fate: running_mean([100 * _share(verdicts, fate) for _, verdicts in judged], WINDOW) for fate in _FATES
        }
        shown = [fate for fate, values in shares.items() if max(values) > 0.0]
        axes.stackplot(
            [step for step, _ in judged], *(shares[fate] for fate in shown),
            colors=[_FATES[fate][0] for fate in shown], labels=[_FATES[fate][1] for fate in shown], linewidth=0,
        )  # fmt: skip
        axes.set_ylim(0, 100)
        axes.margins(x=0)
        handles, labels = axes.get_legend_handles_labels()
        axes.legend(
            handles[::-1], labels[::-1], fontsize=9, frameon=False, loc="upper center",
            bbox_to_anchor=(0.5, -0.13), ncols=2,
        )  # fmt: skip
    if speeds:
        axes = dress(panels[-1], STEP, "programs per second, while waiting for them", "Speed")
        curve(axes, [step for step, _ in speeds], [speed for _, speed in speeds], BLUE, "speed")
        axes.set_ylim(bottom=0.0)
        legend(axes)
    return fig


def _speed(record: ReinforceRecord) -> float | None:
    seconds, rollouts = record.seconds.execute if record.seconds else None, record.rollouts
    return rollouts / seconds if seconds and rollouts else None


def _share(verdicts: Mapping[str, int], fate: str) -> float:
    members = {"limits": _LIMITS, "refused": _REFUSED, "faults": _FAULTS}.get(fate, (fate,))
    return sum(verdicts.get(member, 0) for member in members) / sum(verdicts.values())
