"""Replay: what the warm start taught is taught on, so that REINFORCE does not lose what it does not ask.

A share of supervised examples among those of the reward is the usual remedy against forgetting (Ouyang et al. 2022,
arXiv 2203.02155, 3.5, mix the gradient of pretraining into that of PPO). The references are of new tasks of the levels that
the warm start taught; nothing held out is among them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from kolmocli.curriculum.base import Bucket
from kolmocli.engine.base import Group
from kolmocli.errors import UsageError
from kolmocli.learning.batches import Weighted
from kolmocli.policy.rollout import Rollout
from kolmocli.tasks.base import Task, TaskSource
from kolmocli.training.methods.base import Method

_INDICES = 2**31
"""Indices of a bucket whose tasks do not run out. A run itself counts from 0 and reaches few of them."""


class Replay(Method):
    def __init__(
        self,
        count: int,
        buckets: Sequence[Bucket],
        source: TaskSource,
        answers: Callable[[Sequence[Task]], list[Rollout]],
        rng: Callable[[int], random.Random],
    ) -> None:
        """`count` references of tasks of `buckets` a step; `answers` makes supervised answers of them.

        Raises UsageError when there are no buckets with references.
        """
        if not buckets:
            raise UsageError("warmup.replay: no task of the levels of the warm start has a reference; set it to 0")
        self._count, self._buckets, self._source = count, buckets, source
        self._answers, self._rng = answers, rng

    def lessons(self, step: int, groups: Sequence[Group]) -> list[Weighted]:
        rng = self._rng(step)
        tasks = [self._task(rng.choice(self._buckets), rng) for _ in range(self._count)]
        return [Weighted(answer, [1.0] * len(answer.tokens)) for answer in self._answers(tasks)]

    def _task(self, bucket: Bucket, rng: random.Random) -> Task:
        return self._source.task(bucket, rng.randrange(self._source.size(bucket) or _INDICES))
