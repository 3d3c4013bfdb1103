"""The kinds of controllers by name: built in, of the entry points `kolmocli.controllers`, or of plugins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from kolmocli.curriculum.settings import settings_of
from kolmocli.errors import UsageError
from kolmocli.registry import Registry

KINDS: Registry[type[Any]] = Registry("controller", "kolmocli.controllers")
"""Classes: a `LevelController`, which is made for every family, or a whole `Controller`, which is made once."""

C = TypeVar("C", bound=type[Any])

_LEVEL = ("draw", "observe", "state", "belief", "state_dict", "load_state_dict", "floors")
_WHOLE = ("propose", "observe", "metrics", "state_dict", "load_state_dict")
"""The verbs of the two protocols."""
_TAKEN = ("kind", "target", "floor", "prior", "guard", "weigh", "probes", "oracle", "refill")
"""Keys of the section `controller` itself, and the simulator's own player."""


def register_controller(name: str) -> Callable[[C], C]:
    """Register a class as a kind of controller that files and `controller()` know by `name`, as a decorator.

    A class with `draw` chooses the level inside one family, `LevelController`: it is made with the `Ladder` of each
    family. A class with `propose` is a whole `Controller`, made once with all ladders, family → `Ladder`. Its
    further parameters are settings, each with a default: a file has them in a section of this name.

    Raises:
        UsageError: the name is taken or no name, or the class is neither.
    """
    return lambda kind: _register(name, kind, builtin=False)


def built_in(name: str) -> Callable[[C], C]:
    """As `register_controller`, for the kinds that come with kolmo."""
    return lambda kind: _register(name, kind, builtin=True)


def is_whole(kind: type[Any]) -> bool:
    """Whether this class controls all families; else the level inside one."""
    return hasattr(kind, "propose")


def _register(name: str, kind: C, *, builtin: bool) -> C:
    if not name.isidentifier() or name.startswith("_") or name in _TAKEN:
        raise UsageError(f"a controller cannot be called {name!r}; choose a name in letters that is no key of its own")
    if not (isinstance(kind, type) and (hasattr(kind, "draw") or is_whole(kind))):
        raise UsageError(f"the controller {name} must be a class with `draw` (inside one family) or `propose` (of all)")
    verbs = _WHOLE if is_whole(kind) else _LEVEL
    if missing := [verb for verb in verbs if not hasattr(kind, verb)]:
        derive = "" if is_whole(kind) else "; deriving it from LevelBase brings what is usual"
        raise UsageError(f"the controller {name} has no {', '.join(missing)}{derive}")
    try:
        settings_of(kind)
    except TypeError as error:
        raise UsageError(f"the controller {name}: {error}") from None
    return KINDS.add(name, kind, builtin=builtin)  # type: ignore[return-value]
