"""Several samples of one task: the one that counts, and the chance that one of k passes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Any

from kolmocli.curriculum.base import Bucket
from kolmocli.evaluation.intervals import Group, mean_interval, pass_rate_interval, wilson
from kolmocli.evaluation.metrics import is_masked
from kolmocli.tasks.base import Task
from kolmocli.tasks.outcome import Outcome

Attempts = Sequence[tuple[Task, list[Outcome]]]
"""Tasks with the outcomes of all their samples."""


def best_of(outcomes: Sequence[Outcome]) -> Outcome:
    """The sample of one task that a compressor would keep: the shortest correct program.

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

    Tasks of which the sandbox lost a sample are left out.
    """
    whole = [group for group in judged_groups(outcomes for _, outcomes in attempts) if group[1] == samples]
    return _up_to(samples, whole) if samples > 1 and whole else {}


def pass_shares(attempts: Attempts) -> dict[str, Any]:
    """pass@1 as `accuracy`, and `pass_at_k`, over all samples that were judged, with the number of tasks that have one.

    k goes up to the fewest samples that any task has: its powers of two, 10 and 100, as they are usual, and that number
    itself.
    """
    groups = judged_groups(outcomes for _, outcomes in attempts)
    if not groups:
        return {"n": 0, "accuracy": None, "accuracy_ci": list(wilson(0, 0)), "pass_at_k": {}, "pass_at_k_ci": {}}
    least = min(n for _, n in groups)
    found = _up_to(least, groups, *(k for k in (10, 100) if k <= least))
    accuracy, interval = found["pass_at_k"]["1"], found["pass_at_k_ci"]["1"]
    return {"n": len(groups), "accuracy": accuracy, "accuracy_ci": interval, **found}


def judged_groups(samples: Iterable[Sequence[Outcome]]) -> list[Group]:
    """(passes, samples that were judged) of every task that has one."""
    judged = [[outcome.passed for outcome in outcomes if not is_masked(outcome)] for outcomes in samples]
    return [(sum(passed), len(passed)) for passed in judged if passed]


def _up_to(most: int, groups: Sequence[Group], *also: int) -> dict[str, dict[str, Any]]:
    """`pass_at_k` of tasks at the powers of two up to `most`, at `most` and `also`, and its intervals.

    The interval is Wilson's for a share of tasks: what a task adds lies between 0 and 1, so its variance is at most that
    of a pass or a fail, and the interval too wide, not too narrow.
    """
    ks = sorted({most, *also, *(2**i for i in range(most.bit_length()))})
    means = {k: math.fsum(pass_at_k(n, passed, k) for passed, n in groups) / len(groups) for k in ks}
    return {
        "pass_at_k": {str(k): mean for k, mean in means.items()},
        "pass_at_k_ci": {str(k): list(wilson(min(mean, 1.0) * len(groups), len(groups))) for k, mean in means.items()},
    }


def pass_shares_by(attempts: Attempts) -> dict[str, Any]:
    """pass@1 and pass@k of all samples, in total, per bucket and per family."""
    buckets: dict[Bucket, list[tuple[Task, list[Outcome]]]] = {}
    for task, outcomes in sorted(attempts, key=lambda attempt: attempt[0].bucket):
        buckets.setdefault(task.bucket, []).append((task, outcomes))
    families: dict[str, list[tuple[Task, list[Outcome]]]] = {}
    for bucket, part in buckets.items():
        families.setdefault(bucket.family, []).extend(part)
    shares = {str(bucket): pass_shares(part) for bucket, part in buckets.items()}
    whole = pass_shares(attempts)
    del whole["n"]  # the tasks that were judged are counted already
    return {
        **whole,
        "buckets": {
            name: {"accuracy": found["accuracy"], "n": found["n"], "ci": found["accuracy_ci"]}
            for name, found in shares.items()
            if found["n"]
        },
        "families": {name: pass_shares(part) for name, part in families.items()},
    }


def every_sample(attempts: Attempts) -> tuple[dict[str, Any], dict[str, Any]]:
    """(shares of all samples that were judged, their intervals), of which the report otherwise has those of the best ones.
    Samples of one task are alike, so the intervals are for as many as are worth independent ones."""
    judged = [(task, [o for o in outcomes if not is_masked(o)]) for task, outcomes in attempts]
    groups = {
        "executable": [[o.executable for o in group] for task, group in judged if task.language != "text"],
        "format_rate": [[o.formatted for o in group] for _, group in judged],
    }
    shares, intervals = dict[str, Any](), dict[str, Any]()
    for name, found in groups.items():
        counts = [(sum(map(bool, group)), len(group)) for group in found if group]
        if counts:
            shares[name] = sum(k for k, _ in counts) / sum(n for _, n in counts)
            intervals[name] = list(pass_rate_interval(counts))
    lenient = [[o.lenient for o in group if o.lenient is not None] for _, group in judged]
    means = [pass_at_k(len(group), sum(group), 1) for group in lenient if group]
    if means:  # a mean over tasks, as `accuracy` is, rounded like it
        shares["accuracy_lenient"] = math.fsum(means) / len(means)
        intervals["accuracy_lenient"] = list(wilson(min(math.fsum(means), len(means)), len(means)))
    rewards = [fmean(o.reward or 0.0 for o in group) for _, group in judged if group]
    if rewards:
        shares["average_reward"] = fmean(rewards)
        intervals["average_reward"] = list(mean_interval(rewards)) if len(rewards) > 1 else None
    return shares, intervals
