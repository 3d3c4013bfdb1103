"""Self-play: programs that the policy makes up are run, and what they make becomes targets for it.

In every step the policy is shown an empty sequence and writes programs of its own, the proposals. What one of them
makes is a target that has a short program and is about as hard as the policy's own work; the same policy then has to
find a program for it. The proposer is rewarded with min(p, 1−p), p the pass rate that was measured: most for what is
solved half the time, nothing for what is trivial or hopeless (R-Zero, Huang et al. 2025, arXiv 2508.05004; Absolute
Zero, Zhao et al. 2025, arXiv 2505.03335, pays 1−p). A target that passes near the controller's target and whose coded
length is new is kept, and played again until it passes too often or too seldom.

Nothing held out is ever proposed: `tasks.admits` decides, as for hindsight. Literals are not admitted either, they
would be the cheapest way to be hard. Both earn the proposer nothing.

The targets are a family of one bucket, `self-play`, beside those of the controller, which does not know it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kolmocli.config import Config
from kolmocli.curriculum.base import Bucket, FamilyMetrics
from kolmocli.engine.base import Collected, Engine, Group
from kolmocli.errors import UsageError
from kolmocli.language.program import Program, canonical
from kolmocli.learning.learner import Weighted
from kolmocli.learning.returns import advantages, is_dead, token_weights
from kolmocli.policy.rollout import Rollout
from kolmocli.tasks.base import Task, TaskSource
from kolmocli.tasks.outcome import Outcome
from kolmocli.tasks.sequences.judge import is_copy
from kolmocli.tasks.sequences.task import SequenceTask, sequence_task
from kolmocli.training.hindsight import LONGEST
from kolmocli.training.pool import Pool, Target
from kolmocli.training.state import RunState

BUCKET = Bucket("self-play", 1)


@dataclass(frozen=True, slots=True)
class Play:
    """The self-play of one step: the tasks, and the proposals with what each may have become."""

    tasks: list[Task] = field(default_factory=list)
    proposals: Sequence[tuple[Rollout, Outcome]] = ()
    targets: Sequence[Target | None] = ()
    """Of each proposal that was admitted: what it makes."""
    cost: Collected | None = None

    def with_cost(self, collected: Collected) -> Collected:
        """What was collected, with the tokens and the time of the proposals."""
        if self.cost is None:
            return collected
        return replace(
            collected,
            tokens=collected.tokens + self.cost.tokens,
            rollout_seconds=collected.rollout_seconds + self.cost.rollout_seconds,
            execute_seconds=collected.execute_seconds + self.cost.execute_seconds,
        )


class SelfPlay:
    """Proposes the tasks of a step, and settles afterwards what they were worth. The pool is in `state`."""

    def __init__(self, config: Config, tasks: TaskSource, state: RunState) -> None:
        """Raises UsageError when another family has the name of this one."""
        self.config, self._tasks, self._state = config.self_play, tasks, state
        self._target = config.controller.target
        self.groups = 0
        """Groups of a step that are for self-play, as far as there are targets."""
        if self.config.share:
            if any(bucket.family == BUCKET.family for bucket in tasks.buckets()):
                raise UsageError(f"families: self_play.share is on and makes a family {BUCKET.family}; rename yours")
            self.groups = max(1, round(self.config.share * config.training.batch_size / config.training.group_size))
        self.pool = Pool(state.pool, self.config.slots)
        self.metrics: dict[str, Any] | None = None
        """Of the latest step; None without self-play."""

    def propose(self, engine: Engine, seed: int) -> Play:
        """The tasks of a step: half of them kept ones and half new, as far as there are so many of either."""
        if not self.groups:
            return Play()
        cost = engine.collect([sequence_task(BUCKET, self._state.step, ())], samples=self.config.proposals, seed=seed)
        proposals = list(zip(cost.groups[0].rollouts, cost.groups[0].outcomes, strict=True))
        found = [self._admitted(outcome) for _, outcome in proposals]
        new = Pool.distinct([pair for pair in found if pair is not None], self.config.slots)
        new = new[: self.groups - min(self.groups // 2, len(self.pool))]
        again = self.pool.first(self.groups - len(new))
        targets = [pair[0] if pair is not None else None for pair in found]
        return Play([self._task(*pair) for pair in (*again, *new)], proposals, targets, cost)

    def settle(self, play: Play, groups: Sequence[Group]) -> list[Weighted]:
        """Keep and drop targets by what passed, and return what that teaches the proposer."""
        if not self.groups:
            return []
        rates: dict[Target, float] = {}
        for group in groups:
            result = group.result()
            task = group.task
            if isinstance(task, SequenceTask) and task.bucket == BUCKET and task.program and result.rollouts:
                rate = rates[task.target] = result.passes / result.rollouts
                near = abs(rate - self._target) <= self.config.band
                self.pool.settle(task.target, task.program, near=near)
        rewards = [
            proposer_reward(outcome, target, rates)
            for (_, outcome), target in zip(play.proposals, play.targets, strict=True)
        ]
        paid = [r for r in rewards if r is not None]
        self.metrics = {
            "proposals": sum(outcome.reward is not None for _, outcome in play.proposals),
            "admitted": sum(target is not None for target in play.targets),
            "reward": sum(paid) / len(paid) if paid else None,
            "pool": len(self.pool),
        }
        return self._weighted(play, rewards)

    def families(self, tasks: Sequence[Task]) -> dict[str, FamilyMetrics]:
        """This family, for the table of families: with the share of the groups that it had."""
        mine = sum(task.bucket == BUCKET for task in tasks)
        return {BUCKET.family: FamilyMetrics(1.0, 1, mine / len(tasks), BUCKET.family)} if self.groups else {}

    def _admitted(self, outcome: Outcome) -> tuple[Target, Program] | None:
        """What a proposal makes and the program for it, where that may become a target."""
        value = outcome.value
        if outcome.program is None or value is None or not 2 <= len(value) <= LONGEST:
            return None
        program = canonical(outcome.program)
        if is_copy(program) or not self.pool.is_new(value, program) or not self._tasks.admits(program, value):
            return None
        return value, program

    def _task(self, target: Target, program: Program) -> Task:
        index = self._state.drawn.get(str(BUCKET), 0)
        self._state.drawn[str(BUCKET)] = index + 1
        return sequence_task(BUCKET, index, target, program)

    def _weighted(self, play: Play, rewards: Sequence[float | None]) -> list[Weighted]:
        values = [self.config.weight * a for a in advantages(rewards, "rloo")]
        if is_dead(values):
            return []
        return [
            Weighted(rollout, token_weights([value] * outcome.end, rollout.lines))
            for (rollout, outcome), value, reward in zip(play.proposals, values, rewards, strict=True)
            if reward is not None
        ]


def proposer_reward(outcome: Outcome, target: Target | None, rates: dict[Target, float]) -> float | None:
    """min(p, 1−p); 0 for what was not admitted; None where p was not measured."""
    if outcome.reward is None:
        return None
    if target is None:
        return 0.0
    return min(rates[target], 1.0 - rates[target]) if target in rates else None
