"""What an update of each controller costs, and what the default reaches in simulation against what it must.

    python benchmarks/simulate.py

The figures themselves, for all controllers and scenarios: kolmo curriculum simulate --scenario all
"""

from __future__ import annotations

import random
import time
from statistics import median

from kolmocli.curriculum.simulator.compare import compare
from kolmocli.curriculum.simulator.learner import Learner
from kolmocli.curriculum.simulator.loop import GROUP_SIZE, GROUPS
from kolmocli.curriculum.simulator.players import maker, players
from kolmocli.curriculum.simulator.scenarios import SCENARIOS, STEPS

UPDATES = 3000
GATES = {"settle": 10, "rmse": 0.10, "rmse_lag6": 0.12, "dead_groups": 0.12}


def update_cost(name: str) -> float:
    """Median microseconds of one `observe` with the results of a step, in the closed loop."""
    learner, rng = Learner(SCENARIOS["constant"]), random.Random(0)
    controller = maker(name)(learner)
    seconds = []
    for _ in range(UPDATES):
        buckets = controller.propose(GROUPS, rng)
        results = [learner.group(bucket, GROUP_SIZE, rng) for bucket in buckets]
        started = time.perf_counter()
        controller.observe(results)
        seconds.append(time.perf_counter() - started)
    return median(seconds) * 1e6


def main() -> None:
    print(f"one update, {GROUPS} groups of {GROUP_SIZE}, median of {UPDATES}")
    for name in players():
        print(f"  {name:11} {update_cost(name):6.1f} µs")
    figures = compare(["rasch"], ["base"], lag=0, seeds=8, steps=STEPS)["controllers"]["rasch"]
    print("rasch in base, 8 seeds")
    for name, most in GATES.items():
        print(f"  {name:11} {figures[name]:6.3g}   at most {most}")
    print(f"  coverage    {figures['coverage']:6.3g}   0.85 to 0.95")


if __name__ == "__main__":
    main()
