"""`kolmo train --dry-run`: what a run would do, without importing anything heavy."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from kolmocli.config import Config
from kolmocli.errors import UsageError
from kolmocli.policy.presets import PRESETS
from kolmocli.tasks.sources import evaluation_source, training_source

_BYTES_PER_WEIGHT = 16
"""fp32 weight, gradient and the two moments of AdamW."""
_ACTIVATION_BYTES_PER_TOKEN_AND_UNIT = 4 * 34
"""fp32 activations kept for the backward pass per token, layer and hidden unit (Korthikanti et al. 2022,
arXiv 2205.05198, equation 2 without the attention term, at 4 bytes)."""


def plan(config: Config) -> dict[str, Any]:
    """Buckets, amounts, model size and sandbox. Samples one task of every bucket, so a level that cannot be
    sampled is found here.

    Raises:
        UsageError: something in the configuration cannot work.
    """
    notes: list[str] = []
    sources = {"train": training_source(config, notes.append), "eval": evaluation_source(config, notes.append)}
    for source in sources.values():
        for bucket in source.buckets():
            source.task(bucket, 0)
    training = config.training
    return {
        "name": config.name,
        "seed": config.seed,
        "buckets": len(sources["train"].buckets()),
        "families": len({b.family for b in sources["train"].buckets()}),
        "warmup_steps_at_most": config.warmup.max_steps,
        "steps": training.steps,
        "rollouts": training.steps * training.batch_size,
        "held_out_tasks": config.evaluation.tasks,
        "model": _model(config),
        "sandbox": _sandbox(config.sandbox.backend),
        "notes": notes,
    }


def _sandbox(backend: str) -> str:
    """The backend that would be used now."""
    if backend != "auto":
        return backend
    from kolmocli.sandbox.image import find_engine

    return "embedded" if find_engine() else "docker"


def _model(config: Config) -> dict[str, Any]:
    name = config.model.name
    if name not in PRESETS:
        if not Path(name).exists() and "/" not in name:
            raise UsageError(f"model {name!r}: neither a preset ({', '.join(PRESETS)}) nor a folder nor owner/name")
        return {"name": name, "known_size": False, "transformers": importlib.util.find_spec("transformers") is not None}
    preset = PRESETS[name]
    weights = preset.count()
    tokens = 8_192
    activations = tokens * preset.hidden * preset.layers * _ACTIVATION_BYTES_PER_TOKEN_AND_UNIT
    return {
        "name": name,
        "parameters": weights,
        "memory_mb": round((weights * _BYTES_PER_WEIGHT + activations) / 2**20),
    }
