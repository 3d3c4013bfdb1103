"""A value head for a baseline: returns and advantages by it, and what it learns.

V was fitted before the rollout was sampled and sees nothing of the line that begins in its state: taken off as a
baseline it adds nothing to the expected gradient, however wrong it is.

Shapes: K program tokens of a micro-batch, D hidden units, L lines among them that have a return.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import torch

from kolmocli.engine.base import Group
from kolmocli.learning.batches import Weighted
from kolmocli.learning.regression import Regression
from kolmocli.learning.returns import line_returns, token_weights
from kolmocli.monitor.records import ReinforceRecord
from kolmocli.policy.rollout import ValuedRollout
from kolmocli.training.methods.base import Method

_ALIKE = 1e-6
"""A variance below this share of the mean square is rounding."""


@dataclass(frozen=True, slots=True)
class ValueWeighted(Weighted):
    """`returns` has the return of each line of the episode; `count` is the number of rollouts of its kind it stands for."""

    returns: Sequence[float] = ()
    count: float = 1.0

    @property
    def end(self) -> int:
        """A return that was expected exactly has no advantage, and is learned from too."""
        lines = self.rollout.lines
        taught = (i for i in range(len(lines), 0, -1) if self.weights[i - 1] or lines[i - 1] < len(self.returns))
        return next(taught, 0)

    def scaled(self, factor: float) -> Self:
        return replace(self, weights=[factor * w for w in self.weights], count=factor * self.count)


@dataclass
class _Sums:
    """Over the lines of a step, each counted as often as it stands for."""

    count: float = 0.0
    returns: float = 0.0
    squares: float = 0.0
    errors: float = 0.0


class Value(Method):
    """The baseline by a value head, which it fits to the returns of every step."""

    def __init__(self, head: Regression, gamma: float) -> None:
        self._head, self._gamma = head, gamma
        self._sums = _Sums()
        self.loss: float | None = None
        """The mean squared error of the latest step before it was learned; None where there was nothing to learn."""
        self.explained: float | None = None
        """The share of the returns' variance that the values explain, None where the returns do not differ."""

    def __call__(self, group: Group, rewards: Sequence[Sequence[float] | None]) -> list[Weighted]:
        weighted: list[Weighted] = []
        for rollout, of_lines in zip(group.rollouts, rewards, strict=True):
            assert isinstance(rollout, ValuedRollout)
            returns, advantages = ([], []) if of_lines is None else line_values(of_lines, self._gamma, rollout)
            weighted.append(ValueWeighted(rollout, token_weights(advantages, rollout.lines), returns))
        return weighted

    def read(self, states_KD: torch.Tensor, part: Sequence[Weighted]) -> None:
        """Learn of the lines of these rollouts, whose states before each token are given, one rollout after the other."""
        places, returns, counts, before = list[int](), list[float](), list[float](), 0
        for item in part:
            lines = item.rollout.lines
            if isinstance(item, ValueWeighted):
                known = [t for t in item.rollout.starts if lines[t] < len(item.returns)]
                places += [before + t for t in known]
                returns += [item.returns[lines[t]] for t in known]
                counts += [item.count] * len(known)
            before += len(lines)
        if not places:
            return
        states_LD = states_KD[torch.tensor(places, device=states_KD.device)]
        returns_L, counts_L = (torch.tensor(x, device=states_KD.device) for x in (returns, counts))
        self._sums.count += float(counts_L.sum())
        self._sums.returns += float((counts_L * returns_L).sum())
        self._sums.squares += float((counts_L * returns_L.square()).sum())
        self._sums.errors += float((counts_L * (returns_L - self._head(states_LD)).square()).sum())
        self._head.observe(states_LD, returns_L, counts_L)

    def observe(self, groups: Sequence[Group]) -> None:
        """Fit the head to what was read."""
        sums, self._sums = self._sums, _Sums()
        self.loss = self.explained = None
        if not sums.count:
            return
        self._head.fit()
        self.loss = sums.errors / sums.count
        variance = sums.squares / sums.count - (sums.returns / sums.count) ** 2
        if variance > _ALIKE * sums.squares / sums.count:
            self.explained = 1.0 - self.loss / variance

    def metrics(self, record: ReinforceRecord, groups: Sequence[Group]) -> ReinforceRecord:
        return replace(record, value_loss=self.loss, value_explained=self.explained)

    def state_dict(self) -> dict[str, Any]:
        return {"head": self._head.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._head.load_state_dict(state["head"])


def line_values(rewards: Sequence[float], gamma: float, rollout: ValuedRollout) -> tuple[list[float], list[float]]:
    """Return and advantage of each line of the episode, from the rewards of the lines.

    A line without tokens has no state: nothing is taken off its return.
    """
    values = {rollout.lines[t]: rollout.values[t] for t in rollout.starts}
    returns = line_returns(rewards, gamma)
    return returns, [came_to - values.get(line, 0.0) for line, came_to in enumerate(returns)]
