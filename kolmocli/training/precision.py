"""The precision of a run: chosen where it begins, written down, and kept."""

from __future__ import annotations

from typing import Any

from kolmocli.config import Config
from kolmocli.processor import Precision


def keep_precision(config: Config, saved: dict[str, Any]) -> Config:
    """Of a run that goes on: the precision that it began with, where no other is asked for. A run that says nothing of it
    is older than the choice, and learnt in fp32."""
    before: Precision = saved.setdefault("model", {}).setdefault("precision", "fp32")
    return with_precision(config, before) if config.model.precision == "auto" else config


def with_precision(config: Config, precision: Precision) -> Config:
    return config.model_copy(update={"model": config.model.model_copy(update={"precision": precision})})
