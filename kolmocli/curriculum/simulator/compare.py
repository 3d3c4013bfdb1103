"""All controllers side by side in the same scenarios: the figures of `kolmo curriculum simulate`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

from kolmocli.curriculum.simulator import measures
from kolmocli.curriculum.simulator.loop import GROUP_SIZE, GROUPS, Trace, simulate
from kolmocli.curriculum.simulator.players import ORACLE, REFILL, Player, Settings
from kolmocli.curriculum.simulator.scenarios import LEVELS, SCENARIOS, Scenario

LATE = 6
"""Steps of delay of `rmse_lag6`, as an asynchronous engine has them."""


@dataclass(frozen=True, slots=True)
class Figures:
    """One controller in one scenario; None where there is nothing to measure or it never came about.

    settle: steps until what is sampled passes within 0.1 of the target on average, for ten steps on end.
    rmse: root mean square of pass rate − target over what is sampled, after 60 steps.
    rmse_lag6: the same with results that come six steps late.
    dead_groups: share of groups that all passed or all failed.
    coverage: share of steps at which the controller's 90 % interval held the true pass rate.
    recovery: as settle, from the sudden change on; of the scenario `shock` where this one has none.
    swing: most negative autocorrelation of the level; below −0.5 it runs in circles.
    swing_lag6: the same with results that come six steps late.
    growth: what the learner gained, as a share of what the oracle taught it, where it learns.
    """

    settle: int | None
    rmse: float
    rmse_lag6: float
    dead_groups: float
    coverage: float | None
    recovery: int | None
    swing: float
    swing_lag6: float
    growth: float | None


def compare(
    rows: Sequence[str] | Mapping[str, Player],
    scenarios: Sequence[str],
    lag: int,
    seeds: int,
    steps: int,
    *,
    target: float = 0.5,
    settings: Settings | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """The figures by scenario and controller, and what they were measured with. Deterministic.

    `rows` are names of kinds, which take `target`, the pass rate to hold, and `settings`, by kind and by name; or players with
    their own of each. The sampled pass rate is compared with the target of its player.
    """
    players = (
        {name: Player(name, target, (settings or {}).get(name, {})) for name in rows}
        if not isinstance(rows, Mapping)
        else rows
    )
    names = list(players)
    oracle = Player(ORACLE, target)

    @cache
    def runs(name: str, scenario: str, lag: int) -> list[Trace]:
        progress(f"{name} in {scenario}, {lag} steps late")
        player, where = players.get(name, oracle), SCENARIOS[scenario]
        make = player.maker(steps)
        return [
            simulate(make, where, lag=lag, seed=seed, steps=steps, target=player.target, refills=player.kind == REFILL)
            for seed in range(seeds)
        ]

    def figures(name: str, scenario: Scenario) -> dict[str, Any]:
        on_time, late = runs(name, scenario.name, lag), runs(name, scenario.name, LATE)
        shock = scenario if scenario.change is not None else SCENARIOS["shock"]
        gain = _gain(on_time, scenario)
        return asdict(
            Figures(
                settle=measures.settle(on_time),
                rmse=measures.rmse(on_time),
                rmse_lag6=measures.rmse(late),
                dead_groups=measures.dead_groups(on_time),
                coverage=measures.coverage(on_time),
                recovery=measures.settle(runs(name, shock.name, lag), shock.change or 0),
                swing=measures.swing(on_time),
                swing_lag6=measures.swing(late),
                growth=None if gain is None else gain / (_gain(runs(ORACLE, scenario.name, 0), scenario) or 1.0),
            )
        )

    tables = {s: {name: figures(name, SCENARIOS[s]) for name in names} for s in scenarios}
    return {
        "target": target, "levels": LEVELS, "group_size": GROUP_SIZE, "groups": GROUPS,
        "seeds": seeds, "steps": steps, "lag": lag, "settings": dict(settings or {}),
        "scenario": scenarios[0], "controllers": tables[scenarios[0]], "scenarios": tables,
    }  # fmt: skip


def gained(trace: Trace, scenario: Scenario) -> float:
    """Logits that a learner gained in a run, summed over its families."""
    started = [scenario.start + above for above in scenario.families.values()]
    return sum(trace.abilities.values()) - sum(started)


def _gain(traces: Sequence[Trace], scenario: Scenario) -> float | None:
    """Logits that the learner gained, summed over the runs; None where its ability follows the clock."""
    return None if scenario.ability is not None else sum(gained(t, scenario) for t in traces)
