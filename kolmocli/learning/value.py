"""The value head: the return of a line, from the policy's state before its first token.

The head is linear in the last hidden state h, V = w·(h, 1), and no gradient goes from it to the policy. It is a regression
(`regression.py`), as in Bradtke and Barto 1996 (Machine Learning 22), with whole returns for targets; a head that follows a
gradient explained less of the same returns (docs/log.md).

Shapes: N rows, D hidden units.
"""

from __future__ import annotations

import torch

from kolmocli.errors import UsageError
from kolmocli.learning.regression import Regression
from kolmocli.policy.head import find_head
from kolmocli.policy.policy import Policy


class ValueHead:
    """The value of every state of a policy. `regression` is fitted by the caller, which has the returns."""

    def __init__(self, policy: Policy) -> None:
        """Raises UsageError where the last hidden states of the policy's model are out of reach."""
        head = find_head(policy.model)
        if isinstance(head, str):
            raise UsageError(f"training.baseline: no value head fits this model ({head}); use rloo")
        self.head = head
        self.regression = Regression(head.linear.in_features, head.linear.weight.device)

    def __call__(self, states_ND: torch.Tensor) -> torch.Tensor:
        return self.regression(states_ND)

    def tensors(self) -> dict[str, torch.Tensor]:
        return {f"value_{name}": tensor for name, tensor in self.regression.predictor().items()}
