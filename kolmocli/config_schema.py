"""Looking keys up in the schema: which keys a section has, what stands under them, what they mean."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any, Literal

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from kolmocli.config import Config


def fields_of(annotation: Any) -> dict[str, FieldInfo] | None:
    """The keys of a section, or None when the annotation is not a section."""
    annotation = _bare(annotation)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return dict(annotation.model_fields)
    return None


def below(annotation: Any, part: str | int) -> Any:
    """The annotation of what stands under `part`, or None when nothing can stand there."""
    fields = fields_of(annotation)
    if fields is not None:
        return fields[part].annotation if isinstance(part, str) and part in fields else None
    annotation = _bare(annotation)
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is dict and isinstance(part, str):
        return arguments[1]
    if origin in (list, tuple) and isinstance(part, int):
        return arguments[0]
    return None


def at(location: Iterable[str | int], root: Any = Config) -> Any:
    """The annotation at a location, or None when the schema has none there."""
    for part in location:
        root = below(root, part)
        if root is None:
            return None
    return root


def field(key: str) -> FieldInfo:
    """The field of a dotted key such as `training.steps`."""
    *sections, name = key.split(".")
    fields = fields_of(at(sections))
    if fields is None:
        raise KeyError(key)
    return fields[name]


def choices(annotation: Any) -> tuple[str, ...]:
    """The words that a Literal allows; nothing for any other annotation."""
    bare = _bare(annotation)
    return typing.get_args(bare) if typing.get_origin(bare) is Literal else ()


def suggest(word: str, known: Iterable[str]) -> str:
    """`did you mean batch_size?`, or what there is when nothing is close."""
    known = list(known)
    close = get_close_matches(word, known, n=1) or [k for k in known if k.lower() == word.lower()]
    return f"did you mean {close[0]}?" if close else f"there are {', '.join(known)}"


def _bare(annotation: Any) -> Any:
    """Without `Annotated` and without `| None`."""
    if typing.get_origin(annotation) is typing.Annotated:
        return _bare(typing.get_args(annotation)[0])
    if typing.get_origin(annotation) in (types.UnionType, typing.Union):
        inner = [a for a in typing.get_args(annotation) if a is not type(None)]
        return _bare(inner[0]) if len(inner) == 1 else annotation
    return annotation
