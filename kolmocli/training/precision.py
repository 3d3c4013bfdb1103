"""The precision of a run: chosen where it begins, written down, and kept."""

from __future__ import annotations

from typing import Any

from kolmocli.config import Config
from kolmocli.processor import Precision


def keep_precision(config: Config, saved: dict[str, Any]) -> Config:
    """Keep the precision that a resumed run began with, unless another is asked for. A run that does not name one
    is older than the choice, and learned in fp32."""
    before: Precision = saved.setdefault("model", {}).setdefault("precision", "fp32")
    return with_precision(config, before) if config.model.precision == "auto" else config


def with_precision(config: Config, precision: Precision) -> Config:
    return config.model_copy(update={"model": config.model.model_copy(update={"precision": precision})})
