"""Which flags a command was given: those that mean nothing beside the others are refused, not ignored."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import typer


def given(context: typer.Context, parameter: str) -> str | None:
    """The flag of this parameter, such as `--max-tokens`, if it was given; None where the default stands."""
    source = context.get_parameter_source(parameter)
    if source is None or source.name == "DEFAULT":
        return None
    return "--" + parameter.strip("_").replace("_", "-")
