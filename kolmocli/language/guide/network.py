"""A guide that has learned: a small network over the features of each way, in NumPy alone.

`benchmarks/guide_train.py` made the weights that ship; README.md in this folder says how, and what they are worth.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import as_file, files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kolmocli.language.guide.features import Matrix, features
from kolmocli.language.search.likely import View

SHIPPED = "weights.npz"


class NetworkGuide:
    """Scores every way by itself; the softmax over all of them, and over leaving the core as it is, makes probabilities."""

    def __init__(self, weights: Mapping[str, NDArray[Any]]) -> None:
        """`weights`: `mean` and `scale` of the features, and `weight.i` (out, in) and `bias.i` of each layer i."""
        self._mean, self._scale = weights["mean"], weights["scale"]
        self.features = len(self._mean)
        """Number of features that the network reads."""
        layers = sum(name.startswith("bias.") for name in weights)
        self._layers = [(weights[f"weight.{i}"].T, weights[f"bias.{i}"]) for i in range(layers)]

    def log_probs(self, view: View) -> list[float]:
        """Natural logarithms of the probabilities of the view's ways, and last that of leaving the core as it is."""
        hidden = rows(features(view), self._mean, self._scale)
        for i, (weight, bias) in enumerate(self._layers):
            hidden = (np.maximum(hidden, 0.0) if i else hidden) @ weight + bias
        scores = hidden[:, 0] - hidden.max()
        found: list[float] = (scores - np.log(np.exp(scores).sum())).tolist()
        return found


def rows(ways: Matrix, mean: NDArray[Any], scale: NDArray[Any]) -> Matrix:
    """(ways + 1, features + 1): the normalised features and a nought; in the last row those of the cheapest way and a one,
    which stand for leaving the core as it is."""
    normal = (ways - mean) / scale
    marked = np.zeros((len(ways) + 1, ways.shape[1] + 1), np.float32)
    marked[:-1, :-1], marked[-1, :-1], marked[-1, -1] = normal, normal[0], 1.0
    return marked


@cache
def shipped_guide() -> NetworkGuide:
    """The guide that comes with kolmo."""
    with as_file(files("kolmocli.language.guide") / SHIPPED) as path, np.load(path, allow_pickle=False) as weights:
        return NetworkGuide(dict(weights))
