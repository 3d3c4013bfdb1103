"""Products of a state with a layer's matrices while tokens are written: side by side where that helps, rounded where it is asked.

Each matrix is multiplied hundreds of times between two updates, so that a copy of it the way round that few rows are
multiplied fastest, or in bf16, is soon paid for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from kolmocli.policy import limits
from kolmocli.processor import Precision

_ROWS = 32
"""A product in bf16 is prepared anew for every number of rows, which takes a millisecond: few numbers occur."""

Product = Callable[[torch.Tensor], torch.Tensor]
"""From inputs [..., D] to what the layers make of them, one behind the other."""


def join(layers: Sequence[Any], precision: Precision) -> Product:
    """These linear layers of one input as one product. Adapters and 8-bit layers are asked one by one, as they are."""
    if any(type(layer) is not torch.nn.Linear for layer in layers):
        return _Apart(layers)
    if precision == "bf16" and layers[0].weight.dtype == torch.float32:
        return _Rounded(layers)
    return _Joined(layers) if sum(layer.weight.numel() for layer in layers) < limits.JOINED_BELOW else _Apart(layers)


def split(layers: Sequence[Any], precision: Precision) -> Callable[[torch.Tensor], Sequence[torch.Tensor]]:
    """As `join`, for layers with equally many outputs, which come one by one: there is nothing to put together of those
    that are asked one by one."""
    product = join(layers, precision)
    return product.apart if isinstance(product, _Apart) else lambda inputs: product(inputs).chunk(len(layers), -1)


class _Apart:
    def __init__(self, layers: Sequence[Any]) -> None:
        self._layers = layers

    def apart(self, inputs: torch.Tensor) -> list[torch.Tensor]:
        return [layer(inputs) for layer in self._layers]

    def __call__(self, inputs: torch.Tensor) -> torch.Tensor:
        apart = self.apart(inputs)
        return apart[0] if len(apart) == 1 else torch.cat(apart, -1)


class _Joined:
    def __init__(self, layers: Sequence[torch.nn.Linear]) -> None:
        self._weight = torch.cat([layer.weight for layer in layers]).T.contiguous()
        self._bias = _bias(layers)

    def __call__(self, inputs: torch.Tensor) -> torch.Tensor:
        outputs = inputs @ self._weight
        return outputs if self._bias is None else outputs.add_(self._bias)


class _Rounded:
    """Inputs, weights and the product in bf16, what is summed up in between in fp32."""

    def __init__(self, layers: Sequence[torch.nn.Linear]) -> None:
        self._weight = torch.cat([layer.weight.bfloat16() for layer in layers])
        self._bias = _bias(layers)

    def __call__(self, inputs: torch.Tensor) -> torch.Tensor:
        flat = inputs.reshape(-1, inputs.shape[-1])
        rows = len(flat)
        filled = flat.new_zeros(rows + -rows % _ROWS, flat.shape[1], dtype=torch.bfloat16)
        filled[:rows] = flat
        outputs = torch.nn.functional.linear(filled, self._weight)[:rows].to(inputs.dtype)
        if self._bias is not None:
            outputs.add_(self._bias)
        return outputs.view(*inputs.shape[:-1], -1)


def _bias(layers: Sequence[torch.nn.Linear]) -> torch.Tensor | None:
    return None if layers[0].bias is None else torch.cat([layer.bias for layer in layers])
