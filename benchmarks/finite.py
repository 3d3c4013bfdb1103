"""Finite sets of prompts under a synthetic learner: uniform draws against `Prompts`, and what a draw costs at a million.

    python benchmarks/finite.py
    python benchmarks/finite.py --seeds 0 1 2 3 4 --sharpness 1 8 32

A rollout of prompt i passes with probability sigma(ability + d_i), d_i ~ N(0, 2²). The learner's ability grows by 0.03 logits an
update times the mean of 4p(1−p) over what it was given. Information is that mean over all updates; a group is dead where all of
its 8 rollouts passed or all failed.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
from collections.abc import Callable

import numpy as np
from rich.console import Console
from rich.table import Table

from kolmocli.curriculum.finite.prompts import Prompts

GROUPS, GROUP_SIZE, UPDATES = 16, 8, 300
SPREAD, START, GROWTH = 2.0, -3.0, 0.03
MILLION = 1_000_000


def play(size: int, seed: int, sharpness: float | None) -> tuple[float, float, float, int]:
    """Mean information, share of dead groups, the ability at the end, and how many different prompts were asked.
    None: uniform draws."""
    rng = np.random.default_rng(seed)
    ease, ability = rng.normal(0.0, SPREAD, size), START
    prompts = Prompts(size, seed=seed, sharpness=sharpness or 0.0)
    draw: Callable[[], int] = (lambda: int(rng.integers(size))) if sharpness is None else prompts.draw
    information, dead, asked = 0.0, 0, set[int]()
    for _ in range(UPDATES):
        batch = [draw() for _ in range(GROUPS)]
        rates = 1.0 / (1.0 + np.exp(-(ability + ease[batch])))
        passes = rng.binomial(GROUP_SIZE, rates)
        if sharpness is not None:
            prompts.observe(batch, passes.tolist(), [GROUP_SIZE] * GROUPS)
        signal = float((4.0 * rates * (1.0 - rates)).mean())
        information += signal / UPDATES
        dead += int(((passes == 0) | (passes == GROUP_SIZE)).sum())
        ability += GROWTH * signal
        asked |= set(batch)
    return information, dead / (UPDATES * GROUPS), ability, len(asked)


def cost(draws: int = 10_000) -> tuple[float, float]:
    """Draws and results a second over a million prompts, and the most memory that it took, in MB."""
    prompts = Prompts(MILLION)
    start = time.perf_counter()
    for _ in range(draws // GROUPS):
        batch = [prompts.draw() for _ in range(GROUPS)]
        prompts.observe(batch, [GROUP_SIZE // 2] * GROUPS, [GROUP_SIZE] * GROUPS)
    rate = draws / (time.perf_counter() - start)
    tracemalloc.start()
    Prompts(MILLION)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return rate, most / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 50_000])
    parser.add_argument("--sharpness", type=float, nargs="+", default=[8.0], help="(default: %(default)s)")
    o = parser.parse_args()
    table = Table("prompts", "drawn", "information", "dead groups", "ability gained", "different prompts")
    for size in o.sizes:
        for sharpness in (None, *o.sharpness):
            name = "evenly" if sharpness is None else f"by pass rate, {sharpness:g}"
            runs = np.array([play(size, seed, sharpness) for seed in o.seeds])
            information, dead, ability, asked = runs.mean(axis=0)
            table.add_row(
                f"{size:,}", name, f"{information:.2f}", f"{dead:.0%}", f"{ability - START:.2f}", f"{asked:,.0f}"
            )
    Console().print(table)
    rate, most = cost()
    print(f"{MILLION:,} prompts: {rate:,.0f} draws and results a second, {most:,.0f} MB")


if __name__ == "__main__":
    main()
