"""Generators in processes of their own, on this machine or others, by Monarch; the trainer and its controller stay here.

Synchronously a batch is split over the generators and waited for. With `max_staleness` so many batches more are under
way while the trainer learns: a batch is begun when that many updates are left to do before its own, with weights no
older than those of that moment, so a rollout is never learnt from later than that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import torch

from kolmocli.config import Config
from kolmocli.engine.base import Collected, Group
from kolmocli.engine.monarch.hosts import check_address, find_places, require_monarch
from kolmocli.engine.monarch.share import Share, Written
from kolmocli.engine.monarch.weights import Shelf
from kolmocli.engine.trainer import Trainer
from kolmocli.errors import UsageError
from kolmocli.learning.learner import StepReport, Weighted
from kolmocli.policy.policy import Policy
from kolmocli.sandbox.base import Health
from kolmocli.tasks.base import Task


def open_monarch_engine(config: Config, policy: Policy, warn: Callable[[str], None]) -> MonarchEngine:
    """The engine with all its generators at work.

    Raises:
        EnvironmentMissing: torchmonarch, or what the generators need, is not there.
        UsageError: the hosts are named wrongly, or what a generator read says so.
        KolmoError: no generator could be started.
    """
    require_monarch()
    for address in config.engine.hosts:
        check_address(address, insecure=config.engine.insecure, place="engine.hosts")
    if len({address.partition(":")[0] for address in config.engine.hosts}) > 1:
        raise UsageError("engine.hosts: some are tcp:// and some tls://; the trainer listens in one way only")
    return MonarchEngine(config, policy, warn)


class MonarchEngine(Trainer):
    def __init__(self, config: Config, policy: Policy, warn: Callable[[str], None]) -> None:
        super().__init__(config, policy)
        from kolmocli.engine.monarch.fleet import Fleet

        self.lead = config.engine.max_staleness
        self._updates = 0
        self._shelf = Shelf()
        try:
            self._fleet = Fleet(config, find_places(config), self._shelf.file, warn)
        except BaseException:
            self._shelf.clear()
            raise

    def begin(self, tasks: Sequence[Task], *, samples: int, seed: int | None) -> Callable[[], Collected]:
        if self._fleet.version != self._updates:
            self._shelf.put(self.policy)
            self._fleet.version = self._updates
        shares = self._shares(tasks, samples, seed)
        results = [self._fleet.submit(share) for share in shares]
        return lambda: self._gather(shares, results)

    def collect(self, tasks: Sequence[Task], *, samples: int, seed: int | None) -> Collected:
        return self.begin(tasks, samples=samples, seed=seed)()

    def _shares(self, tasks: Sequence[Task], samples: int, seed: int | None) -> list[Share]:
        """As even as can be, and each where it would be if one generator wrote them all: what is drawn is the same."""
        count = min(self._config.engine.generators, len(tasks))
        bounds = [len(tasks) * i // count for i in range(count + 1)]
        return [Share(tasks[a:b], samples, seed, a) for a, b in pairwise(bounds)]

    def _gather(self, shares: Sequence[Share], results: Sequence[Future[Written]]) -> Collected:
        """The batch, its times those of the slowest share."""
        parts = [result.result() for result in results]
        groups = [
            Group(task, rollouts, outcomes, age=self._updates - part.version)
            for share, part in zip(shares, parts, strict=True)
            for task, (rollouts, outcomes) in zip(share.tasks, part.groups, strict=True)
        ]
        return Collected(
            groups,
            sum(part.tokens for part in parts),
            max((part.rollout_seconds for part in parts), default=0.0),
            max((part.execute_seconds for part in parts), default=0.0),
        )

    def learn(
        self, batch: Sequence[Weighted], denominator: float, learning_rate: float, *, noise: bool = False
    ) -> StepReport:
        self._updates += 1
        with self._cores():
            return super().learn(batch, denominator, learning_rate, noise=noise)

    @contextmanager
    def _cores(self) -> Iterator[None]:
        """The trainer's part of them, where generators of this machine work beside it: with all of them it would hold
        up those for which it waits."""
        threads = torch.get_num_threads()
        if self.lead and not self._config.engine.hosts:
            torch.set_num_threads(max(1, threads // (1 + self._config.engine.generators)))
        try:
            yield
        finally:
            torch.set_num_threads(threads)

    def health(self) -> Health:
        return self._fleet.health()

    def news(self) -> list[str]:
        return self._fleet.told()

    def generators(self) -> dict[str, dict[str, Any]]:
        return self._fleet.report()

    def close(self) -> None:
        self._fleet.close()
        self._shelf.clear()
