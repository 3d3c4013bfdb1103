"""In which precision matrices are multiplied where a policy learns.

bf16 products are added up in fp32, and only products are in bf16: weights, norms, softmax, log-probabilities and the head stay
in fp32. Processors that multiply bf16 say so; how much that gains depends on the shapes, so it is measured on the model's own, once:
what was found is kept, or a busy machine could choose otherwise for the second run of a seed than for the first.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional

from kolmocli.policy.gains import keep_gain, kept_gain
from kolmocli.processor import Precision, WantedPrecision, multiplies_bf16, processor_name

_ROWS = 512
"""Tokens of the products that are timed."""
_SHAPES, _ROUNDS = 3, 40
"""The quickest of 40 rounds counts: on a busy machine five were not enough to find one without interruption."""
_GAIN = 1.25
"""Least speed-up by bf16 that is worth its rounding."""


def choose_precision(
    model: Any, wish: WantedPrecision = "auto", note: Callable[[str], None] = lambda _: None
) -> Precision:
    """The wish; where it is `auto`, bf16 on a GPU that has it, and on a processor that has it and is quicker for it with
    the shapes of this model. `note` gets the figure that was measured, now or at an earlier time."""
    if wish != "auto":
        return wish
    if model.device.type == "cuda":
        return "bf16" if torch.cuda.is_bf16_supported() else "fp32"
    eight_bits = any(parameter.dtype == torch.int8 for parameter in model.parameters())
    if model.device.type != "cpu" or eight_bits or not multiplies_bf16():
        return "fp32"
    key = _key(model)
    kept = kept_gain(key)
    gain = keep_gain(key, measured_gain(model), note) if kept is None else kept
    chosen: Precision = "bf16" if gain >= _GAIN else "fp32"
    when = "" if kept is None else ", as was measured here before"
    note(
        f"products in {chosen}: this processor multiplies bf16 {gain:.1f} times as fast as fp32{when}; "
        f"--set model.precision={chosen} repeats it"
    )
    return chosen


def _key(model: Any) -> str:
    """The processor, its threads, who multiplies, and the products that are timed."""
    shapes = " ".join(f"{count}x{'x'.join(map(str, shape))}" for shape, count in _commonest(model))
    return f"{processor_name()}, {torch.get_num_threads()} threads, torch {torch.__version__}: {shapes}"


def measured_gain(model: Any) -> float:
    """Seconds in fp32 ÷ seconds in bf16 of the commonest products of the model; 1 for one without any. Under a second."""
    largest = _commonest(model)
    seconds = dict.fromkeys((torch.float32, torch.bfloat16), 0.0)
    with torch.inference_mode():
        for shape, count in largest:
            for dtype in seconds:
                inputs, weight = torch.ones(_ROWS, shape[1], dtype=dtype), torch.ones(shape, dtype=dtype)
                seconds[dtype] += count * min(_timed(inputs, weight) for _ in range(_ROUNDS))
    return seconds[torch.float32] / seconds[torch.bfloat16] if largest else 1.0


def _commonest(model: Any) -> list[tuple[torch.Size, int]]:
    """The shapes of matrices that most is multiplied with, and how many there are of each."""
    counts: dict[torch.Size, int] = {}
    for parameter in model.parameters():
        if parameter.ndim == 2 and parameter.dtype == torch.float32:
            counts[parameter.shape] = counts.get(parameter.shape, 0) + 1
    return sorted(counts.items(), key=lambda of: -of[1] * of[0].numel())[:_SHAPES]


def _timed(inputs: torch.Tensor, weight: torch.Tensor) -> float:
    began = time.perf_counter()
    functional.linear(inputs, weight)
    return time.perf_counter() - began
