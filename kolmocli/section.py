"""Base of the sections of a curriculum file."""

from __future__ import annotations

from collections.abc import Mapping
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
        if isinstance(value, bool) and type(found) in (int, float):
            raise ValueError(f"must be a number, got {str(value).lower()}")
        return found


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
