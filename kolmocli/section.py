"""Base of the sections of a curriculum file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    FieldSerializationInfo,
    ValidationError,
    ValidatorFunctionWrapHandler,
    field_validator,
)
from pydantic_core import InitErrorDetails

Share = Annotated[float, Field(ge=0.0, le=1.0)]
MOST = 1_000_000
"""Upper bound of counts of things that take memory or a process; it catches typos."""
Positive = Annotated[int, Field(gt=0, le=MOST)]
Count = Annotated[int, Field(ge=0, le=1_000_000_000)]
"""Number of steps, or of other events that are only counted; 0 switches most of them off."""
Rate = Annotated[float, Field(gt=0, le=10)]
"""A learning rate."""


class Section(BaseModel):
    """A part of the file: immutable, strict about its keys, and all its numbers are finite. A switch is none of them:
    `hindsight: true` would be a weight of 1."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @field_validator("*", mode="wrap")
    @classmethod
    def _no_switch_for_a_number(cls, value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
        found = handler(value)
        if (switch := _switch(value, found)) is not None:
            raise ValueError(f"must be a number, got {str(switch).lower()}")
        return found


def _switch(value: Any, found: Any) -> bool | None:
    """A switch that was taken for a number, also in a list or by name."""
    if isinstance(value, bool):
        return value if type(found) in (int, float) else None
    pairs: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, list | tuple) and isinstance(found, list | tuple):
        pairs = zip(value, found, strict=False)
    elif isinstance(value, Mapping) and isinstance(found, Mapping):
        pairs = ((each, found.get(key)) for key, each in value.items())
    elif isinstance(value, Mapping):
        pairs = ((each, getattr(found, str(key), None)) for key, each in value.items())
    return next((switch for one, other in pairs if (switch := _switch(one, other)) is not None), None)


def plain(sections: Mapping[str, Any], info: FieldSerializationInfo) -> dict[str, Any]:
    """Sections by name as plain values, each with all the keys of its own kind; what is no section stays as it is."""
    return {
        name: section.model_dump(mode=info.mode) if isinstance(section, Section) else section
        for name, section in sections.items()
    }


def placed(error: ValidationError, *before: str) -> list[InitErrorDetails]:
    """The mistakes in a section as those of what has it under these keys."""
    return [
        InitErrorDetails(type=item["type"], loc=(*before, *item["loc"]), input=item["input"], ctx=item.get("ctx", {}))
        for item in error.errors(include_url=False)
    ]
