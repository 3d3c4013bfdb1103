"""A ridge regression on all that was seen so far, the older the lighter: recursive least squares.

It is solved exactly in every step, so there is no learning rate, and the unit of what is predicted does not matter.

Shapes: N rows, K observations, D numbers that are known of each.
"""

from __future__ import annotations

import torch

_FORGET = 0.95
"""Weight of an observation after one step more: its features drift while the policy learns."""


class Regression:
    """`weight` [D + 1], the constant last, is 0 before the first of its `fits`: so is what it predicts.

    The sums of the regression lie on the CPU in double precision: (D + 1)² numbers.
    """

    def __init__(self, features: int, device: torch.device | str = "cpu") -> None:
        self.weight = torch.zeros(features + 1, device=device)
        self.fits = torch.zeros((), dtype=torch.long)
        self._gram = torch.zeros(features + 1, features + 1, dtype=torch.double)
        self._moment = torch.zeros(features + 1, dtype=torch.double)

    def __call__(self, features_ND: torch.Tensor) -> torch.Tensor:
        """Predictions for each row, [N], in fp32."""
        return features_ND.float() @ self.weight[:-1] + self.weight[-1]

    def observe(self, features_KD: torch.Tensor, results_K: torch.Tensor, counts_K: torch.Tensor) -> None:
        """Take in these results, each with its number of observations. `fit` learns from them."""
        features_KD, results_K, counts_K = (x.detach().cpu().double() for x in (features_KD, results_K, counts_K))
        features = torch.nn.functional.pad(features_KD, (0, 1), value=1.0)
        counted = features * counts_K[:, None]
        self._gram += counted.mT @ features
        self._moment += counted.mT @ results_K

    def fit(self) -> None:
        """Solve for the weights; what was observed so far counts for less from now on.

        The ridge is the mean squared length of the features: the prior by which a prediction is as uncertain as a result
        is noisy.
        """
        ridge = self._gram.trace() / self._gram[-1, -1]
        solved = torch.linalg.solve(self._gram + ridge * torch.eye(len(self._gram), dtype=torch.double), self._moment)
        self.weight.copy_(solved)
        self.fits += 1
        self._gram *= _FORGET
        self._moment *= _FORGET

    def predictor(self) -> dict[str, torch.Tensor]:
        """Tensors for predicting, by name."""
        return {"weight": self.weight, "fits": self.fits}

    def state_dict(self) -> dict[str, torch.Tensor]:
        return {**self.predictor(), "gram": self._gram, "moment": self._moment}

    def load_state_dict(self, state: dict[str, torch.Tensor]) -> None:
        for name, tensor in self.state_dict().items():
            tensor.copy_(state[name])
