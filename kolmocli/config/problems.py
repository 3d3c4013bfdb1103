"""Mistakes that pydantic finds, in the words of the file's author."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from kolmocli.config import Config
from kolmocli.config.methods import METHODS
from kolmocli.config.schema import at, choices, family_kinds, fields_of
from kolmocli.errors import suggest
from kolmocli.tasks.family import SEQUENCES

_NAMED = 100
"""Things that are wrong with a file which are said; for each the known words are compared with what was written."""
_LONGEST_INT = 256
"""Bits. CPython does not even print much longer ones."""

Location = tuple[str | int, ...]

_LIMITS = {"greater_than": ">", "greater_than_equal": ">=", "less_than": "<", "less_than_equal": "<="}
_KINDS = {
    "int": "a whole number",
    "float": "a number",
    "finite": "a finite number",
    "bool": "true or false",
    "string": "text",
    "list": "a list",
    "tuple": "a list",
    "dict": "keys with values",
    "model": "a section of keys",
}
"""By the first word of pydantic's error type: `int_parsing`, `int_type`, `int_from_float`…"""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, and where."""

    location: Location
    message: str

    def __str__(self) -> str:
        return f"{dotted(self.location)}: {self.message}" if self.location else self.message


def dotted(location: Location) -> str:
    """`families.ramps.levels[2].length`."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location)
    return text.removeprefix(".")


def problems_of(error: ValidationError, data: Any) -> list[Problem]:
    """Each error once, at the place where the author wrote it. `data` is what was validated."""
    found, errors = [], error.errors(include_url=False)
    for item in errors[:_NAMED]:
        location, message = _say(dict(item))
        found.append(Problem(_written(_without_kind(location), data), message))
    more = [Problem((), f"and {len(errors) - _NAMED:,} more things that are wrong")] if len(errors) > _NAMED else []
    return [*dict.fromkeys(found), *more]


def unknown_methods(config: Config) -> list[Problem]:
    """The methods that this configuration names and nothing registers."""
    return [
        Problem(("methods", name), f"no method {name}; {_or_plugin(suggest(name, METHODS.names()))}")
        for name in config.methods
        if name not in METHODS
    ]


def _or_plugin(suggested: str) -> str:
    close = suggested.startswith("did you mean")
    return suggested if close else f"{suggested}, and --plugin names a module with others"


def _say(error: dict[str, Any]) -> tuple[Location, str]:
    """Place of a mistake, and its description with the remedy."""
    kind, location, context = error["type"], error["loc"], error.get("ctx", {})
    got = f"got {_show(error['input'])}"
    annotation = at(location)
    if kind == "invalid_key" or location[-1:] == ("[key]",):  # yes, 12 or a date, which YAML does not take for text
        above = location[:-1] if kind == "invalid_key" else location[:-2]
        return above, f"the key {_show(error['input'])} is not text; quote it"
    if kind == "extra_forbidden":
        return location, f"unknown key; {suggest(str(location[-1]), fields_of(at(location[:-1])) or ())}"
    if kind == "union_tag_invalid":
        named = [task for task in family_kinds() if task != SEQUENCES]
        return (*location, "task"), f"no such task: {context['tag']}; {_or_plugin(suggest(context['tag'], named))}"
    if kind == "missing":
        if location[-1] == "levels" and "sampler" not in error["input"]:
            return location, f"is missing; add it, or name with --plugin the module that has the kind {location[1]}"
        return location, "is missing; add it"
    if kind == "literal_error":
        words = choices(annotation)
        close = suggest(str(error["input"]), words)
        hint = f"; {close}" if close.startswith("did you mean") else ""
        return location, f"must be one of {', '.join(words)}; {got}{hint}"
    if kind in _LIMITS:
        limit = next(value for key, value in context.items() if key in ("gt", "ge", "lt", "le"))
        return location, f"must be {_LIMITS[kind]} {_bound(limit)}, {got}"
    if kind in ("too_short", "too_long"):
        least, bound = ("least", "min_length") if kind == "too_short" else ("most", "max_length")
        return location, f"must have at {least} {context[bound]} items, has {context['actual_length']}"
    if kind == "value_error":
        return _own_rule(location, str(context["error"]))
    if kind == "missing_argument" or kind.split("_")[0] not in _KINDS:
        return location, f"{error['msg'][0].lower()}{error['msg'][1:]}, {got}"
    return location, f"must be {_KINDS[kind.split('_')[0]]}, {got}"


def _own_rule(location: Location, message: str) -> tuple[Location, str]:
    """A rule of the schema over several keys. `length: 5 is above 3` names the key that it is about."""
    named = re.match(r"(\w+): ", message)
    if named and named[1] in (fields_of(at(location)) or ()):
        return (*location, named[1]), message[named.end() :]
    return location, message


def _without_kind(location: Location) -> Location:
    """Pydantic puts the kind of a family after its name; the file has no such key."""
    if len(location) > 2 and location[0] == "families" and location[2] in family_kinds():
        return (*location[:2], *location[3:])
    return location


def _written(location: Location, data: Any) -> Location:
    """Place where the author wrote it: a level inherits its family's `sampler`, and its mistakes with it."""
    if len(location) < 5 or location[0] != "families" or location[2] != "levels":
        return location
    in_sampler = (*location[:2], "sampler", *location[4:])
    return in_sampler if not _has(data, location[:5]) and _has(data, in_sampler[:4]) else location


def _has(data: Any, location: Location) -> bool:
    for part in location:
        lookup: Callable[[Any], Any] | None = getattr(data, "__getitem__", None)
        if lookup is None:
            return False
        try:
            data = lookup(part)
        except (KeyError, IndexError, TypeError):
            return False
    return True


def _bound(limit: float) -> str:
    return f"{limit:,}" if isinstance(limit, int) else f"{limit:g}"


def _show(value: Any) -> str:
    """The value, short enough for one line."""
    if isinstance(value, int) and value.bit_length() > _LONGEST_INT:
        return f"a number of {value.bit_length():,} bits"
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return "keys with values"
    if isinstance(value, list | tuple) and any(isinstance(item, dict | list | tuple) for item in value):
        return f"a list of {len(value)} items"
    text = repr(list(value) if isinstance(value, tuple) else value)
    return text if len(text) <= 60 else text[:59] + "…"
