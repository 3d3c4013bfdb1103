"""Generators in processes of their own, on this machine or others, by Monarch; the trainer and its controller stay here.

Synchronously a batch is split over the generators and waited for. With `max_staleness` that many more batches are under
way while the trainer learns: a batch is begun when that many updates are left to do before its own, with weights no
older than those of that moment, so a rollout is never learned from later than that.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from itertools import pairwise

import torch

from kolmocli.config.machine import EngineSettings
from kolmocli.engine.base import Choose, Experience, Group, Request
from kolmocli.engine.monarch.hosts import check_address, find_hosts, require_monarch
from kolmocli.engine.monarch.messages import GeneratorSettings, Shard, ShardResult
from kolmocli.engine.monarch.weights import WeightFile
from kolmocli.engine.report import Cost, GeneratorReport
from kolmocli.errors import UsageError
from kolmocli.pace import Pace
from kolmocli.policy.policy import Policy
from kolmocli.sandbox.base import Health

_LOOK = 0.1
"""Seconds of waiting between two looks at whether to wait on."""


def open_monarch_engine(
    policy: Policy,
    asked: EngineSettings,
    settings: GeneratorSettings,
    warn: Callable[[str], None],
    pace: Pace | None = None,
) -> MonarchEngine:
    """The engine with all its generators at work.

    Raises:
        EnvironmentMissing: torchmonarch, or what the generators need, is not there.
        UsageError: the hosts are named wrongly, or what a generator read says so.
        KolmoError: no generator could be started.
    """
    require_monarch()
    for address in asked.hosts:
        check_address(address, insecure=asked.insecure, place="engine.hosts")
    if len({address.partition(":")[0] for address in asked.hosts}) > 1:
        raise UsageError("engine.hosts: some are tcp:// and some tls://; the trainer listens in one way only")
    return MonarchEngine(policy, asked, settings, warn, pace)


class MonarchEngine:
    """`policy` is the one that learns, in this process; `asked` says how many generators there are, and where."""

    def __init__(
        self, policy: Policy, asked: EngineSettings, settings: GeneratorSettings, warn: Callable[[str], None],
        pace: Pace | None = None,
    ) -> None:  # fmt: skip
        from kolmocli.engine.monarch.fleet import Fleet

        self.policy, self.pace, self.temperature = policy, pace or Pace(), settings.training.temperature
        self._generators, self._lead = asked.generators, asked.max_staleness
        self._under_way: deque[Callable[[], Experience]] = deque()
        self._weights = WeightFile()
        self._threads = torch.get_num_threads()
        try:
            self._fleet = Fleet(asked, settings, find_hosts(asked.hosts), self._weights.file, warn)
        except BaseException:
            self._weights.clear()
            raise
        if self._lead and not asked.hosts:
            # Generators of this machine work while the trainer learns: with all its cores it would hold up those for
            # which it waits.
            torch.set_num_threads(max(1, self._threads // (1 + asked.generators)))

    def rollout(self, choose: Choose, step: int) -> Experience:
        while len(self._under_way) <= self._lead:
            request = choose(step + len(self._under_way))
            if request is None:
                break
            self._under_way.append(self._begin(request))
        return self._under_way.popleft()()

    def sample(self, request: Request) -> Experience:
        return self._begin(request)()

    def _begin(self, request: Request) -> Callable[[], Experience]:
        """Have it sampled, and return what waits for it."""
        if self._fleet.version != self.policy.version:
            self._weights.put(self.policy)
            self._fleet.version = self.policy.version
        shards = self._shards(request)
        results = [self._fleet.submit(shard) for shard in shards]
        return lambda: self._gather(shards, results)

    def _shards(self, request: Request) -> list[Shard]:
        """As even as can be, and each where it would be if one generator wrote them all: what is drawn is the same."""
        tasks = request.tasks
        count = min(self._generators, len(tasks))
        bounds = [len(tasks) * i // count for i in range(count + 1)]
        return [Shard(tasks[a:b], request.samples, request.seed, a, self.temperature) for a, b in pairwise(bounds)]

    def _gather(self, shards: Sequence[Shard], results: Sequence[Future[ShardResult]]) -> Experience:
        """The batch, its times those of the slowest shard."""
        self._wait(shards, results)
        parts = [result.result() for result in results]
        groups = [
            Group(task, rollouts, outcomes, age=self.policy.version - part.version)
            for shard, part in zip(shards, parts, strict=True)
            for task, (rollouts, outcomes) in zip(shard.tasks, part.groups, strict=True)
        ]
        cost = Cost(
            sum(part.cost.tokens for part in parts),
            max((part.cost.rollout_seconds for part in parts), default=0.0),
            max((part.cost.execute_seconds for part in parts), default=0.0),
        )
        return Experience(groups, cost)

    def _wait(self, shards: Sequence[Shard], results: Sequence[Future[ShardResult]]) -> None:
        """Until all shards are done. Only a shard that is done says how far it is."""
        sizes = {result: len(shard.tasks) * shard.samples for shard, result in zip(shards, results, strict=True)}
        waiting = set(results)
        with self.pace.counting(sum(sizes.values()), "rollouts") as written:
            while waiting:
                done, waiting = wait(waiting, timeout=_LOOK)
                written(sum(sizes[result] for result in done))

    def health(self) -> Health:
        return self._fleet.health()

    def events(self) -> list[str]:
        return self._fleet.events()

    def generators(self) -> dict[str, GeneratorReport]:
        return self._fleet.report()

    def close(self) -> None:
        self._fleet.close()
        self._weights.clear()
        torch.set_num_threads(self._threads)
