"""Russian roulette: rollouts that look hopeless where a line begins are stopped, but for a few, by chance.

The few stand for the others (`training/valued.py`), so the expected gradient is what it was; a rule that stopped all of
them would never find out that it was wrong. Source of the idea: Arvo and Kirk 1990 (particle transport in rendering).

Shapes: N rows, T tokens at most, V words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

SURVIVES = 0.25
"""Chance of a hopeless rollout to go on: the tokens of three in four are saved, and the fourth counts four times."""
RIPE = 10
"""Steps that a head has to have learnt from before it is believed."""


@dataclass(frozen=True, slots=True)
class Roulette:
    """Stops where less than `below` is expected. `line_ends` are the tokens that a line break is part of.

    The first line is always written: what is asked too much of a policy is the controller's to see.
    """

    below: float
    line_ends: Sequence[int]


def numbers_per_row(max_new_tokens: int, roulette: bool) -> int:
    """Random numbers that a row takes from the start: one for each token, and with roulette as many for its fate."""
    return max_new_tokens * (1 + roulette)


class Game:
    """Roulette with the rows of one batch; `fate_NT` are random numbers from 0 to 1."""

    def __init__(self, roulette: Roulette, fate_NT: torch.Tensor, words: int) -> None:
        device, self._roulette, self._fate_NT = fate_NT.device, roulette, fate_NT
        self._ends_line_V = torch.zeros(words, dtype=torch.bool, device=device)
        self._ends_line_V[torch.tensor(roulette.line_ends, dtype=torch.long, device=device)] = True
        self._spared_NT = torch.zeros_like(fate_NT, dtype=torch.bool)

    def lost(self, value_N: torch.Tensor, token_N: torch.Tensor, row_N: torch.Tensor, step: int) -> torch.Tensor:
        """Which rows stop before token number `step`, as a mask, after these tokens and with these values.

        `row_N` are their numbers; one that is too large plays no more.
        """
        plays_N = row_N < len(self._fate_NT)
        at_risk_N = plays_N & self._ends_line_V[token_N] & (value_N < self._roulette.below)
        lost_N = at_risk_N & (self._fate_NT[row_N.clamp(max=len(self._fate_NT) - 1), step] >= SURVIVES)
        self._spared_NT[row_N[at_risk_N & ~lost_N], step] = True
        return lost_N

    def spared(self, row: int) -> list[int]:
        """The tokens before which this row was at risk and went on."""
        return self._spared_NT[row].nonzero()[:, 0].tolist()
