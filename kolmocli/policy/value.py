"""The value head: what a line will come to, from the policy's state before its first token.

It is linear in the last hidden state h, V = w·(h, 1), and no gradient goes from it to the policy. The weights are the
exact solution of a ridge regression on all returns seen so far, the older the lighter: recursive least squares, as in
Bradtke and Barto 1996 (Machine Learning 22), with whole returns for targets. No learning rate, so the unit of the reward
does not matter; a head that follows a gradient explained less of the same returns (docs/decisions.md).

Shapes: N rows, K lines, D hidden units.
"""

from __future__ import annotations

from typing import Any

import torch

from kolmocli.errors import UsageError
from kolmocli.policy.head import Head, find_head

_FORGET = 0.95
"""What a return counts for after one step more: the policy's states drift while it learns."""


class ValueHead:
    """`weight` [D + 1], the constant last, is 0 before the first of its `fits`: so is V.

    The sums of the regression lie on the CPU in double precision: (D + 1)² numbers.
    """

    def __init__(self, head: Head) -> None:
        self.head = head
        weight = head.linear.weight
        features = head.linear.in_features + 1
        self.weight = torch.zeros(features, device=weight.device)
        self.fits = torch.zeros((), dtype=torch.long)
        self._gram = torch.zeros(features, features, dtype=torch.double)
        self._moment = torch.zeros(features, dtype=torch.double)

    def __call__(self, states_ND: torch.Tensor) -> torch.Tensor:
        """V of each state, [N], in fp32."""
        return states_ND.float() @ self.weight[:-1] + self.weight[-1]

    def observe(self, states_KD: torch.Tensor, returns_K: torch.Tensor, counts_K: torch.Tensor) -> None:
        """Lines that came to these returns; each counts for so many. `fit` is what takes them up."""
        states_KD, returns_K, counts_K = (x.detach().cpu().double() for x in (states_KD, returns_K, counts_K))
        features = torch.nn.functional.pad(states_KD, (0, 1), value=1.0)
        counted = features * counts_K[:, None]
        self._gram += counted.mT @ features
        self._moment += counted.mT @ returns_K

    def fit(self) -> None:
        """Solve for the weights; what was observed so far counts for less from now on.

        The ridge is the mean squared length of the features: the prior by which V is as uncertain as a return is noisy.
        """
        ridge = self._gram.trace() / self._gram[-1, -1]
        solved = torch.linalg.solve(self._gram + ridge * torch.eye(len(self._gram), dtype=torch.double), self._moment)
        self.weight.copy_(solved)
        self.fits += 1
        self._gram *= _FORGET
        self._moment *= _FORGET

    def predictor(self) -> dict[str, torch.Tensor]:
        """What predicting takes, by name: all that whoever samples elsewhere has to be told."""
        return {"value_weight": self.weight, "value_fits": self.fits}

    def state_dict(self) -> dict[str, torch.Tensor]:
        return {**self.predictor(), "gram": self._gram, "moment": self._moment}

    def load_state_dict(self, state: dict[str, torch.Tensor]) -> None:
        for name, tensor in self.state_dict().items():
            tensor.copy_(state[name])


def open_value_head(model: Any) -> ValueHead:
    """A head for this causal language model. Raises UsageError where its last hidden states are out of reach."""
    head = find_head(model)
    if isinstance(head, str):
        raise UsageError(f"training.baseline: no value head fits this model ({head}); use rloo")
    return ValueHead(head)
