"""What is written: continuations of prompts, and the value of each state where one is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch

from kolmocli.policy.head import Head


@dataclass(frozen=True, slots=True)
class Generated:
    tokens: list[int]
    logprobs: list[float]
    finished: bool
    values: Sequence[float] = ()
    """The value of the state before each token, where one was asked for."""


class StateValue(Protocol):
    """A number for the state before each token, noted while rollouts are written."""

    head: Head
    """The model's output head: the states are those that it makes logits of."""

    def __call__(self, states_ND: torch.Tensor) -> torch.Tensor:
        """The number of each row, [N]."""
        ...

    def tensors(self) -> dict[str, torch.Tensor]:
        """Tensors, by name, that the same value head in another process needs."""
        ...
