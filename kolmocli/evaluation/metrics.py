"""The numbers of an evaluation, from tasks and what became of them.

Only correct programs count as compressed, and every flag is paid:

    compression rate = (coded bits of the programs that are used
                        + bits of the left-over sequences, as one stream of the best standard codec
                        + 1 flag bit per task) / raw bits of all sequences

A program is used when it is correct and shorter than the literal. Lower is better; plain bytes are 1.
Rollouts that the sandbox lost say nothing about the policy: they are counted and left out of everything else.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from kolmocli.environment import Outcome
from kolmocli.evaluation.baselines import (
    CODEC_NAMES,
    best_solid_bits,
    measure,
    raw_bits,
    solid_bits,
)
from kolmocli.evaluation.intervals import wilson
from kolmocli.language.coder import literal_bits
from kolmocli.tasks.base import Bucket, Task

Pair = tuple[Task, Outcome]


def summarise(pairs: Sequence[Pair]) -> dict[str, Any]:
    """The report of an evaluation with one outcome per task, JSON-ready; docs/metrics.md explains each key.

    A number that does not exist (a share of nothing) is None. With several samples of a task, reduce
    them by `best_of` first.
    """
    judged = [(task, outcome) for task, outcome in pairs if not is_masked(outcome)]
    outcomes = [outcome for _, outcome in judged]
    targets = [task.target for task, _ in judged]
    n, correct = len(judged), sum(o.passed for o in outcomes)
    raw = raw_bits(targets)
    sizes = measure(targets)
    return {
        "n": n,
        "masked": len(pairs) - n,
        "accuracy": _share(correct, n),
        "accuracy_ci": list(wilson(correct, n)),
        "executable": _share(sum(o.executable for o in outcomes), n),
        "precision": precision(judged, "gzip"),
        "precision_xz": precision(judged, "xz"),
        "compression_rate": compression_rate(judged),
        "average_reward": _share(math.fsum(o.reward or 0.0 for o in outcomes), n),
        "format_rate": _share(sum(o.formatted for o in outcomes), n),
        "copy_rate": _share(sum(o.copied for o in outcomes if o.passed), correct),
        "raw_bits": raw,
        "buckets": _buckets(judged),
        "baselines": {codec: {kind: _share(bits, raw) for kind, bits in size.items()} for codec, size in sizes.items()},
        "baselines_missing": [name for name in CODEC_NAMES if name not in sizes],
    }


def is_masked(outcome: Outcome) -> bool:
    """True when the sandbox failed: no reward was given and none may be counted."""
    return outcome.reward is None


def compression_rate(pairs: Sequence[Pair]) -> float | None:
    """Bits after ÷ bits before, by the rule at the top of this module; None without a raw bit.

    One outcome per task; masked ones are left out.
    """
    judged = [(task, outcome) for task, outcome in pairs if not is_masked(outcome)]
    coded, left_over = 0, []
    for task, outcome in judged:
        if outcome.passed and outcome.bits is not None and outcome.bits < literal_bits(task.target):
            coded += math.ceil(outcome.bits)
        else:
            left_over.append(task.target)
    total = coded + best_solid_bits(left_over) + len(judged)
    return _share(total, raw_bits(task.target for task, _ in judged))


def precision(pairs: Sequence[Pair], codec: str) -> float | None:
    """Coded bits of the correct programs ÷ bits of one solid `codec` stream of exactly their sequences.

    Lower is better, and below 1 the programs beat the codec: "precision" of the KoLMogorov Test (Yoran
    et al., 2025), with correct programs only and raw bytes. None when no program is correct.
    """
    correct = [(task, outcome) for task, outcome in pairs if outcome.passed and outcome.bits is not None]
    return _share(
        math.fsum(outcome.bits or 0 for _, outcome in correct),
        solid_bits(codec, [t.target for t, _ in correct]),
    )


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


def _buckets(judged: Sequence[Pair]) -> dict[str, dict[str, Any]]:
    """Per bucket, families in the order in which they first appear, levels ascending."""
    passed: dict[Bucket, list[bool]] = {}
    for task, outcome in judged:
        passed.setdefault(task.bucket, []).append(outcome.passed)
    families = list(dict.fromkeys(bucket.family for bucket in passed))
    return {
        str(bucket): {
            "accuracy": sum(hits) / len(hits),
            "n": len(hits),
            "ci": list(wilson(sum(hits), len(hits))),
        }
        for bucket, hits in sorted(passed.items(), key=lambda item: (families.index(item[0].family), item[0].level))
    }


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None
