"""Looking keys up in the schema: which keys a section has, what stands under them, what they mean."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterable
from typing import Any, Literal

from pydantic import BaseModel, Tag
from pydantic.fields import FieldInfo

from kolmocli.config import AnyFamily, Config, ControllerSection
from kolmocli.config.controller import section_model
from kolmocli.config.methods import METHOD_SETTINGS
from kolmocli.tasks.family import families
from kolmocli.tasks.kinds import BUILT_IN


def fields_of(annotation: Any, *named: str) -> dict[str, FieldInfo] | None:
    """The keys of a section, of all its kinds where there are several; None when the annotation is not a section.

    The section of controllers has a part for every kind that is registered by now, and for those `named`.
    """
    annotation = _bare(annotation)
    if kinds := _kinds(annotation):
        known = [fields for kind in kinds.values() if (fields := fields_of(kind)) is not None]
        return {name: field for fields in reversed(known) for name, field in fields.items()} or None
    if isinstance(annotation, type) and issubclass(annotation, ControllerSection):
        annotation = section_model(*named)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return dict(annotation.model_fields)
    return None


def below(annotation: Any, part: str | int) -> Any:
    """The annotation of what stands under `part`, or None when nothing can stand there.

    In a section of several kinds `part` may be the name of a kind, as pydantic's errors have it.
    """
    if kinds := _kinds(_bare(annotation)):
        if part in kinds:
            return kinds[part]
        found = [inner for kind in kinds.values() if (inner := below(kind, part)) is not None]
        return typing.Union[tuple(found)] if found else None  # noqa: UP007
    fields = fields_of(annotation, str(part))
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
    location = tuple(location)
    if root is Config and len(location) > 1 and location[0] == "methods" and str(location[1]) in METHOD_SETTINGS:
        root, location = METHOD_SETTINGS.get(str(location[1])), location[2:]
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


def _kinds(annotation: Any) -> dict[str | int, Any]:
    """The members of a union by their tags, or by their places where they have none; nothing for what is no union."""
    if typing.get_origin(annotation) not in (types.UnionType, typing.Union):
        return {}
    kinds: dict[str | int, Any] = {}
    if annotation == _bare(AnyFamily):
        kinds |= {name: kind.settings for name, kind in families.loaded().items() if name not in BUILT_IN}
    for place, member in enumerate(typing.get_args(annotation)):
        tags = [extra.tag for extra in getattr(member, "__metadata__", ()) if isinstance(extra, Tag)]
        kinds[tags[0] if tags else f"<{place}>"] = member
    return kinds


def _bare(annotation: Any) -> Any:
    """Without `Annotated` and without `| None`."""
    if typing.get_origin(annotation) is typing.Annotated:
        return _bare(typing.get_args(annotation)[0])
    if typing.get_origin(annotation) in (types.UnionType, typing.Union):
        inner = [a for a in typing.get_args(annotation) if a is not type(None)]
        return _bare(inner[0]) if len(inner) == 1 else annotation
    return annotation


def family_kinds() -> tuple[str, ...]:
    """Kinds of family, by the names that errors use; those of plugins too."""
    return tuple(dict.fromkeys([*map(str, _kinds(_bare(AnyFamily))), *families.names()]))
