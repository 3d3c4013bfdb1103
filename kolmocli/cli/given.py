"""Refuse flags that would have no effect next to the others, and words that are no choice, before anything is loaded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kolmocli.errors import UsageError, suggest
from kolmocli.sandbox.backends import BACKENDS, what_is_wrong

if TYPE_CHECKING:
    import typer


def given(context: typer.Context, parameter: str) -> str | None:
    """The flag of this parameter, such as `--max-tokens`, if it was given; None where the default stands."""
    source = context.get_parameter_source(parameter)
    if source is None or source.name == "DEFAULT":
        return None
    return "--" + parameter.strip("_").replace("_", "-")


def require_choice(flag: str, value: str, words: Sequence[str]) -> None:
    """Raise UsageError for a word that is none of these."""
    if value not in words:
        raise UsageError(f"{flag} {value}: no such choice; {suggest(value, words)}")


def require_device(device: str) -> None:
    """Raise UsageError for a `--device` that the schema does not have."""
    from kolmocli.config.schema import choices, field

    require_choice("--device", device, choices(field("model.device").annotation))


def require_backend(backend: str) -> None:
    """Raise UsageError for a `--sandbox` that names none."""
    if what_is_wrong(backend):
        close = suggest(backend, BACKENDS)
        more = "" if close.startswith("did you mean") else ", and http://host:port"
        raise UsageError(f"--sandbox {backend}: no such choice; {close}{more}")
