"""The settings of a kind of controller: the parameters of its constructor, after the ladder.

One source for all: a call from Python takes the defaults and limits, a curriculum file has a section
with these keys, and `kolmo` prints these descriptions.
"""

from __future__ import annotations

import inspect
import math
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from kolmocli.errors import UsageError, suggest

HORIZON = "horizon"
"""A parameter of this name is no setting: it is told how many steps the run takes, or None where that is unknown."""


@dataclass(frozen=True, slots=True)
class Setting:
    """Help and limits of a parameter: `gain: Annotated[float, Setting("share of the ladder", above=0)] = 0.03`.

    Args:
        about: its help text.
        above, least, most: limits of a number, the first of them exclusive.
    """

    about: str | None = None
    above: float | None = None
    least: float | None = None
    most: float | None = None


@dataclass(frozen=True, slots=True)
class Parameter:
    """A setting as a kind declares it."""

    type: Any
    default: Any
    setting: Setting


def settings_of(kind: Callable[..., Any]) -> dict[str, Parameter]:
    """The settings of a class, by name.

    Raises:
        TypeError: a parameter has no default, or an annotation that cannot be read.
    """
    found = {}
    for name, parameter in _parameters(kind).items():
        if name == HORIZON:
            continue
        if parameter.default is parameter.empty:
            raise TypeError(f"the setting {name} has no default")
        known = parameter.annotation if parameter.annotation is not parameter.empty else Any
        bare, *more = typing.get_args(known) if typing.get_origin(known) is typing.Annotated else (known,)
        said = next((extra for extra in more if isinstance(extra, Setting)), Setting())
        found[name] = Parameter(bare, parameter.default, said)
    return found


def wants_horizon(kind: Callable[..., Any]) -> bool:
    return HORIZON in _parameters(kind)


def _parameters(kind: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """All but the first, which is the ladder, or the ladders."""
    try:
        parameters = list(inspect.signature(kind, eval_str=True).parameters.values())
    except NameError as error:
        raise TypeError(f"an annotation of its constructor cannot be read: {error}") from None
    return {p.name: p for p in parameters[1:] if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}


def check(kind: str, known: Mapping[str, Parameter], given: Mapping[str, Any]) -> None:
    """Whether settings given in Python are those of this kind, and numbers within their limits.

    Raises:
        UsageError: naming the first that is not.
    """
    for name, value in given.items():
        if name not in known:
            remedy = suggest(name, known) if known else "it has none"
            raise UsageError(f"the controller {kind} has no setting {name}; {remedy}")
        if wrong := _wrong(known[name], value):
            raise UsageError(f"the setting {name} of the controller {kind} must be {wrong}, got {value!r}")


def _wrong(parameter: Parameter, value: Any) -> str | None:
    """The rule that a value breaks. Only numbers are checked: other types are the kind's own affair."""
    if parameter.type not in (int, float):
        return None
    allowed = int if parameter.type is int else (int, float)
    if not isinstance(value, allowed) or isinstance(value, bool):
        return "a whole number" if parameter.type is int else "a number"
    limits = parameter.setting
    if limits.above is not None and not value > limits.above:
        return f"> {limits.above:g}"
    if limits.least is not None and not value >= limits.least:
        return f">= {limits.least:g}"
    if limits.most is not None and not value <= limits.most:
        return f"<= {limits.most:g}"
    return "a finite number" if isinstance(value, float) and not math.isfinite(value) else None
