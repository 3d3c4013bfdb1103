"""Things that a curriculum file can name: built in, of an entry point, or of a plugin.

A curriculum file alone never imports code of others. Somebody has to have installed a distribution with an entry point,
which is loaded when it is named, or to have asked for a plugin with `--plugin`. Entry points of our own
(`contributed.py`) are loaded when they are named too.
"""

from __future__ import annotations

import importlib
import sys
import traceback
from collections.abc import Callable, Iterable
from itertools import dropwhile
from pathlib import Path
from types import ModuleType
from typing import Generic, TypeVar

from kolmocli.contributed import ENTRY_POINTS
from kolmocli.errors import UsageError, suggest

T = TypeVar("T")
_OURS = str(Path(__file__).parent)


class Registry(Generic[T]):
    """Things of one kind by name.

    Args:
        what: one of them, in words: `controller`.
        group: the entry points that register some, `kolmocli.controllers`. Loading one imports the module that it
            names, which registers the thing under the name of the entry point.
    """

    def __init__(self, what: str, group: str) -> None:
        self.what, self.group = what, group
        self._things: dict[str, T] = {}
        self._owners: dict[str, str] = {}
        self._makers: dict[str, Callable[[str], T]] = {}
        self._own = ENTRY_POINTS.get(group, {})
        self.builtin: list[str] = []

    def add(self, name: str, thing: T, *, builtin: bool = False, module: str | None = None) -> T:
        """Register `thing`, which is returned. The same file may do it again: so notebooks and reloads do.

        `module` is the module that registers it; that of `thing` where it is not said.

        Raises:
            UsageError: the name is another's.
        """
        module = module or str(getattr(thing, "__module__", type(thing).__module__))
        owner = _file_of(module)
        if self._owners.get(name, owner) != owner or self._own.get(name, module) != module:
            ours = name in self.builtin or name in self._own
            whose = "comes with kolmo" if ours else f"is registered by {self._owners[name]}"
            raise UsageError(f"the {self.what} {name} {whose}; choose another name")
        if builtin and name not in self.builtin:
            self.builtin.append(name)
        self._things[name], self._owners[name] = thing, owner
        return thing

    def add_many(self, prefix: str, make: Callable[[str], T]) -> None:
        """Register all of `prefix/…`: `make` makes one from what follows, when it is named for the first time. It
        raises a `KolmoError` for a name that it does not know."""
        self._makers[prefix] = make

    def __contains__(self, name: str) -> bool:
        """Whether somebody registers this name. Loads nothing, so `get` may still refuse one of many."""
        return name in self._things or self._maker(name) is not None or self._entry_point(name) is not None

    def get(self, name: str) -> T:
        """The thing of this name; an entry point is loaded for it, one of many is made.

        Raises:
            UsageError: there is none, or its entry point cannot be loaded.
        """
        make = self._maker(name)
        if name not in self._things and make is not None:
            self.add(name, make(name.partition("/")[2]))
        if name not in self._things:
            value = self._entry_point(name)
            if value is None:
                raise UsageError(f"no {self.what} {name}; {suggest(name, self.names())}")
            self._load(name, value)
        return self._things[name]

    def names(self) -> list[str]:
        """Built in first, as they were added; then our own entry points; then those of others and plugins, sorted. Loads
        nothing."""
        return self._ordered({*self._things, *self._installed()})

    @property
    def ours(self) -> list[str]:
        """The names of our own entry points, in their order."""
        return [*self._own]

    def loaded(self) -> dict[str, T]:
        """Registered values, in the order of `names`: all but entry points that were not named."""
        return {name: self._things[name] for name in self._ordered(self._things) if name in self._things}

    def _ordered(self, names: Iterable[str]) -> list[str]:
        return [*self.builtin, *self._own, *sorted({*names} - {*self.builtin, *self._own})]

    def _maker(self, name: str) -> Callable[[str], T] | None:
        prefix, slash, _ = name.partition("/")
        return self._makers.get(prefix) if slash else None

    def _entry_point(self, name: str) -> str | None:
        """The value of the entry point of this name, where there is one: a module, perhaps with `:object`."""
        return self._own.get(name) or self._installed().get(name)

    def _installed(self) -> dict[str, str]:
        """Reads the metadata of every distribution: milliseconds, so what is known is looked for first."""
        from importlib.metadata import entry_points  # takes a while to import, and few need it

        return {entry.name: entry.value for entry in entry_points(group=self.group)}

    def _load(self, name: str, value: str) -> None:
        whose, module = f"entry point {name} = {value}", value.partition(":")[0].strip()
        try:
            importlib.import_module(module)
        except (Exception, SystemExit) as error:
            raise UsageError(f"{whose}: {blame(error, module)}") from error
        if name not in self._things:
            raise UsageError(f"{whose}: importing {module} registers no {self.what} {name}")


def load_plugin(name: str) -> None:
    """Run a plugin, so that it registers what it has: a file that ends in `.py`, or a module by its dotted name.

    Raises:
        UsageError: there is none, or it fails; one line that names the file and the line, and the cause chained.
    """
    path = Path(name) if name.endswith(".py") else None
    if path is not None and not path.is_file():
        raise UsageError(f"plugin {name}: no such file")
    try:
        _run_file(path) if path is not None else importlib.import_module(name)
    except (Exception, SystemExit) as error:
        if isinstance(error, ModuleNotFoundError) and f"{name}.".startswith(f"{error.name}."):
            raise UsageError(f"plugin {name}: no module of this name is installed; a file ends in .py") from None
        raise UsageError(f"plugin {blame(error, name)}") from error


def _run_file(path: Path) -> None:
    """As a module of its own, which other files cannot shadow."""
    code = compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
    module = ModuleType(f"kolmo_plugin_{path.stem}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module  # dataclasses and type hints look their module up
    try:
        exec(code, vars(module))
    except BaseException:
        del sys.modules[module.__name__]
        raise


def blame(error: BaseException, name: str) -> str:
    """`file:line: what it raised`, of the plugin's own line, however deep below it the error was raised. The outermost frames are
    of who called the plugin, and caught the error."""
    said = error.msg if isinstance(error, SyntaxError) else " ".join(str(error).split())
    what = said if isinstance(error, UsageError) else f"{type(error).__name__}: {said}".removesuffix(": ")
    frames = [f for f in traceback.extract_tb(error.__traceback__)[1:] if not _is_machinery(f.filename)]
    frames = list(dropwhile(lambda frame: frame.filename.startswith(_OURS), frames))
    if isinstance(error, SyntaxError) and error.filename:
        where = f"{error.filename}:{error.lineno}"
    elif frames:
        own = [frame for frame in frames if frame.filename == frames[0].filename][-1]
        where = f"{own.filename}:{own.lineno}"
    else:
        where = name
    return f"{where}: {what}"


def _is_machinery(filename: str) -> bool:
    return filename in (__file__, importlib.__file__) or filename.startswith("<frozen importlib")


def _file_of(module: str) -> str:
    """The file of a module, which is its own under whatever name it is run; the name where it has none."""
    file = getattr(sys.modules.get(module), "__file__", None)
    return str(Path(file).resolve()) if file else module
