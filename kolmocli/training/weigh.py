"""From judged groups to what is learned from them: rewards of the lines, advantages, weights of the tokens."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Protocol

from kolmocli.engine.base import Group
from kolmocli.learning.batches import Batch, Weighted
from kolmocli.learning.returns import EmaBaseline, is_dead, line_advantages, line_returns, token_weights
from kolmocli.tasks.base import Task
from kolmocli.tasks.outcome import Outcome
from kolmocli.training.methods.base import Method, Shaped
from kolmocli.training.methods.best_of import choose

LineRewards = Sequence[Sequence[float] | None]
"""For each rollout of a group the rewards of its lines; None for one that the sandbox lost."""


class Baseline(Protocol):
    """The baseline: a number that each return is compared with."""

    def __call__(self, group: Group, rewards: LineRewards) -> Sequence[Weighted]:
        """The rollouts, each token with its discounted return less the baseline; none of a group that teaches nothing."""
        ...


class GroupBaseline(Method):
    """Compares with the rewards of the group, or with `ema` with the mean of earlier steps."""

    def __init__(self, kind: str, gamma: float, failure: float = 0.0) -> None:
        """`failure` is what a failure is paid: `maxrl` divides by the mean of what there is above that."""
        self._kind, self._gamma, self._ema = kind, gamma, EmaBaseline()
        self._least = failure if kind == "maxrl" else 0.0

    def __call__(self, group: Group, rewards: LineRewards) -> Sequence[Weighted]:
        if self._least:
            rewards = [None if r is None else [*r[:-1], r[-1] - self._least] for r in rewards]
        returns = [None if r is None else line_returns(r, self._gamma) for r in rewards]
        values = line_advantages(returns, self._kind, self._ema.value)
        if is_dead([*chain(*values)]):
            return []
        return [Weighted(r, token_weights(v, r.lines)) for r, v in zip(group.rollouts, values, strict=True)]

    def observe(self, groups: Sequence[Group]) -> None:
        self._ema.update([o.reward for g in groups for o in g.outcomes if o.reward is not None])

    def state_dict(self) -> dict[str, float]:
        return {"mean": self._ema.value}

    def load_state_dict(self, state: dict[str, float]) -> None:
        self._ema.value = state["mean"]


@dataclass(frozen=True, slots=True)
class Weigh:
    """The denominator of the loss is the number of rollouts that are learned from: a constant per batch, so that long
    programs are neither favoured nor punished except by the reward."""

    baseline: Baseline
    group_size: int
    """Rollouts of a group that are learned from, of those that were sampled (`best_of`)."""
    rng: Callable[[int], random.Random] = field(default=random.Random)
    """The random numbers of a step."""
    shaped: Shaped | None = None

    def __call__(self, step: int, groups: Sequence[Group]) -> Batch:
        rng, parts = self.rng(step), list[list[Weighted]]()
        for group in groups:
            weighted = self.baseline(group, [line_rewards(o, group.task, self.shaped) for o in group.outcomes])
            passed = [None if o.reward is None else o.passed for o in group.outcomes]
            chosen = choose(passed, self.group_size, rng) if weighted else []
            parts.append([weighted[i].scaled(stands_for) for i, stands_for in chosen])
        return Batch(parts)


def line_rewards(outcome: Outcome, task: Task, shaped: Shaped | None = None) -> list[float] | None:
    """The reward of each of the L lines of the episode: all of it comes with the last one, but for the shaping; None where
    the sandbox failed."""
    if outcome.reward is None:
        return None
    rewards = [0.0] * outcome.end if shaped is None else shaped(outcome, task)
    rewards[-1] += outcome.reward
    return rewards
