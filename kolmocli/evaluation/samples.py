"""Several samples of one task: the one that counts, and the chance that one of k passes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from kolmocli.evaluation.intervals import wilson
from kolmocli.evaluation.metrics import is_masked
from kolmocli.tasks.base import Task
from kolmocli.tasks.outcome import Outcome

Attempts = Sequence[tuple[Task, list[Outcome]]]
"""Tasks with the outcomes of all their samples."""


def best_of(outcomes: Sequence[Outcome]) -> Outcome:
    """What a compressor would keep of several samples of one task: the shortest correct program.

    Without a correct one: the first that ran, else the first of the language, else the first that was
    not lost by the sandbox. Ties go to the earlier sample. Raises ValueError for no sample.
    """
    if not outcomes:
        raise ValueError("no sample to choose from")

    def rank(outcome: Outcome) -> tuple[bool, bool, float, bool, bool]:
        bits = outcome.bits if outcome.passed and outcome.bits is not None else math.inf
        return (is_masked(outcome), not outcome.passed, bits, not outcome.executable, not outcome.formatted)

    return min(outcomes, key=rank)


def pass_at_k(n: int, correct: int, k: int) -> float:
    """The chance that at least one of k samples passes, without bias from n ≥ k samples of one task.

    1 − C(n−c, k) / C(n, k); source: Chen et al. (2021), equation 1. Raises ValueError unless
    1 ≤ k ≤ n and 0 ≤ correct ≤ n.
    """
    if not 1 <= k <= n or not 0 <= correct <= n:
        raise ValueError(f"pass@{k} cannot be told from {correct} of {n} samples")
    return 1.0 - math.comb(n - correct, k) / math.comb(n, k)


def pass_rates(attempts: Attempts, samples: int) -> dict[str, Any]:
    """`pass_at_k` at the powers of two up to `samples`, and its intervals; nothing for one sample.

    Tasks of which the sandbox lost a sample are left out. The interval is Wilson's for a share of tasks: what a task
    adds lies between 0 and 1, so its variance is at most that of a pass or a fail, and the interval too wide, not
    too narrow.
    """
    whole = [outcomes for _, outcomes in attempts if sum(not is_masked(o) for o in outcomes) == samples]
    if samples == 1 or not whole:
        return {}
    ks = sorted({samples} | {2**i for i in range(samples.bit_length())})
    means = {k: sum(pass_at_k(samples, sum(o.passed for o in group), k) for group in whole) / len(whole) for k in ks}
    return {
        "pass_at_k": {str(k): mean for k, mean in means.items()},
        "pass_at_k_ci": {str(k): list(wilson(min(mean, 1.0) * len(whole), len(whole))) for k, mean in means.items()},
    }
