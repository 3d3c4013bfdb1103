"""Best of k: more rollouts are sampled than are learned from, and few of them stand for many.

Where p is low a group of G has no pass at all with probability (1−p)^G, and then teaches nothing; of k·G rollouts
some pass more often. Learning costs more than sampling, so G of the k·G are kept: passes and failures in equal
numbers, as far as there are enough, which for two rewards is the choice of the largest variance (PODS, Xu et al.
2025, arXiv 2504.13818). That choice by itself is biased: it shows the policy a pass rate of one half whatever the
task. Here the advantages are those within all k·G, the rollouts of a kind are drawn by chance, and each is weighted by
how many of its kind it stands for (Horvitz and Thompson 1952), so the expected gradient is that of all k·G, over k.
"""

from __future__ import annotations

import random
from collections.abc import Sequence


def choose(passed: Sequence[bool | None], count: int, rng: random.Random) -> list[tuple[int, float]]:
    """Rollouts of a group to learn from, with the weight of each; None: lost by the sandbox, never chosen.

    At most `count` of them. The weights add to `count`, or to the number that were judged where that is smaller, and
    a rollout has the same expected weight as any other.
    """
    kinds = [[i for i, p in enumerate(passed) if p is kind] for kind in (True, False)]
    judged = sum(map(len, kinds))
    if judged <= count:
        return [(i, 1.0) for i in sorted(kinds[0] + kinds[1])]
    passes = min(len(kinds[0]), max(count // 2, count - len(kinds[1])))
    chosen = []
    for kind, share in zip(kinds, (passes, count - passes), strict=True):
        if share:
            weight = len(kind) / share * count / judged
            chosen += [(i, weight) for i in rng.sample(kind, share)]
    return sorted(chosen)
