"""The table and the picture of `race.py`, from what `paired_report.py` measured of its runs."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from paired import finished
from paired_report import cell, difference, mean, measure, ratio, report
from race_curves import caught_up
from rich import box
from rich.console import Console
from rich.table import Table

from kolmocli.monitor.figures.canvas import BLUE, GREEN, GREY, ORANGE, PURPLE, RED, SKY, dress, figure, legend, png

UNIFORM = "uniform"
"""Whose rollouts the others' are compared with."""
SCREENED = "rasch + screening"
PLAIN, BEST, ADAPTED = "TRL as it comes", "TRL at its best", "TRL with kolmo"
"""The second is whose seconds and rollouts the others' are compared with."""
STYLES = {
    "rasch": (BLUE, "-"), SCREENED: (BLUE, ":"), UNIFORM: (ORANGE, "-"), "uniform + refill": (ORANGE, ":"),
    "window": (GREEN, "-"), "pool": (SKY, "-"), "staircase": (PURPLE, "-"), "learnability": (PURPLE, ":"),
    "rasch, rloo": (BLUE, "-."), "uniform, rloo": (ORANGE, "-."),
    PLAIN: (GREY, "--"), BEST: (RED, "--"), ADAPTED: (BLUE, "--"),
}  # fmt: skip
"""In the picture: TRL's lines are broken."""
OF_TRL = "of TRL's best"


def on_the_way(run: Mapping[str, Any]) -> float:
    """The mean accuracy after the first evaluation: high for what climbs early, and for what ends high."""
    return fmean(accuracy for _, accuracy, _ in run["accuracies"][1:])


def measured(folder: Path, seeds: Sequence[int], variants: Iterable[str], targets: Sequence[float]) -> dict[str, Any]:
    """What is finished of the race in this folder, as `report` has it, and each variant as a share of TRL at its best."""
    runs = {
        name: {s: measure(run, targets) for s in seeds if finished(run := folder / f"seed{s}" / name)}
        for name in variants
    }
    found = report(runs, UNIFORM, targets)
    for name, variant in found["variants"].items():
        variant["on_the_way"] = mean([on_the_way(run) for run in runs[name].values()])
        variant["over_trl"] = None if name == BEST else difference(runs[name], runs.get(BEST, {}))
        variant["caught_up"] = {
            other: {
                what: None if name == other else caught_up(runs[name], runs.get(other, {}), what)
                for what in ("rollouts", "seconds")
            }
            for other in (UNIFORM, BEST)
        }
        for target, until in variant["until"].items():
            until["of_trl"] = {
                what: ratio(runs[name], runs.get(BEST, {}), target, what) if name != BEST else None
                for what in ("rollouts", "seconds")
            }
    return found


def show(found: Mapping[str, dict[str, Any]], rates: Table) -> None:
    """A table of the race, one of where its runs ended, and that of the rates: those that have a row."""
    console = Console(width=None if sys.stdout.isatty() else 320, highlight=False)
    for table in (race(found), ends(found), rates):
        if table.row_count:
            console.print(table)


def rows(found: Mapping[str, dict[str, Any]], targets: bool) -> Iterator[tuple[str, float | None, str, dict[str, Any]]]:
    """Curriculum, target (None: without them), variant and its figures, where a run of it is finished."""
    for name, each in found.items():
        for target in each["targets"] if targets else [None]:
            for variant, c in each["variants"].items():
                if c["seeds"]:
                    yield Path(name).stem, target, variant, c


def race(found: Mapping[str, dict[str, Any]]) -> Table:
    title = "rollouts and seconds of training until a held-out accuracy: means over the seeds that reached it"
    headings = ("curriculum", "accuracy", "variant", "reached", "rollouts", f"of {UNIFORM}", OF_TRL, "seconds", OF_TRL)
    table, before = empty(title, headings), None
    for name, target, variant, c in rows(found, True):
        if before not in (None, (name, target)):
            table.add_section()
        before, until = (name, target), c["until"][f"{target:g}"]
        table.add_row(
            name, f"{100 * target:g} %", variant, f"{until['reached']} of {len(c['seeds'])}",
            cell(until["rollouts"], ",.0f"), cell(until.get("rollouts_ratio"), ".2f"),
            cell(until["of_trl"]["rollouts"], ".2f"), cell(until["seconds"], ",.0f"), cell(until["of_trl"]["seconds"], ".2f"),
        )  # fmt: skip
    return table


def ends(found: Mapping[str, dict[str, Any]]) -> Table:
    """`has it after`: the share of the other's rollouts, or of its seconds, until it has what the other ends with. `failed` are the groups of
    which no rollout passed, most of the dead ones on tasks that are too hard."""
    headings = (
        "curriculum", "variant", "seeds", "before", "on the way", "final accuracy", f"over {UNIFORM}", "has it after",
        "over TRL's best", "has it after", "in seconds", "rollouts", "seconds", "pass rate", "bits", "dead groups", "failed",
    )  # fmt: skip
    table = empty("at the end: means over the seeds, with their 95 % intervals", headings)
    for name, _, variant, c in rows(found, False):
        table.add_row(
            name, variant, str(len(c["seeds"])), short(c["before"], ".1%"), short(c["on_the_way"], ".1%"),
            cell(c["final"], ".1%"),
            cell(c["final_difference"], "+.1%"), share(c["caught_up"][UNIFORM]["rollouts"]),
            cell(c["over_trl"], "+.1%"), *(share(c["caught_up"][BEST][what]) for what in ("rollouts", "seconds")),
            short(c["rollouts"], ",.0f"), cell(c["seconds"], ",.0f"),
            short(c["pass_rate"], ".2f"), short(c["bits_per_rollout"], ".2f"), short(c["dead_groups"], ".0%"),
            short(c["failed_groups"], ".0%"),
        )  # fmt: skip
    return table


def empty(title: str, headings: Sequence[str]) -> Table:
    table = Table(box=box.SIMPLE, pad_edge=False, title=title, title_justify="left")
    for heading in headings:
        table.add_column(heading, justify="left" if heading in ("curriculum", "variant") else "right", no_wrap=True)
    return table


def short(value: Mapping[str, Any], form: str) -> str:
    """A mean without its interval."""
    return cell({**value, "ci": None}, form)


def share(value: Mapping[str, Any] | None) -> str:
    """What `caught_up` found."""
    if value is None or value["mean"] is None:
        return "–"
    low, high = value["ci"] or (None, None)
    end = "" if low is None else f" [{low:.2f}, {'–' if high is None else f'{high:.2f}'}]"
    return f"{value['mean']:.2f}{end}"


def picture(found: Mapping[str, dict[str, Any]]) -> bytes:
    """Held-out accuracy by rollouts and by seconds: a row of two for each curriculum, with intervals over seeds."""
    from matplotlib.ticker import FuncFormatter

    fig = figure(
        "Held-out accuracy", "Mean over seeds, with 95 % intervals. Warm starts and evaluations take no time here."
    )
    fig.set_size_inches(11.0, 1.4 + 3.8 * len(found))
    axes = fig.subplots(len(found), 2, squeeze=False, sharey="row")
    for row, (name, each) in zip(axes, found.items(), strict=True):
        for place, x in enumerate(("rollouts", "seconds")):
            panel = dress(row[place], x, "accuracy  (%)" if place == 0 else "", Path(name).stem if place == 0 else "")
            panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
            for variant, points in curves(each):
                colour, dash = STYLES[variant]
                at = [point[x] for point in points]
                panel.plot(at, [100 * p["mean"] for p in points], dash, color=colour, linewidth=1.8, label=variant)
                low, high = ([100 * (p["ci"] or (p["mean"],) * 2)[end] for p in points] for end in (0, 1))
                panel.fill_between(at, low, high, color=colour, alpha=0.1, linewidth=0)
    if axes[0][0].lines:
        legend(axes[0][0])
    return png(fig)


def curves(found: Mapping[str, Any]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """By variant: rollouts and seconds, means over the finished seeds, and `mean` and `ci` of the accuracy after them."""
    for variant, c in found["variants"].items():
        runs = [run["accuracies"] for run in c["runs"].values()]
        if runs:
            yield (
                variant,
                [
                    {
                        "rollouts": fmean(rollouts for rollouts, _, _ in rows),
                        "seconds": fmean(seconds for _, _, seconds in rows),
                        **mean([accuracy for _, accuracy, _ in rows]),
                    }
                    for rows in zip(*runs, strict=True)
                ],
            )
