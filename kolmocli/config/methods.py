"""The section `methods` of a curriculum file: ways to get more out of rollouts, each with its settings.

The settings are registered apart from the methods, so that a file is checked without what a method computes with. Those of
a plugin that registers none are checked when the method is made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, ClassVar

from pydantic import (
    Field,
    PlainSerializer,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)
from pydantic_core import InitErrorDetails

from kolmocli.registry import Registry
from kolmocli.section import Section, placed, plain


class MethodSettings(Section):
    """The settings of one method in a file."""

    chooses: ClassVar[bool] = False
    """It chooses tasks for their signal: no two such methods at once."""
    of_sequences: ClassVar[str] = ""
    """Name of the effect that only sequences have; empty for a method that works on all tasks."""

    @property
    def is_on(self) -> bool:
        """Whether it does anything with these settings."""
        return True


METHODS: Registry[Callable[..., Any]] = Registry("method", "kolmocli.methods")
"""Makers of methods, by name: see `kolmocli.register_method`."""
METHOD_SETTINGS: Registry[type[MethodSettings]] = Registry("method", "kolmocli.method_settings")


def _validated(sections: Any, handler: ValidatorFunctionWrapHandler) -> dict[str, Any]:
    """The settings of each method that does something."""
    found, problems = handler(sections), list[InitErrorDetails]()
    for name, section in found.items():
        if name not in METHOD_SETTINGS:
            continue
        try:
            found[name] = METHOD_SETTINGS.get(name).model_validate(section)
        except ValidationError as error:
            problems += placed(error, name)
    if problems:
        raise ValidationError.from_exception_data("methods", problems)
    return {
        name: section for name, section in found.items() if not isinstance(section, MethodSettings) or section.is_on
    }


MethodSections = Annotated[
    dict[str, dict[str, Any]],
    Field(
        default_factory=dict,
        exclude_if=lambda methods: not methods,
        description="ways to get more out of rollouts, by name, each with its settings",
    ),
    WrapValidator(_validated),
    PlainSerializer(plain),
]
