"""Figures of paired training runs: per variant over seeds, and against the baseline seed by seed.

A target is reached at the first evaluation that is not below it: the resolution is `--eval-freq` steps. Seconds are
those of rollouts, sandbox and learning; warm start and evaluations are the same for all and left out. Intervals are
Student's over seeds; ratios to the baseline are paired by seed and averaged as logarithms.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from itertools import accumulate, pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

from kept import kept_figures
from paired import FIGURES, Comparison, add_options, finished, run_all, shorten
from rich import box
from rich.console import Console
from rich.table import Table

from kolmocli.config.file import load_config
from kolmocli.evaluation.intervals import mean_interval
from kolmocli.monitor.figures.information import noise_scale
from kolmocli.monitor.history import read_history
from kolmocli.monitor.records import ReinforceRecord, StepSeconds
from kolmocli.monitor.writer import write_atomically
from kolmocli.paths import find_curriculum

SHOWN = (
    "before",
    "final",
    "pass_rate",
    "signal_share",
    "bits_per_rollout",
    "bits_total",
    "dead_groups",
    "failed_groups",
    "noise_scale",
    "rollouts",
    "seconds",
)
"""Figures of a run that are given as means over the seeds."""
QUARTERLY = ("dead_groups", "entropy")


def compare(
    about: str | None, variants: Callable[[int, int], Mapping[str, Sequence[str]]], *, baseline: str,
    targets: Sequence[float], out: str, curriculum: str = "quickstart", steps: int = 100,
) -> None:  # fmt: skip
    """A command that compares settings of one curriculum, by name the options of each for this many steps and rollouts a step.

    Hindsight is off, and a variant of that name has it where the curriculum does.
    """
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--variants", nargs="+", choices=variants(1, 1), metavar="VARIANT", help="(default: all)")
    parser.add_argument("--baseline", choices=variants(1, 1), default=baseline, metavar="VARIANT",
                        help="what the others are compared with (default: %(default)s)")  # fmt: skip
    parser.add_argument("--targets", type=float, nargs="+", default=list(targets), help="held-out accuracies")
    add_options(parser, curriculum=curriculum, steps=steps, eval_freq=25, out=out)
    o = parser.parse_args()
    shorten(o)
    training = load_config(find_curriculum(o.curriculum)).training
    found = dict(variants(o.steps, training.batch_size))
    if training.hindsight:
        o.more = ["--set", "training.hindsight=0", *o.more]
    else:
        found.pop("hindsight", None)
    chosen = {name: options for name, options in found.items() if not o.variants or name in o.variants}
    show(run_all(o, chosen, prune), o.out, o.seeds, chosen, o.baseline, o.targets, o.json)


def show(
    comparison: Comparison, out: Path, seeds: Sequence[int], variants: Iterable[str], baseline: str,
    targets: Sequence[float], as_json: bool,
) -> None:  # fmt: skip
    """Print what is finished under `out`."""
    runs = {
        name: {seed: measure(run, targets) for seed in seeds if finished(run := out / f"seed{seed}" / name)}
        for name in variants
    }
    found = report(runs, baseline, targets)
    if as_json:
        print(json.dumps({"schema_version": 1, "settings": asdict(comparison), **found}, indent=2, allow_nan=False))
        return
    for table in tables(found):
        Console(width=None if sys.stdout.isatty() else 140, highlight=False).print(table)


def measure(folder: Path, targets: Sequence[float]) -> dict[str, Any]:
    """The figures of one finished run; None for a target that no evaluation reached."""
    found = figures(folder)
    reached = {f"{target:g}": until(found["accuracies"], target) for target in targets}
    return {**found, "reached": reached}


def until(accuracies: Sequence[Sequence[float]], target: float) -> dict[str, float] | None:
    """Rollouts and seconds before the first evaluation that is not below the target."""
    for rollouts, accuracy, seconds in accuracies:
        if accuracy >= target:
            return {"rollouts": rollouts, "seconds": seconds}
    return None


def figures(folder: Path) -> dict[str, Any]:
    """The figures of one finished run that need no target: from its files, as `keep_figures` left them, or as they are kept."""
    if (folder / FIGURES).is_file():
        return dict(json.loads((folder / FIGURES).read_text())["figures"])
    if (kept := kept_figures(folder)) is not None:
        return kept
    history = read_history(folder)
    steps, before, after = history.rl, history.summary.eval.before, history.summary.eval.after
    assert before is not None and after is not None, f"{folder} is not finished"
    rollouts = list(accumulate((m.rollouts or 0 for m in steps), initial=0))
    seconds = list(accumulate((seconds_of(m) for m in steps), initial=0.0))
    groups, failed = sum(m.groups or 0 for m in steps), [m.dead_fail for m in steps if m.dead_fail is not None]
    return {
        "rollouts": rollouts[-1],
        "seconds": seconds[-1],
        "before": before["accuracy"],
        "final": after["accuracy"],
        "bits_per_rollout": history.summary.bits.per_rollout,
        "bits_total": history.summary.bits.total,
        "quarters": quarters(steps),
        "pass_rate": mean_of(m.pass_rate for m in steps),
        "signal_share": mean_of(m.signal_share for m in steps),
        "dead_groups": sum(m.dead_groups or 0 for m in steps) / max(1, groups),
        "failed_groups": sum(failed) / max(1, groups) if failed else None,
        "noise_scale": noise_scale([m.gradient for m in steps if m.gradient]),
        "accuracies": [[rollouts[e.step], e.accuracy or 0.0, seconds[e.step]] for e in history.evaluations],
    }


def keep_figures(folder: Path) -> None:
    """Write a finished run's figures into a small file, which is then enough to count it as finished."""
    content = {"schema_version": 1, "figures": figures(folder)}
    write_atomically(folder / FIGURES, json.dumps(content, indent=1))


def prune(folder: Path) -> None:
    """What is needed to plot a finished run again, in a small file, and none of its weights."""
    keep_figures(folder)
    shutil.rmtree(folder / "checkpoints", ignore_errors=True)


def quarters(steps: Sequence[ReinforceRecord]) -> dict[str, list[float | None]]:
    """Means over the first quarter of the steps, over the second, ...: what dies, and when."""
    bounds = [len(steps) * i // 4 for i in range(5)]
    parts = [steps[a:b] for a, b in pairwise(bounds)]
    return {
        "dead_groups": [mean_of(m.dead_groups / m.groups for m in p if m.groups and m.dead_groups is not None) for p in parts],
        "entropy": [mean_of(m.entropy for m in p) for p in parts],
    }  # fmt: skip


def seconds_of(record: ReinforceRecord) -> float:
    seconds = record.seconds or StepSeconds()
    return (seconds.rollout or 0.0) + (seconds.execute or 0.0) + (seconds.learn or 0.0)


def mean_of(values: Iterable[float | None]) -> float | None:
    """Of the steps that have such a number."""
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def mean(values: Sequence[float]) -> dict[str, Any]:
    """`mean` and `ci`; None for the mean of nothing and for the interval of fewer than two."""
    return {
        "mean": fmean(values) if values else None,
        "ci": list(mean_interval(values)) if len(values) > 1 else None,
        "n": len(values),
    }


def ratio(runs: dict[int, dict[str, Any]], baseline: dict[int, dict[str, Any]], target: str, what: str) -> Any:
    """What these runs took, as a share of what the baseline took, geometric mean over the seeds that both have
    finished and where the warm start had not got there.

    A baseline that never got there counts with all that it had, which makes the ratio an upper bound: `at_most`. None
    when a run of the variant itself did not get there: there is no honest number then.
    """
    logs, at_most = [], False
    for seed in sorted(runs.keys() & baseline.keys()):
        mine, other = runs[seed]["reached"][target], baseline[seed]["reached"][target]
        if mine is None:
            return None
        if not mine["rollouts"] or (other and not other["rollouts"]):
            continue  # there from the start: the warm start's doing
        at_most |= other is None
        logs.append(math.log(mine[what] / (baseline[seed] if other is None else other)[what]))
    if not logs:
        return None
    found = mean(logs)
    ci = None if found["ci"] is None else [math.exp(bound) for bound in found["ci"]]
    return {"mean": math.exp(found["mean"]), "ci": ci, "n": found["n"], "at_most": at_most}


def difference(runs: Mapping[int, Mapping[str, Any]], others: Mapping[int, Mapping[str, Any]]) -> dict[str, Any]:
    """Of the final accuracies, over the seeds that both have finished."""
    return mean([runs[seed]["final"] - others[seed]["final"] for seed in sorted(runs.keys() & others.keys())])


def report(runs: dict[str, dict[int, dict[str, Any]]], baseline: str, targets: Sequence[float]) -> dict[str, Any]:
    """Per variant, over its finished seeds. `runs` is by variant and seed."""
    variants = {}
    for name, by_seed in runs.items():
        found = list(by_seed.values())
        until = {}
        for target in (f"{t:g}" for t in targets):
            reached = [r["reached"][target] for r in found if r["reached"][target]]
            until[target] = {
                "reached": len(reached),
                **{what: mean([r[what] for r in reached]) for what in ("rollouts", "seconds")},
                **{
                    f"{what}_ratio": ratio(by_seed, runs[baseline], target, what)
                    for what in ("rollouts", "seconds")
                    if name != baseline and baseline in runs
                },
            }
        variants[name] = {
            "seeds": list(by_seed),
            "final_difference": None if name == baseline else difference(by_seed, runs.get(baseline, {})),
            **{k: mean([r[k] for r in found if r.get(k) is not None]) for k in SHOWN},
            "quarters": {
                what: [mean([q for q in each if q is not None]) for each in zip(*rows, strict=True)]
                for what in QUARTERLY
                if (rows := [r["quarters"][what] for r in found if "quarters" in r])
            },
            "until": until,
            "runs": {str(seed): run for seed, run in by_seed.items()},
        }  # fmt: skip
    return {"baseline": baseline, "targets": list(targets), "variants": variants}


def tables(found: dict[str, Any]) -> Iterable[Any]:
    table = Table(box=box.SIMPLE, pad_edge=False, title="mean over seeds, with its 95 % interval", title_justify="left")
    versus = f"over {found['baseline']}"
    headings = (
        "variant",
        "seeds",
        "before",
        "final accuracy",
        versus,
        "pass rate",
        "S",
        "bits per rollout",
        "bits",
        "dead groups",
        "noise scale",
        "rollouts",
        "s",
    )
    for i, heading in enumerate(headings):
        table.add_column(heading, justify="right" if i else "left")
    for name, c in found["variants"].items():
        shares = (cell(c[key], ".1%") for key in ("before", "final"))
        table.add_row(
            name, str(len(c["seeds"])), *shares, cell(c["final_difference"], "+.1%"), cell(c["pass_rate"], ".2f"),
            cell(c["signal_share"], ".2f"), cell(c["bits_per_rollout"], ".2f"), cell(c["bits_total"], ",.0f"),
            cell(c["dead_groups"], ".0%"), cell(c["noise_scale"], ",.0f"), cell(c["rollouts"], ",.0f"), cell(c["seconds"], ",.0f"),
        )  # fmt: skip
    yield table
    title = "dead groups, and nats a token, in each quarter of a run: means over seeds"
    table = Table(box=box.SIMPLE, pad_edge=False, title=title, title_justify="left")
    for i, heading in enumerate(
        ("variant", *(f"dead, {i}" for i in range(1, 5)), *(f"nats, {i}" for i in range(1, 5)))
    ):
        table.add_column(heading, justify="right" if i else "left")
    for name, c in found["variants"].items():
        if c["quarters"]:
            shown = [cell({**q, "ci": None}, ".0%") for q in c["quarters"]["dead_groups"]]
            table.add_row(name, *shown, *(cell({**q, "ci": None}, ".2f") for q in c["quarters"]["entropy"]))
    yield table
    table = Table(box=box.SIMPLE, pad_edge=False, title="until a held-out accuracy", title_justify="left")
    for i, heading in enumerate(
        ("accuracy", "variant", "reached", "rollouts", f"of {found['baseline']}", "s", f"of {found['baseline']}")
    ):
        table.add_column(heading, justify="right" if i > 1 else "left")
    for target in (f"{t:g}" for t in found["targets"]):
        for name, c in found["variants"].items():
            until = c["until"][target]
            table.add_row(
                target, name, f"{until['reached']} of {len(c['seeds'])}", cell(until["rollouts"], ",.0f"),
                cell(until.get("rollouts_ratio"), ".2f"), cell(until["seconds"], ",.0f"), cell(until.get("seconds_ratio"), ".2f"),
            )  # fmt: skip
    yield table


def cell(value: dict[str, Any] | None, form: str) -> str:
    if value is None or value["mean"] is None:
        return "–"
    said = ("≤ " if value.get("at_most") else "") + format(value["mean"], form)
    return said if value["ci"] is None else f"{said} [{value['ci'][0]:{form}}, {value['ci'][1]:{form}}]"
