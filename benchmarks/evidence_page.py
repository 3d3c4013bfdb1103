"""The tables of docs/evidence.md, made from the figures that are kept of the races.

    python benchmarks/evidence_page.py docs/evidence.md

A table stands between `<!-- NAME -->` and `<!-- end -->`. The rest of the page is prose, and has no figure of a race.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

from kept import kept_of
from paired_report import difference
from race_curves import caught_up
from race_rates import run_name
from race_report import ADAPTED, BEST, PLAIN, SCREENED, UNIFORM

from kolmocli.monitor.metrics_page import Rows, renewed

KEPT = Path(__file__).with_name("race")
RASCH, BITS = "rasch", "bits_per_rollout"
Runs = dict[int, Mapping[str, Any]]
"""The figures of finished runs, by seed."""


def runs(race: str, name: str, folder: str = "seed") -> Runs:
    """Those of a variant that were raced, or with `tune` those of a variant and its rate."""
    kept = kept_of(KEPT / race)
    assert kept is not None, f"no figures are kept of {race}"
    return {
        int(at.removeprefix(folder)): by[name] for at, by in kept.runs.items() if at.startswith(folder) and name in by
    }


def average(found: Runs, key: str) -> float:
    return fmean(run[key] for run in found.values())


def percent(found: Runs, key: str = "final") -> str:
    return f"{100 * average(found, key):.1f} %"


def points(found: Runs, others: Runs) -> str:
    """The paired difference of the final accuracies in points, bold where its interval excludes zero."""
    both = difference(found, others)
    low, high = both["ci"]
    text = f"{100 * both['mean']:+.1f} [{100 * low:.1f}, {100 * high:.1f}]".replace("-", "−")
    return f"**{text}**" if low > 0 or high < 0 else text


def power(rate: float) -> str:
    """3e-4 and not 0.0003."""
    return f"{rate:.0e}".replace("e-0", "e-")


def share(found: Runs, others: Runs, what: Literal["rollouts", "seconds"]) -> str:
    """What it takes to reach the others' final accuracy, as a share of what they take."""
    both = caught_up(found, others, what)
    if both is None or both["mean"] is None:
        return "–"
    low, high = both["ci"]
    return f"{both['mean']:.2f} [{low:.2f}, {'–' if high is None else f'{high:.2f}'}]"


CONTROLLED = {
    "the long ladder": "control/ladder", "`digits`, weak start": "control/digits", "`kolmogorov`": "kolmogorov",
    "`reasoning`": "reasoning", "`expressions`": "expressions",
}  # fmt: skip
RACED = {
    "`expressions`": "expressions",
    "the long ladder": "ladder",
    "`kolmogorov`": "kolmogorov",
    "`reasoning`": "reasoning",
}


def control() -> Rows:
    rows = []
    for name, race in CONTROLLED.items():
        rasch, uniform = runs(race, RASCH), runs(race, UNIFORM)
        failed = f"{100 * average(uniform, 'failed_groups'):.0f} %"
        ends = (percent(uniform), percent(rasch), points(rasch, uniform), share(rasch, uniform, "rollouts"))
        rows.append((f"{name}, {len(uniform)} seeds", failed, *ends))
    return rows


PAIRS = {
    "ladder": ((3e-4, 3e-4), (2e-4, 5e-5), (5e-5, 5e-5)),
    "digits": ((3e-4, 1e-4), (3e-4, 3e-4)),
}
"""Learning rates of `rasch` and of uniform sampling that were run on the same seeds."""


def rates() -> Rows:
    rows = []
    for race, pairs in PAIRS.items():
        for mine, other in pairs:
            rasch = runs(f"rates/{race}", run_name(RASCH, mine), "tune")
            uniform = runs(f"rates/{race}", run_name(UNIFORM, other), "tune")
            ends = (percent(uniform), percent(rasch), points(rasch, uniform))
            rows.append((f"{race}, {len(uniform)} seeds", power(other), power(mine), *ends))
    return rows


def trl() -> Rows:
    rows = []
    for name, race in RACED.items():
        rasch, best = runs(race, RASCH), runs(race, BEST)
        shares = tuple(share(rasch, best, what) for what in ("seconds", "rollouts"))
        rows.append((name, percent(best), percent(rasch), points(rasch, best), *shares))
    return rows


def inside() -> Rows:
    rows = []
    for name, race in RACED.items():
        best, adapted = runs(race, BEST), runs(race, ADAPTED)
        plain = runs("portions/reasoning" if race == "reasoning" else race, PLAIN)
        defaults = "–" if not plain else percent(plain) + ("" if len(plain) == len(best) else f" ({len(plain)} seeds)")
        rows.append((name, percent(best, "before"), defaults, percent(best), percent(adapted), points(adapted, best)))
    return rows


def methods() -> Rows:
    races = ("others/expressions", "kolmogorov", "reasoning")
    rows = []
    for name in (RASCH, "pool", "staircase", "uniform + refill", "window", SCREENED):
        both = [(runs(race, name), runs(race, UNIFORM)) for race in races]
        gained = [average(found, BITS) - average(uniform, BITS) for found, uniform in both]
        bits = ", ".join(f"{round(gain, 2) + 0.0:+.2f}" for gain in gained)  # + 0.0: no −0.00
        rows.append((f"`{name}`", *(points(found, uniform) for found, uniform in both), bits.replace("-", "−")))
    return rows


def pretrained() -> Rows:
    rasch, uniform = runs("arithmetic", RASCH), runs("arithmetic", UNIFORM)
    return [
        (str(seed), *(percent({seed: run}, key) for run, key in (
            (uniform[seed], "before"), (uniform[seed], "final"), (mine, "final"),
            (uniform[seed], "dead_groups"), (mine, "dead_groups"),
        )))
        for seed, mine in rasch.items()
    ]  # fmt: skip


def baselines() -> Rows:
    rows = []
    for race, name, suffix in (
        ("gpu/arithmetic", "`maxrl`", ""), ("gpu/arithmetic", "`rloo`", ", rloo"), ("bf16/arithmetic", "`maxrl`, own rates", ""),
    ):  # fmt: skip
        rasch, uniform = (runs(race, kind + suffix) for kind in (RASCH, UNIFORM))
        ends = (percent(uniform), percent(rasch), points(rasch, uniform))
        rows.append((name, *(percent(found, "dead_groups") for found in (uniform, rasch)), *ends))
    return rows


OVER = "difference, points"
TABLES: dict[str, tuple[tuple[str, ...], Callable[[], Rows]]] = {
    "control": (
        ("tasks", "groups that fail entirely", "uniform", "`rasch`", OVER, "rollouts to match uniform"), control,
    ),
    "pretrained": (("seed", "before", UNIFORM, "`rasch`", "dead groups, uniform", "dead groups, `rasch`"), pretrained),
    "baselines": (
        ("baseline", "dead groups, uniform", "dead groups, `rasch`", "uniform", "`rasch`", OVER), baselines,
    ),
    "rates": (("tasks", "rate of uniform", "rate of `rasch`", "uniform", "`rasch`", OVER), rates),
    "trl": (("tasks", "TRL, tuned", "kolmo", OVER, "time to match TRL", "rollouts to match TRL"), trl),
    "controller in TRL": (("tasks", "before", "TRL, defaults", "TRL, tuned", "with the controller", OVER), inside),
    "methods": (("method", "`expressions`", "`kolmogorov`", "`reasoning`", "bits a rollout"), methods),
}  # fmt: skip


if __name__ == "__main__":
    page = Path(sys.argv[1])
    page.write_text(renewed(page.read_text("utf-8"), TABLES), "utf-8")
