"""Settings that a pretrained model needs in a curriculum written for a small one."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from kolmocli.config import Config
from kolmocli.training.plan import reads_bare

RATE = 5e-5
"""Learning rate for all weights: the best of three for SmolLM2-135M-Instruct on `arithmetic` (docs/log.md)."""
ADAPTER_RATE = 10 * RATE
"""Schulman et al. 2025, "LoRA Without Regret": the best rate of adapters is about ten times that of all weights."""


def gentler(
    file: Config, asked: Config, named: Collection[str], name: str, note: Callable[[str], None]
) -> dict[str, Any]:
    """By their dotted keys, the settings of `file` that would ruin the pretrained model that was `asked` for in the place of
    its own, with values that do not: rates for a model made from nothing are many times too high, and only the small
    language has to be taught. Not among them is what the user `named`. `note` is told of the others, in a line.

    Empty where the file was written for such a model.
    """
    if reads_bare(asked.model.name) or not reads_bare(file.model.name):
        return {}
    rate = ADAPTER_RATE if asked.adapter_rank else RATE
    first = {"warmup.learning_rate": rate} if "dsl" in asked.languages else {"warmup.max_steps": 0}
    usual = {**first, "training.learning_rate": rate}
    found = {key: value for key, value in usual.items() if not {key, key.partition(".")[0]} & set(named)}
    if found:
        changed = ", ".join(f"{key} {value:g}" for key, value in found.items())
        note(f"{asked.model.name} is pretrained and {name} is for a small model: {changed}; set them to change it")
    return found
