"""Describe a model in the cache from its files alone, as `kolmo model show` prints it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kolmocli.errors import UsageError
from kolmocli.files import read_regular
from kolmocli.models.store import Kept
from kolmocli.plain import parsed
from kolmocli.policy.sizes import size_of_folder


@dataclass(frozen=True, slots=True)
class Description:
    """`precision` is that of the weights as saved, `context` the tokens that it was trained for, `bytes` all of its files.
    A fact that its files do not give is None."""

    name: str
    architecture: str | None
    parameters: int | None
    layers: int | None
    hidden: int | None
    vocabulary: int | None
    context: int | None
    precision: str | None
    chat_template: bool
    bytes: int
    weights: str | None
    source: str | None
    sha256: str | None
    licence: str | None
    folder: str


def describe(model: Kept) -> Description:
    """Nothing heavy is imported, and no weight is read."""
    config, origin = _config(model.folder), model.origin
    try:
        size = size_of_folder(model.folder)
    except UsageError:  # of a kind that is not counted; it may load all the same
        size = None
    dtype = str(config.get("dtype") or config.get("torch_dtype") or "")
    architectures = config.get("architectures")
    return Description(
        name=model.name,
        architecture=(architectures[0] if architectures and isinstance(architectures, list) else None)
        or config.get("model_type"),
        parameters=None if size is None else size.parameters,
        layers=None if size is None else size.layers,
        hidden=None if size is None else size.hidden,
        vocabulary=config.get("vocab_size"),
        context=config.get("max_position_embeddings", config.get("n_positions")),
        precision={"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}.get(dtype, dtype) or None,
        chat_template=_has_chat_template(model.folder),
        bytes=model.bytes,
        weights=None if origin is None else origin.weights,
        source=None if origin is None else origin.source,
        sha256=None if origin is None else origin.sha256,
        licence=None if origin is None else origin.licence,
        folder=str(model.folder),
    )


def _config(folder: Path) -> dict[str, Any]:
    try:
        found = parsed(read_regular(folder / "config.json"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _has_chat_template(folder: Path) -> bool:
    if (folder / "chat_template.jinja").is_file():
        return True
    try:
        return bool(parsed(read_regular(folder / "tokenizer_config.json")).get("chat_template"))
    except (OSError, ValueError, AttributeError):
        return False
