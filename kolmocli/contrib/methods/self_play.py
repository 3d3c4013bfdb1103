"""Self-play: programs that the policy makes up are run, and what they make becomes targets for it.

In every step the policy is shown an empty sequence and writes programs of its own, the proposals. The value of one
of them is a target that has a short program and is about as hard as the policy's own work; the same policy then has to
find a program for it. The proposer is rewarded with min(p, 1−p), p the pass rate that was measured: most for what is
solved half the time, nothing for what is trivial or hopeless (R-Zero, Huang et al. 2025, arXiv 2508.05004; Absolute
Zero, Zhao et al. 2025, arXiv 2505.03335, pays 1−p). A target that passes near the controller's target and whose coded
length is new is kept, and played again until it passes too often or too seldom.

Nothing held out is ever proposed: `tasks.admits` decides, as for hindsight. Literals are not admitted either, they
would be the cheapest way to be hard. Both earn the proposer nothing.

The targets are a family of one bucket, `self-play`, next to those of the controller, which does not know it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kolmocli.contrib.settings import SelfPlaySettings
from kolmocli.curriculum.base import Bucket
from kolmocli.engine.base import Experience, Group, Request
from kolmocli.engine.report import Cost
from kolmocli.errors import UsageError
from kolmocli.language.coder import coded_bits
from kolmocli.language.program import Program, canonical, parse
from kolmocli.learning.batches import Weighted
from kolmocli.learning.returns import advantages, is_dead, token_weights
from kolmocli.monitor.records import BucketRecord, ReinforceRecord, SelfPlayRecord
from kolmocli.tasks.base import Task, TaskSource
from kolmocli.tasks.outcome import Outcome
from kolmocli.tasks.sequences.judge import is_copy
from kolmocli.tasks.sequences.task import SequenceTask, sequence_task
from kolmocli.training.methods.base import Draw, Method, MethodContext, register_method
from kolmocli.training.methods.hindsight import LONGEST

BUCKET = Bucket("self-play", 1)
Target = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Proposals:
    """Proposals of the policy for one step, and the target of each."""

    group: Group
    targets: Sequence[Target | None]
    """Target of each admitted proposal."""
    cost: Cost


class SelfPlay(Method):
    """Its share of the groups of every step are for targets that the policy made up, as far as there are any."""

    def __init__(
        self,
        settings: SelfPlaySettings,
        source: TaskSource,
        *,
        groups: int,
        target: float,
        sample: Callable[[Request], Experience],
        seed: Callable[[int], int],
    ) -> None:
        """`groups` of a step are for self-play, `target` is the pass rate to hold, `seed(step)` that of the proposals.

        Raises UsageError when another family has the name of this one.
        """
        if any(bucket.family == BUCKET.family for bucket in source.buckets()):
            raise UsageError(f"families: methods.self_play makes a family {BUCKET.family}; rename yours")
        self._settings, self._source, self._target = settings, source, target
        self.groups, self._sample, self._seed = groups, sample, seed
        self.pool = TargetPool([], settings.slots)
        self._drawn = 0
        self.proposals: dict[int, Proposals] = {}
        """By step, for those that have begun and are not learned from yet."""
        self.record: SelfPlayRecord | None = None
        self._cost = Cost()

    def tasks(self, step: int, count: int, draw: Draw) -> list[Task]:
        own = self.propose(step)
        return [*draw(count - len(own)), *own]

    def propose(self, step: int) -> list[Task]:
        """The tasks of a step: half of them kept and half new, as far as there are enough of either."""
        asked = sequence_task(BUCKET, step - 1, ())
        found = self._sample(Request([asked], self._settings.proposals, self._seed(step)))
        (group,) = found.groups
        admitted = [self._admitted(outcome) for outcome in group.outcomes]
        targets = [pair[0] if pair is not None else None for pair in admitted]
        self.proposals[step] = Proposals(group, targets, found.cost)
        new = TargetPool.distinct([pair for pair in admitted if pair is not None], self._settings.slots)
        new = new[: self.groups - min(self.groups // 2, len(self.pool))]
        again = self.pool.first(self.groups - len(new))
        return [self._task(*pair) for pair in (*again, *new)]

    def cost(self) -> Cost:
        return self._cost

    def lessons(self, step: int, groups: Sequence[Group]) -> list[Weighted]:
        """Keep and drop targets by what passed, and return what that teaches the proposer."""
        rates: dict[Target, float] = {}
        for group in groups:
            result, task = group.result(), group.task
            if isinstance(task, SequenceTask) and task.bucket == BUCKET and task.program and result.rollouts:
                rate = rates[task.target] = result.passes / result.rollouts
                self.pool.update(task.target, task.program, near=abs(rate - self._target) <= self._settings.band)
        made = self.proposals.pop(step)
        outcomes, self._cost = made.group.outcomes, made.cost
        rewards = [proposer_reward(o, target, rates) for o, target in zip(outcomes, made.targets, strict=True)]
        paid = [r for r in rewards if r is not None]
        self.record = SelfPlayRecord(
            proposals=sum(outcome.reward is not None for outcome in outcomes),
            admitted=sum(target is not None for target in made.targets),
            reward=sum(paid) / len(paid) if paid else None,
            pool=len(self.pool),
        )
        values = [self._settings.weight * a for a in advantages(rewards, "rloo")]
        if is_dead(values):
            return []
        return [
            Weighted(rollout, token_weights([value] * outcome.end, rollout.lines))
            for rollout, outcome, value, reward in zip(made.group.rollouts, outcomes, values, rewards, strict=True)
            if reward is not None
        ]

    def metrics(self, record: ReinforceRecord, groups: Sequence[Group]) -> ReinforceRecord:
        """This family with the share of the groups that it had; the others share what is left."""
        mine = sum(group.task.bucket == BUCKET for group in groups) / len(groups)
        buckets = dict(record.buckets or {})
        own = buckets.pop(BUCKET.family, BucketRecord(n=0))
        buckets = {name: replace(b, weight=(1.0 - mine) * (b.weight or 0.0)) for name, b in buckets.items()}
        buckets[BUCKET.family] = replace(own, level=1.0, top=1, weight=mine, state=BUCKET.family)
        return replace(record, self_play=self.record, buckets=buckets)

    def state_dict(self) -> dict[str, Any]:
        return {"pool": [dict(entry) for entry in self.pool.entries], "drawn": self._drawn}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.pool.entries[:] = [dict(entry) for entry in state["pool"]]
        self._drawn = state["drawn"]

    def _admitted(self, outcome: Outcome) -> tuple[Target, Program] | None:
        """Target and program of a proposal; None where it is refused."""
        value = outcome.value
        if outcome.program is None or value is None or not 2 <= len(value) <= LONGEST:
            return None
        program = canonical(outcome.program)
        if is_copy(program) or not self.pool.is_new(value, program) or not self._source.admits(program, value):
            return None
        return value, program

    def _task(self, target: Target, program: Program) -> Task:
        self._drawn += 1
        return sequence_task(BUCKET, self._drawn - 1, target, program)


@register_method("self_play")
def self_play(context: MethodContext, **settings: Any) -> SelfPlay:
    given, training = SelfPlaySettings(**settings), context.config.training
    groups = max(1, round(given.share * training.batch_size / training.group_size))
    return SelfPlay(
        given, context.source, groups=groups, target=context.config.controller.target, sample=context.engine.sample,
        seed=lambda step: context.seed("self-play", step),
    )  # fmt: skip


def proposer_reward(outcome: Outcome, target: Target | None, rates: dict[Target, float]) -> float | None:
    """min(p, 1−p); 0 for what was not admitted; None where p was not measured."""
    if outcome.reward is None:
        return None
    if target is None:
        return 0.0
    return min(rates[target], 1.0 - rates[target]) if target in rates else None


class TargetPool:
    """The targets that are kept, few of each coded length, so that they stay different from each other.

    The least recently played comes first. `entries` is plain JSON.
    """

    def __init__(self, entries: list[dict[str, Any]], slots: int) -> None:
        self.entries = entries
        self.slots = slots

    def __len__(self) -> int:
        return len(self.entries)

    def is_new(self, target: Target, program: Program) -> bool:
        """Whether neither the target nor, but for the slots of each, the coded length is there already."""
        bits = coded_bits(program)
        same = sum(entry["bits"] == bits for entry in self.entries)
        return same < self.slots and all(tuple(entry["target"]) != target for entry in self.entries)

    def first(self, count: int) -> list[tuple[Target, Program]]:
        return [(tuple(entry["target"]), parse(entry["program"])) for entry in self.entries[:count]]

    def update(self, target: Target, program: Program, *, near: bool) -> None:
        """Put a target that was played at the end, or drop it: when it is not near the target pass rate, or
        its length is not new."""
        self.entries[:] = [entry for entry in self.entries if tuple(entry["target"]) != target]
        if near and self.is_new(target, program):
            self.entries.append({"target": list(target), "program": str(program), "bits": coded_bits(program)})

    @staticmethod
    def distinct(found: Sequence[tuple[Target, Program]], slots: int) -> list[tuple[Target, Program]]:
        """The first of each target, and at most `slots` of each coded length."""
        chosen = TargetPool([], slots)
        for target, program in found:
            if chosen.is_new(target, program):
                chosen.update(target, program, near=True)
        return chosen.first(len(chosen))
