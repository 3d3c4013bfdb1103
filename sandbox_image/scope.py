"""What a program has in scope: builtins without those that reach outside, and the published modules.

None of this is a wall: a program may find its way around every name here. It is what programs are told they have; what
they may do is decided by the process around them (`jail.py`).
"""

import atexit
import builtins
import codecs
import io
import itertools
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import FrameType, FunctionType, ModuleType
from typing import Any

import databases
import loops
import substitutes
import threads
from folders import Folders
from scratch import Scratch
from statements import FILENAME, HABITUAL_MODULES, MODULES, MORE_MODULES
from streams import Streams

ENCODINGS = (
    "ascii", "latin-1", "utf-7", "utf-8-sig", "utf-16", "utf-16-be", "utf-16-le", "utf-32", "utf-32-be", "utf-32-le", "cp437", "cp1252",
    "iso8859-15", "base64", "hex", "punycode", "rot13", "raw_unicode_escape", "unicode_escape",
)  # fmt: skip
"""Beside UTF-8: a child has no file to find another in."""
REMOVED = ("open", "input", "breakpoint", "help", "license", "copyright", "credits", "exit", "quit")
_SYS = (
    "_getframe", "api_version", "byteorder", "copyright", "displayhook", "exc_info", "excepthook", "exception", "exit", "flags",
    "float_info", "float_repr_style", "get_int_max_str_digits", "getdefaultencoding", "getfilesystemencoding", "getrecursionlimit", "getrefcount", "getsizeof",
    "getswitchinterval", "hash_info", "hexversion", "implementation", "int_info", "intern", "is_finalizing", "maxsize",
    "maxunicode", "platform", "set_int_max_str_digits", "setrecursionlimit", "setswitchinterval", "stderr", "stdin",
    "stdout", "version", "version_info",
)  # fmt: skip
SYS = substitutes.System("sys", "What a program may want to know of its interpreter.")
"""Programs get this for `sys`. Scripts find their input and output in it."""


class NotImportable(ModuleNotFoundError):
    """A module that the reference machine does not have."""


_SITE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "site")
_WITHOUT_FILES = frozenset({*MODULES, *MORE_MODULES} - {"io"})
_importable = {*MODULES, *MORE_MODULES, *HABITUAL_MODULES}


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
    # hashlib's own functions do, and map no library; asyncio does without ssl
    sys.modules["_hashlib"] = sys.modules["ssl"] = None  # type: ignore[assignment]
    sys.path.append(_SITE)
    _importable.update(packages())
    unlink = os.unlink
    os.unlink = lambda *given, **named: vars(os)["unlink"](*given, **named)  # tempfile keeps what it finds
    for name in names:
        __import__(name)
    os.unlink = unlink
    if random := sys.modules.get("random"):
        random.seed(0)
    if "asyncio" in sys.modules:
        loops.prepare()
    if queues := sys.modules.get("queue"):  # it would wait for threads that cannot be
        vars(queues).update(threading=threads, SimpleQueue=vars(queues)["_PySimpleQueue"])
    for encoding in ENCODINGS:
        codecs.lookup(encoding)
    os.register_at_fork = fork_hooks
    clock = substitutes.Clock()
    time.process_time = time.thread_time = clock.seconds
    time.process_time_ns = time.thread_time_ns = clock.nanoseconds
    sys.argv = [""]
    atexit._clear()  # what a script registers is all that runs at its end
    vars(SYS).update({name: getattr(sys, name) for name in _SYS}, argv=[""], path=[], executable="", modules=_programs)


def language() -> tuple[dict[str, Any], frozenset[str]]:
    """What programs in the small language start with, and which of these names are its functions."""
    space = fresh()
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "functions.py")
    with open(path, encoding="utf-8") as file:
        exec(compile(file.read(), "<language>", "exec", 0, True, 2), space)
    return space, frozenset(name for name, value in space.items() if type(value) is FunctionType and name[0] != "_")


def fresh(name: str = "__main__", **more: Any) -> dict[str, Any]:
    """What programs in Python start with; `more` are builtins that this kind of program has."""
    module = ModuleType("builtins")
    names = module.__dict__
    names.update({name: value for name, value in vars(builtins).items() if name not in REMOVED})
    names["__import__"] = _importer(builtins.__import__, module)
    names.update(more)
    return {"__name__": name, "__builtins__": names}


def found_by_name(names: dict[str, Any]) -> dict[str, Any]:
    """These names as those of a module that Python finds: `dataclasses`, `pickle` and `typing` look there for a class of the program."""
    name = names["__name__"]
    module = _programs[name] = sys.modules[name] = ModuleType(name)
    module.__dict__.update(names)
    return module.__dict__


class Process:
    """What programs have of the process that they run in: a script its descriptors, every other program empty ones."""

    streams = Streams()
    leave: Callable[[int], Any] = os._exit


def open_file(*given: Any, **named: Any) -> Any:
    """`open` of a program that has files."""
    begin_files()
    return Process.streams.open(*given, **named)


def begin_files(given: Iterable[tuple[str, bytes | memoryview]] = ()) -> None:
    """Let the program and Python's modules find files in the memory of this process, and no others. Most programs ask for none, so this
    happens at the first `open`, or when a module is imported that may open one."""
    streams = Process.streams
    if streams.files is not None:
        return
    streams.files = Folders(Scratch(given))
    streams.files.install()
    databases.install(streams.files)
    io.open = builtins.open = streams.open
    if tokenize := sys.modules.get("tokenize"):  # of linecache
        vars(tokenize).update(_builtin_open=streams.open)


_SUBSTITUTES: dict[str, Callable[[], ModuleType]] = {
    "os": lambda: substitutes.operating_system(Process.streams, Process.leave),
    "resource": substitutes.resources,
    "threading": substitutes.threading,
} | {name: lambda name=name: substitutes.husk(name) for name in substitutes.HUSKS}  # type: ignore[misc]
_made: dict[str, ModuleType] = {}
_programs: dict[str, ModuleType] = {}
_habits: set[str] = set()
"""Packages that the program imports as it begins: it has them from then on."""


def _substitute(name: str, taken: bool) -> ModuleType:
    """`import a.b` gives a, and `from a.b import c` takes it from a.b."""
    top, _, rest = name.partition(".")
    if rest and top not in substitutes.HUSKS and name != "os.path":
        raise NotImportable(name)
    if top not in _made:
        _made[top] = _SUBSTITUTES[top]()
    if name == "os.path" and taken:
        return _made["os"].path  # type: ignore[no-any-return]
    return substitutes.husk(name) if rest and taken else _made[top]


def _is_habit(frame: FrameType, package: str) -> bool:
    """Whether a program imports without asking what comes of it: in its first column, and so within no `try`. Tests are run by a
    program: what they import they use, but for what they have mocks of."""
    column = next(itertools.islice(frame.f_code.co_positions(), frame.f_lasti // 2, None))[2]
    return column == 0 and (frame.f_code.co_filename == FILENAME or package in substitutes.MOCKED)


def _importer(real: Callable[..., Any], own: ModuleType) -> Callable[..., Any]:
    def __import__(
        name: str,
        globals: Mapping[str, object] | None = None,
        locals: Mapping[str, object] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> Any:
        top = name.partition(".")[0]
        if top not in _WITHOUT_FILES and hasattr(own, "open"):
            begin_files()
        if level == 0 and top in _SUBSTITUTES:
            return _substitute(name, bool(fromlist))
        if level == 0 and name == "builtins":
            return own
        if level == 0 and name in _programs:
            return _programs[name]
        absent = level == 0 and top in substitutes.PACKAGES and top not in _importable
        if absent and (top in _habits or _is_habit(sys._getframe(1), top)):
            _habits.add(top)
            return substitutes.husk(name if fromlist else top)
        if level or top not in _importable:
            raise NotImportable(name)
        if name == "sys":
            return SYS
        return real(name, globals, locals, fromlist, level)

    return __import__
