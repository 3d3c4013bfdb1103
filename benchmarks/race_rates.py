"""What `race.py` found of learning rates: every variant at every rate, on seeds that are not raced."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from paired import finished
from paired_report import cell, mean, measure
from race_report import ADAPTED, BEST, UNIFORM, empty, on_the_way
from rich.table import Table

Tried = dict[str, dict[float, dict[int, dict[str, Any]]]]
"""The figures of finished runs, by variant, rate and seed."""


ACCURACIES: dict[str, Callable[[Mapping[str, Any]], float]] = {
    "on_the_way": on_the_way,
    "final": lambda run: run["final"],
}


def tune_folder(out: Path, seed: int) -> Path:
    return out / f"tune{seed}"


def run_name(variant: str, rate: float) -> str:
    return f"{variant} {rate:g}"


def tried(out: Path, seeds: Sequence[int], variants: Iterable[str], rates: Sequence[float]) -> Tried:
    return {
        name: {
            rate: {s: measure(run, []) for s in seeds if finished(run := tune_folder(out, s) / run_name(name, rate))}
            for rate in rates
        }
        for name in variants
    }


def best_rates(found: Tried) -> dict[str, float]:
    """Of each variant the rate with the best final accuracy, of those that were tried on all of the seeds; the first of equals."""
    best = {}
    for name, by_rate in found.items():
        seeds = set[int]().union(*by_rate.values())
        whole = {rate: runs for rate, runs in by_rate.items() if runs and runs.keys() == seeds}
        if whole:
            best[name] = max(whole, key=lambda rate: fmean(run["final"] for run in whole[rate].values()))
    return best


def summary(found: Tried) -> dict[str, Any]:
    """By variant and rate: means over the seeds of the accuracy on the way and at the end, and seed by seed what each is
    over that of uniform sampling in the same trainer at the same rate."""
    return {name: {f"{rate:g}": means(found, name, rate) for rate in found[name]} for name in found}


def means(found: Tried, name: str, rate: float) -> dict[str, Any]:
    runs, other = found[name][rate], found.get(BEST if name == ADAPTED else UNIFORM, {}).get(rate, {})
    both = sorted(runs.keys() & other.keys()) if name not in (UNIFORM, BEST) else []
    return {"seeds": list(runs)} | {
        key: {
            **mean([accuracy(run) for run in runs.values()]),
            "over_uniform": mean([accuracy(runs[seed]) - accuracy(other[seed]) for seed in both]),
        }
        for key, accuracy in ACCURACIES.items()
    }


def rates_table(found: Mapping[str, Tried]) -> Table:
    """Of each curriculum; the best rate of a variant has a star."""
    over = f"over {UNIFORM}"
    headings = ("curriculum", "variant", "rate", "seeds", "on the way", over, "final accuracy", over)
    table = empty("learning rates, on seeds that are not raced; in TRL, over TRL at its best", headings)
    for curriculum, each in found.items():
        best = best_rates(each)
        for name, by_rate in each.items():
            for rate, runs in by_rate.items():
                if not runs:
                    continue
                figures = means(each, name, rate)
                cells = [
                    said
                    for key in ACCURACIES
                    for said in (cell(figures[key], ".1%"), cell(figures[key]["over_uniform"], "+.1%"))
                ]
                star = " *" if best.get(name) == rate else ""
                table.add_row(Path(curriculum).stem, name, f"{rate:g}{star}", str(len(runs)), *cells)
            table.add_section()
    return table
