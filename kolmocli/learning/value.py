"""The value head: what a line will come to, from the policy's state before its first token; and the stopping of
rollouts that look hopeless by it.

The head is linear in the last hidden state h, V = w·(h, 1), and no gradient goes from it to the policy. It is a regression
(`regression.py`), as in Bradtke and Barto 1996 (Machine Learning 22), with whole returns for targets; a head that follows a
gradient explained less of the same returns (docs/log.md).

Russian roulette: rollouts that look hopeless where a line begins are stopped, but for a few, by chance. The few stand for
the others (`training/methods/value.py`), so the expected gradient is what it was; a rule that stopped all of them would
never find out that it was wrong. Source of the idea: Arvo and Kirk 1990 (particle transport in rendering).

Shapes: N rows, K lines, T tokens at most, D hidden units, V words.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import torch

from kolmocli.errors import UsageError
from kolmocli.learning.regression import Regression
from kolmocli.policy.head import find_head
from kolmocli.policy.policy import Policy
from kolmocli.policy.rollout import Rollout

SURVIVES = 0.25
"""Chance of a hopeless rollout to go on: the tokens of three in four are saved, and the fourth counts four times."""
RIPE = 10
"""Steps that a head has to have learnt from before it is believed."""


@dataclass(frozen=True, slots=True)
class ValuedRollout(Rollout):
    """`values[t]` is what the head said of the state before token t, when that was sampled. `spared` are the tokens t that
    it might have been stopped at, `stopped` the line that it was not allowed to begin, and the value there."""

    values: tuple[float, ...] = ()
    spared: tuple[int, ...] = ()
    stopped: tuple[int, float] | None = None


class ValueGuide:
    """Notes the value of every state, and with `below` stops rollouts where less than that is expected of the next line.

    The first line is always written: what is asked too much of a policy is the controller's to see.
    """

    def __init__(self, policy: Policy, below: float | None = None) -> None:
        """Raises UsageError where the last hidden states of the policy's model are out of reach."""
        head = find_head(policy.model)
        if isinstance(head, str):
            raise UsageError(f"training.baseline: no value head fits this model ({head}); use rloo")
        self.head = head
        self.value = Regression(head.linear.in_features, head.linear.weight.device)
        self._policy, self._below = policy, below

    def draws(self, tokens: int) -> int:
        return 0 if self._below is None else tokens

    def watch(self, rows: int, tokens: int, words: int, draw_NT: torch.Tensor | None) -> _Watch:
        if self._below is None or draw_NT is None:
            return _Watch(self.value, rows, tokens)
        ends_line_V = torch.zeros(words, dtype=torch.bool, device=draw_NT.device)
        ends_line_V[torch.tensor(self._line_ends, dtype=torch.long, device=draw_NT.device)] = True
        below = self._below if self.value.fits >= RIPE else -math.inf
        return _Watch(self.value, rows, tokens, below, ends_line_V, draw_NT)

    @cached_property
    def _line_ends(self) -> list[int]:
        """The tokens that a line break is part of."""
        return [token for token in range(len(self._policy.tokenizer)) if self._policy.breaks(token)]

    def noted(self, rollout: Rollout, note: tuple[list[float], list[int]]) -> ValuedRollout:
        values, spared = note
        stopped = None
        if len(values) > len(rollout.tokens):
            stopped = (rollout.lines[-1] + self._policy.breaks(rollout.tokens[-1]), values.pop())
        plain = {field.name: getattr(rollout, field.name) for field in fields(Rollout)}
        return ValuedRollout(**plain, values=tuple(values), spared=tuple(spared), stopped=stopped)

    def tensors(self) -> dict[str, torch.Tensor]:
        return {f"value_{name}": tensor for name, tensor in self.value.predictor().items()}


class _Watch:
    """The guide at work on the rows of one batch."""

    def __init__(
        self, value: Regression, rows: int, tokens: int, below: float = 0.0,
        ends_line_V: torch.Tensor | None = None, fate_NT: torch.Tensor | None = None,
    ) -> None:  # fmt: skip
        self._value, self._below, self._ends_line_V, self._fate_NT = value, below, ends_line_V, fate_NT
        device = value.weight.device
        self._value_NT = torch.zeros(rows + 1, tokens, device=device)
        self._spared_NT = torch.zeros(rows + 1, tokens, dtype=torch.bool, device=device)
        self._lost_N = torch.zeros(rows + 1, dtype=torch.bool, device=device)

    def look(
        self, step: int, states_ND: torch.Tensor, token_N: torch.Tensor, row_N: torch.Tensor
    ) -> torch.Tensor | None:
        value_N = self._value_NT[row_N, step] = self._value(states_ND)
        if self._ends_line_V is None or self._fate_NT is None or not step:
            return None
        rows = len(self._fate_NT)
        at_risk_N = (row_N < rows) & self._ends_line_V[token_N] & (value_N < self._below)
        lost_N = at_risk_N & (self._fate_NT[row_N.clamp(max=rows - 1), step] >= SURVIVES)
        # To nobody's row, instead of a choice of rows, whose number a GPU would have to be waited for.
        self._spared_NT[row_N.masked_fill(~at_risk_N | lost_N, rows), step] = True
        self._lost_N[row_N.masked_fill(~lost_N, rows)] = True
        return lost_N

    def notes(self, row_N: torch.Tensor, length: int) -> list[Any]:
        """(values, spared tokens) of each row; of one that was stopped there is a value more than tokens."""
        lost = self._lost_N[row_N].tolist()
        values = self._value_NT[row_N, : length + 1].tolist()
        return [
            (of_states[: length + stopped], self._spared_NT[row].nonzero()[:, 0].tolist())
            for row, of_states, stopped in zip(row_N.tolist(), values, lost, strict=True)
        ]
