"""A worker of the embedded sandbox: a process that owns one interpreter and speaks the frames of a container.

    python -m kolmocli.sandbox.embedded_worker     (started by `processes.py`; stdin is a socket)

The interpreter itself lives in one more process below this one. Programs are parsed and values converted here and
not in the trainer, because both can be made to eat all memory: this process may die of it, and is replaced.
What the interpreter has no equal for is refused as DENIED, never approximated.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import importlib.resources
import json
import os
import resource
import signal
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pydantic_monty as monty

from kolmocli.sandbox import frames, statements

OVERHEAD_MB = 2048
"""Address space beyond the memory limit of a program: this process's own code, and values on their way."""
STARVED = 4
"""Times the wall limit that a program gets which waits for a processor: it cannot sleep, so that it is never idle."""
LAZY = {"map", "filter", "zip", "reversed", "enumerate", "iter"}
"""Builtins whose result is an iterator in Python and a list in this interpreter."""
_ASKS = {"type", "range", "list", "len", "str"}
"""Names this worker uses to tell a string from the text that stands for a value it cannot carry."""
_STRAIGHT = (
    ast.Assign, ast.Expr, ast.Name, ast.Load, ast.Store, ast.Call, ast.Constant, ast.List, ast.Tuple,
    ast.UnaryOp, ast.USub, ast.BinOp, ast.Add, ast.Sub, ast.Mult,
)  # fmt: skip


class Refused(Exception):
    """What the interpreter cannot run as Python would."""


class OverTime(Exception):
    """A program of so many statements that passing them on takes all its time."""


class Watch(threading.Thread):
    """Ends the interpreter's process when the program has used its CPU time; the pool starts another.

    The interpreter itself only knows the wall clock, and on a busy machine that would make a verdict depend on
    what else runs.
    """

    def __init__(self, cpu_s: float) -> None:
        super().__init__(daemon=True)
        self.cpu_s = cpu_s
        self.pid = 0
        self.fired = False
        self._base = 0.0
        self._on = threading.Event()

    def begin(self) -> None:
        """A program starts: from here its CPU time counts."""
        self.fired = False
        if not self._clock():
            self.pid = _only_child()
        self._base = self._clock() + time.process_time()
        self._on.set()

    def end(self) -> float:
        """The program has ended; the CPU seconds that it used."""
        self._on.clear()
        return self.cpu_s if self.fired else self._used()

    def _used(self) -> float:
        """Of the interpreter, and of this process on its behalf: parsing, passing on what it prints."""
        return max(0.0, self._clock() + time.process_time() - self._base)

    def _clock(self) -> float:
        try:
            return time.clock_gettime((~self.pid << 3) | 2) if self.pid else 0.0
        except OSError:  # the process is gone
            return 0.0

    def run(self) -> None:
        while True:
            self._on.wait()
            time.sleep(0.02)
            if self._on.is_set() and self._used() >= self.cpu_s:
                self.fired = True
                self._on.clear()
                with contextlib.suppress(ProcessLookupError):
                    os.kill(self.pid, signal.SIGKILL)


def _only_child() -> int:
    """The process number of the interpreter."""
    own = str(os.getpid())
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            if stat.read_text("utf-8", "replace").rpartition(")")[2].split()[1] == own:
                return int(stat.parent.name)
        except OSError:  # a process that ended in the meantime
            continue
    return 0


class Worker:
    """One interpreter, a fresh session for every program."""

    def __init__(self, limits: dict[str, int]) -> None:
        self.limits = limits
        self.spent = False
        """The last program met the memory limit: what it left behind in this process could meet the next one's."""
        patience = STARVED * limits["wall_ms"] / 1000
        self.prelude = Path(str(importlib.resources.files("kolmocli") / "language" / "functions.py")).read_text("utf-8")
        body = ast.parse(self.prelude).body
        self.functions = {f.name: ast.unparse(f) for f in body if isinstance(f, ast.FunctionDef)}
        self.pool = monty.Monty(min_processes=1, max_processes=1, request_timeout=patience + 1.0)
        self.pool.__enter__()
        self.watch = Watch(limits["cpu_ms"] / 1000)
        self.watch.start()
        self.options: dict[str, Any] = {
            "limits": {"max_feed_duration_secs": patience, "max_memory": limits["memory_mb"] << 20},
            "os_policy": {"random_start": {"seed": 0}, "sleep": "zero"},
            "assert_message_annotations": False,
        }

    def run(self, payload: bytes) -> tuple[bytes, int, float]:
        """(output in the form of a container's child, reason of a kill, CPU seconds)."""
        self.watch.begin()
        output, reason = self._run(payload)
        used = self.watch.end()
        self.spent = output.rpartition(b"!")[2].startswith(b"MLE")
        return output, frames.CPU if self.watch.fired else reason, used

    def _run(self, payload: bytes) -> tuple[bytes, int]:
        try:
            source = payload[1:].decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
            body = statements.parse(source)
            for statement in body:
                statements.compiled(statement)
        except MemoryError:
            return b"!MLE while compiling\n", frames.ENDED
        except (SyntaxError, ValueError, RecursionError, OverflowError) as error:
            words = f"{type(error).__name__}: {error.args[0] if error.args else ''}"
            return f"!SYNTAX {words[:200]}\n".encode("utf-8", "replace"), frames.ENDED
        lines, reason, end = [b"%d\n" % len(body)], frames.ENDED, "OK"
        try:
            for value in self.values(source, body, payload[:1] == frames.DSL):
                lines.append(statements.encode(value, self.limits["max_items"]))
        except statements.TooLong as error:
            end = f"OLE {error}"
        except Refused as error:
            end = f"DENIED the embedded sandbox does not run {error}"
        except OverTime:
            reason = frames.CPU
        except monty.MontyCrashedError as error:
            reason, end = (frames.WALL, end) if error.timed_out else (reason, "MLE the interpreter ended")
        except monty.MontyError as error:
            inner = error.exception()
            if isinstance(inner, TimeoutError):
                reason = frames.WALL
            end = f"{_label(inner)} {type(inner).__name__} in statement {len(lines)}"
        return b"".join(lines) + f"!{end}\n".encode("utf-8", "replace"), reason

    def values(self, source: str, body: list[ast.stmt], with_language: bool) -> Iterator[object]:
        """The value of each statement, as far as the program gets."""
        texts = _texts(source, body)
        if with_language and self._is_straight(body):
            # What fails is run again statement by statement, for the values of those that finish.
            with contextlib.suppress(monty.MontyRuntimeError):
                yield from self._at_once(body, texts)
                return
        with self.pool.checkout(**self.options) as session:
            if with_language:
                session.feed_run(self.prelude)
            yield from self._one_by_one(session, body, texts, with_language)

    def _is_straight(self, body: list[ast.stmt]) -> bool:
        """Calls of the language and nothing else: no value can change after its statement."""
        bound = {statements.target(statement) for statement in body}
        if bound & self.functions.keys() or any(name and name.startswith("_") for name in bound):
            return False
        for statement in body:
            for node in ast.walk(statement):
                if type(node) not in _STRAIGHT:
                    return False
                if type(node) is ast.Call and getattr(node.func, "id", None) not in self.functions:
                    return False
                if type(node) is ast.Constant and type(node.value) is not int:
                    return False
        return True

    def _at_once(self, body: list[ast.stmt], texts: list[str]) -> list[object]:
        """One round trip for the whole program: the common case, and several times faster."""
        used = {node.id for s in body for node in ast.walk(s) if type(node) is ast.Name}
        parts = [self.functions[name] for name in sorted(used & self.functions.keys())]
        names = []
        for number, (statement, text) in enumerate(zip(body, texts, strict=True)):
            name = statements.target(statement)
            parts.append(f"{text}\n_{number} = {name}" if name else f"_{number} = ({text})")
            names.append(f"_{number}")
        with self.pool.checkout(**self.options) as session:
            values: list[object] = session.feed_run(
                "\n".join(parts) + f"\n[{', '.join(names)}]", print_callback=_ignore
            )
        return values

    def _one_by_one(
        self, session: monty.MontySession, body: list[ast.stmt], texts: list[str], with_language: bool
    ) -> Iterator[object]:
        names = _bound(body)
        until = time.process_time() + self.watch.cpu_s
        for statement, text in zip(body, texts, strict=True):
            _refuse(statement, with_language)
            if time.process_time() > until:
                raise OverTime
            name = statements.target(statement)
            if name:
                value = session.feed_run(f"{text}\n{name}", print_callback=_ignore)
            elif isinstance(statement, ast.Expr):
                name = "__value"
                value = session.feed_run(f"{name} = ({text}\n)\n{name}", print_callback=_ignore)
            else:
                session.feed_run(f"{text}\nNone", print_callback=_ignore)
                value = None
            if type(value) is str and name:
                value = self._string(session, name, value, names)
            yield value

    def _string(self, session: monty.MontySession, name: str, value: str, names: set[str]) -> object:
        """A string may stand for a value that has no form outside: ask what it is."""
        if names & _ASKS:
            raise Refused(f"a program that binds {sorted(names & _ASKS)[0]} and has a string for a value")
        if session.feed_run(f"type({name}) is str"):
            if "\ufffd" in value:
                raise Refused("strings with lone surrogates")
            return value
        if not session.feed_run(f"type({name}) is range"):
            return None
        if session.feed_run(f"len({name})") > self.limits["max_items"]:
            raise statements.TooLong("a range of too many items")
        return session.feed_run(f"list({name})")


def _ignore(stream: str, text: str) -> None:
    """Programs print into the void, here and in a container."""


def _texts(source: str, body: list[ast.stmt]) -> list[str]:
    """The source of each statement, decorators included."""
    lines = [line.encode() for line in source.split("\n")]
    texts = []
    for statement in body:
        decorators = getattr(statement, "decorator_list", [])
        first = min([statement.lineno, *(d.lineno for d in decorators)]) - 1
        start = 0 if decorators else statement.col_offset
        last, end = (statement.end_lineno or 1) - 1, statement.end_col_offset
        part = lines[first : last + 1]
        part[-1] = part[-1][:end]
        part[0] = part[0][start:]
        texts.append(b"\n".join(part).decode())
    return texts


def _bound(body: list[ast.stmt]) -> set[str]:
    """Every name that the program binds anywhere, parameters aside."""
    names: set[str] = set()
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names.add(node.id)
            elif isinstance(node, ast.FunctionDef | ast.ClassDef):
                names.add(node.name)
            elif isinstance(node, ast.alias):
                names.add((node.asname or node.name).partition(".")[0])
    return names


def _refuse(statement: ast.stmt, with_language: bool) -> None:
    """Raise Refused for what would give another value here than in Python."""
    lazy = LAZY - {"filter"} if with_language else LAZY
    for node in ast.walk(statement):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [node.module or "."]
        else:
            modules = []
        for module in modules:
            if module.partition(".")[0] not in statements.MODULES:
                raise Refused(f"import {module}")
    value = getattr(statement, "value", None)
    if isinstance(value, ast.GeneratorExp):
        raise Refused("a generator that is kept")
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in lazy:
        raise Refused(f"{value.func.id}() whose result is kept")


def _label(error: BaseException) -> str:
    if isinstance(error, MemoryError):
        return "MLE"
    if isinstance(error, NotImplementedError | ImportError | PermissionError):
        return "DENIED"
    if isinstance(error, SyntaxError):
        return "DENIED"  # it compiled here, so that Python would have run it
    if isinstance(error, NameError) and str(error).split("'")[1:2] and str(error).split("'")[1] in vars(builtins):
        return "DENIED"
    return "RUNTIME"


def main() -> None:
    """Serve one connection until the other side goes away."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal's Ctrl-C is for the trainer, which then closes us
    link = socket.socket(fileno=os.dup(0))
    reader, worker = frames.Reader(), None
    number = 0
    while chunk := link.recv(1 << 18):
        out = []
        for kind, request, payload in reader.feed(chunk):
            if kind == frames.HELLO:
                limits = json.loads(payload)
                size = (limits["memory_mb"] + OVERHEAD_MB) << 20
                worker = Worker(limits)
                resource.setrlimit(resource.RLIMIT_AS, (size, size))
                resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
                out.append(frames.encode(frames.HELLO, 0, json.dumps({"check": []}).encode()))
            elif kind == frames.PING:
                out.append(frames.encode(frames.PING, request))
            elif worker:
                number += 1
                started = time.monotonic()
                output, reason, cpu_s = worker.run(payload)
                spent = int((time.monotonic() - started) * 1e6)
                header = frames.REPORT.pack(0, reason, 0, int(cpu_s * 1e6), spent, 0, number)
                link.sendall(frames.encode(frames.RESULT, request, header + output))
                if worker.spent:
                    return  # a fresh process takes over; what was under way is run again there
        if out:
            link.sendall(b"".join(out))


if __name__ == "__main__":
    main()
