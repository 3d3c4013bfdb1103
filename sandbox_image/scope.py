"""What a program has in scope: builtins without those that reach outside, and the published modules.

None of this is a wall: a program may find its way around every name here. It is what programs are told they have; what
they may do is decided by the process around them (`jail.py`).
"""

import builtins
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType, ModuleType
from typing import Any

from statements import MODULES, MORE_MODULES

REMOVED = ("open", "input", "breakpoint", "help", "license", "copyright", "credits", "exit", "quit")
_SYS = (
    "byteorder", "exit", "float_info", "getrecursionlimit", "getsizeof", "hash_info", "implementation", "int_info",
    "intern", "maxsize", "maxunicode", "platform", "set_int_max_str_digits", "setrecursionlimit", "stderr", "stdin",
    "stdout", "version", "version_info",
)  # fmt: skip
SYS = ModuleType("sys", "What a program may want to know of its interpreter.")
"""Programs get this for `sys`. Scripts find their input and output in it."""


class NotImportable(ImportError):
    """A module that the reference machine does not have."""


_SITE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "site")
_importable = {*MODULES, *MORE_MODULES}


def packages() -> list[str]:
    """What this image has beyond the standard library, and the parts of that which are loaded with it."""
    if not os.path.isdir(_SITE):
        return []
    with open(os.path.join(_SITE, "packages.txt"), encoding="utf-8") as file:
        return file.read().split()


def load(names: Sequence[str]) -> None:
    """Load these modules, in the template, before the first fork."""
    fork_hooks = os.register_at_fork
    os.register_at_fork = lambda **_: None  # `random` must not reseed itself: seeds are fixed
    sys.modules["_hashlib"] = None  # type: ignore[assignment]  # hashlib's own functions do, and map no library
    sys.path.append(_SITE)
    _importable.update(packages())
    for name in names:
        __import__(name)
    os.register_at_fork = fork_hooks
    sys.argv = [""]
    vars(SYS).update({name: getattr(sys, name) for name in _SYS}, argv=[""])


def language() -> tuple[dict[str, Any], frozenset[str]]:
    """What programs in the small language start with, and which of these names are its functions."""
    space = fresh()
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "functions.py")
    with open(path, encoding="utf-8") as file:
        exec(compile(file.read(), "<language>", "exec", 0, True, 2), space)
    return space, frozenset(name for name, value in space.items() if type(value) is FunctionType and name[0] != "_")


def fresh(name: str = "__main__", **more: Any) -> dict[str, Any]:
    """What programs in Python start with; `more` are builtins that this kind of program has."""
    names = {name: value for name, value in vars(builtins).items() if name not in REMOVED}
    names["__import__"] = _importer(builtins.__import__)
    return {"__name__": name, "__builtins__": names | more}


def _importer(real: Callable[..., Any]) -> Callable[..., Any]:
    def __import__(
        name: str,
        globals: Mapping[str, object] | None = None,
        locals: Mapping[str, object] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> Any:
        if level or name.partition(".")[0] not in _importable:
            raise NotImportable(name)
        if name == "sys":
            return SYS
        module = real(name, globals, locals, fromlist, level)
        if name == "random":
            module.seed(0)
        return module

    return __import__
