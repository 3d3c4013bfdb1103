"""A worker of the embedded sandbox: a process that owns one interpreter and speaks the frames of a container.

    python -m kolmocli.sandbox.embedded.worker INTERPRETER     (started by `processes.py`; stdin is a socket)

The interpreter itself lives in one more process below this one. Programs are parsed and values converted here and
not in the trainer, because both can be made to eat all memory: this process may die of it, and is replaced.
A construct without an equal in the interpreter is refused as DENIED, never approximated.
"""

from __future__ import annotations

import ast
import contextlib
import json
import os
import resource
import signal
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pydantic_monty as monty

from kolmocli.sandbox.embedded import modules, promises, source as parser
from kolmocli.sandbox.embedded.refusals import Refusal, is_missing, refuse
from kolmocli.sandbox.embedded.runtime import MEND
from kolmocli.sandbox.embedded.watch import Watch
from kolmocli.sandbox.wire import frames, statements, values

PRELUDE = Path(__file__).parents[2] / "language" / "functions.py"
OVERHEAD_MB = 2048
"""Address space beyond the memory limit of a program: this process's own code, and values on their way."""
_FRAMING = 4_096
"""Bytes beyond the output limit of a program, for the count and the last line. A container has as many."""
_REVIVALS = 3
"""Attempts at a live interpreter after a kill: the first may meet the dead one."""
_ASKS = {"type", "range", "list", "len", "str"}
"""Names this worker uses to tell a string from the text that stands for a value it cannot carry."""


class OverTime(Exception):
    """A program with too many statements to pass on in its time."""


class Interpreter:
    """One interpreter, a fresh session for every program."""

    def __init__(self, limits: dict[str, int], interpreter: Path) -> None:
        """`interpreter` is its program (`runtime.py`): left to itself, the library would take any `monty` on PATH."""
        self.limits = limits
        self.spent = False
        """The last program met the memory limit: what it left behind in this process could meet the next one's."""
        self.prelude = PRELUDE.read_text("utf-8")
        body = ast.parse(self.prelude).body
        self.functions = {f.name: ast.unparse(f) for f in body if isinstance(f, ast.FunctionDef)}
        self.pool = monty.Monty(
            binary_path=interpreter,
            min_processes=1,
            max_processes=1,
            request_timeout=_wall_s(limits["wall_ms"]) + 1.0,
        )
        self.options: dict[str, Any] = {
            "os_policy": {"random_start": {"seed": 0}, "sleep": "zero"},
            "assert_message_annotations": False,
        }
        try:
            self.pool.__enter__()
            with self.pool.checkout(**self.options) as session:
                session.feed_run("None")
        except (RuntimeError, monty.MontyError) as error:
            sys.exit(f"its interpreter does not start: {error}; {MEND}")
        self.watch = Watch()
        self.watch.start()

    def run(self, payload: bytes) -> tuple[bytes, int, float]:
        """(output in the form of a container's child, reason of a kill, CPU seconds)."""
        kind, cpu_ms, wall_ms, memory_mb = frames.PROGRAM.unpack_from(payload)
        self.options["limits"] = {"max_feed_duration_secs": _wall_s(wall_ms), "max_memory": memory_mb << 20}
        self.watch.begin(cpu_ms / 1000)
        output, reason = self._run(kind, payload[frames.PROGRAM.size :])
        used = self.watch.end()
        self.spent = output.rpartition(b"!")[2].startswith(b"MLE")
        if self.watch.fired or reason == frames.WALL:
            self._revive()
        return output, frames.CPU if self.watch.fired else reason, used

    def _revive(self) -> None:
        """A live interpreter before the next program: the pool sees that one is dead only when it is used."""
        for _ in range(_REVIVALS):
            with contextlib.suppress(monty.MontyError), self.pool.checkout(**self.options) as session:
                session.feed_run("None")
                self.watch.forget()
                return
        raise RuntimeError("no live interpreter; this process is replaced, and the next program runs elsewhere")

    def _run(self, kind: bytes, program: bytes) -> tuple[bytes, int]:
        if kind == frames.FILES:
            return _last("DENIED the embedded sandbox has no files", True), frames.ENDED
        script, more = kind == frames.SCRIPT, list[Any]()
        if kind == frames.CALLS:
            program, more = frames.split(program)
        elif script:
            program, inputs = frames.cut(program)
            more = [bytes(given).decode("utf-8", "surrogatepass") for given in frames.unlisted(inputs)]
        try:
            source, body = parser.parse(program)
        except MemoryError:
            return _last("MLE while compiling", script), frames.ENDED
        except (SyntaxError, ValueError, RecursionError, OverflowError) as error:
            words = f"{type(error).__name__}: {error.args[0] if error.args else ''}"
            return _last(f"SYNTAX {words[:200]}", script), frames.ENDED
        count = len(more) if kind == frames.CALLS else len(body)
        made, reason, end = [b"" if script else b"%d\n" % count], frames.ENDED, "OK"
        left = self.limits["output_bytes"] + _FRAMING - len(made[0])
        try:
            for piece in self.runs(source, body, more) if script else self.lines(kind, source, body, more):
                left -= len(piece) - (frames.LENGTH.size if script else 0)
                if left < 0:  # what is longer the host would take for a broken stream, and the program for the culprit
                    return b"".join(made) + (_last("OLE", True) if script else b""), frames.OUTPUT
                made.append(piece)
        except values.TooLong as error:
            end = f"OLE {error}"
        except Refusal as error:
            end = f"DENIED the embedded sandbox does not run {error}"
        except OverTime:
            reason = frames.CPU
        except monty.MontyCrashedError as error:
            reason, end = (frames.WALL, end) if error.timed_out else (reason, "MLE the interpreter ended")
        except monty.MontyError as error:
            inner = error.exception()
            if isinstance(inner, TimeoutError):
                reason = frames.WALL
            end = f"{_label(inner)} {type(inner).__name__} in statement {len(made)}"
        done = script and len(made) > len(more)  # else the last run is the one that ended it
        return b"".join(made) + (b"" if done else _last(end, script)), reason

    def runs(self, source: str, body: list[ast.stmt], inputs: list[str]) -> Iterator[bytes]:
        """The result of a script on each input, as a container reports it. Each has all of the time."""

        def session() -> Any:
            self.watch.begin(self.watch.cpu_s)
            return self._session()

        for made in modules.printed(session, parser.texts(source, body), body, inputs):
            printed, end = b"", "OK"
            if isinstance(made, values.Raised):
                end = f"RAISED {made.error}"
            else:
                printed = made.encode("utf-8", "replace")
            yield frames.listed([printed + frames.said(end)])

    def lines(self, kind: bytes, source: str, body: list[ast.stmt], more: list[Any]) -> Iterator[bytes]:
        """The lines of the report, as far as the program gets."""
        texts, most = parser.texts(source, body), self.limits["max_items"]
        if kind == frames.CALLS:
            lines = modules.called(self._session, texts, body, more, most * values.OF_A_CALL)
        elif kind == frames.PLAIN:
            lines = modules.valued(self._session, texts, body, most)
        else:
            lines = (values.integer_line(value, most) for value in self._values(body, texts, kind == frames.DSL))
        return (f"{line}\n".encode() for line in lines)

    def _session(self) -> Any:
        return self.pool.checkout(**self.options)

    def _values(self, body: list[ast.stmt], texts: list[str], with_language: bool) -> Iterator[object]:
        """The value of each statement."""
        if with_language and parser.is_straight(body, self.functions):
            # What fails is run again statement by statement, for the values of those that finish.
            with contextlib.suppress(monty.MontyRuntimeError):
                yield from self._at_once(body, texts)
                return
        with self._session() as session:
            if with_language:
                session.feed_run(self.prelude)
            yield from self._one_by_one(session, body, texts, with_language)

    def _at_once(self, body: list[ast.stmt], texts: list[str]) -> list[object]:
        """One round trip for the whole program: the common case, and several times faster."""
        used = {node.id for s in body for node in ast.walk(s) if type(node) is ast.Name}
        parts = [self.functions[name] for name in sorted(used & self.functions.keys())]
        names = []
        for number, (statement, text) in enumerate(zip(body, texts, strict=True)):
            name = statements.target(statement)
            parts.append(f"{text}\n_{number} = {name}" if name else f"_{number} = ({text})")
            names.append(f"_{number}")
        with self._session() as session:
            made: list[object] = session.feed_run("\n".join(parts) + f"\n[{', '.join(names)}]", print_callback=_ignore)
        return made

    def _one_by_one(
        self, session: monty.MontySession, body: list[ast.stmt], texts: list[str], with_language: bool
    ) -> Iterator[object]:
        names = parser.bound(body)
        until = time.process_time() + self.watch.cpu_s
        for statement, text in zip(body, texts, strict=True):
            refuse(statement, with_language)
            if time.process_time() > until:
                raise OverTime
            name = statements.target(statement)
            if name:
                value = _feed(session, f"{text}\n{name}")
            elif isinstance(statement, ast.Expr):
                name = "__value"
                value = _feed(session, f"{name} = ({text}\n)\n{name}")
            else:
                _feed(session, f"{text}\nNone")
                value = None
            if type(value) is str and name:
                value = self._string(session, name, value, names)
            yield value

    def _string(self, session: monty.MontySession, name: str, value: str, names: set[str]) -> object:
        """A string may stand for a value that has no form outside: ask what it is."""
        if names & _ASKS:
            raise Refusal(f"a program that binds {sorted(names & _ASKS)[0]} and has a string for a value")
        if session.feed_run(f"type({name}) is str"):
            return value
        if not session.feed_run(f"type({name}) is range"):
            return None
        if session.feed_run(f"len({name})") > self.limits["max_items"]:
            raise values.TooLong("a range of too many items")
        return session.feed_run(f"list({name})")


def _last(words: str, script: bool) -> bytes:
    """The last line of a report."""
    return frames.listed([frames.said(words)]) if script else f"!{words}\n".encode("utf-8", "replace")


def _wall_s(wall_ms: int) -> float:
    """It cannot sleep, so that it is never idle: what it gets beyond its wall limit is time spent waiting for a processor."""
    return frames.STARVED * wall_ms / 1000


def _feed(session: monty.MontySession, text: str) -> object:
    try:
        return session.feed_run(text, print_callback=_ignore)
    except TypeError as error:  # not the program's, which would be wrapped: its value has no equal in Python
        raise Refusal(f"a value of this kind ({error})") from error


def _ignore(stream: str, text: str) -> None:
    """Programs print into the void, here and in a container."""


def _label(error: BaseException) -> str:
    if isinstance(error, MemoryError):
        return "MLE"
    return "DENIED" if is_missing(error) else "RUNTIME"


def start(greeting: dict[str, int], interpreter: Path) -> tuple[Interpreter, bytes]:
    """The worker that the host asks for, and its answer: what it found of its promises, when it is to look."""
    worker = Interpreter(greeting, interpreter)
    size = (greeting["memory_mb"] + OVERHEAD_MB) << 20
    resource.setrlimit(resource.RLIMIT_AS, (size, size))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    findings = promises.check(worker.run, greeting, size) if greeting["prove"] else []
    return worker, json.dumps({"check": findings}).encode()


def main() -> None:
    """Serve one connection until the other side goes away."""
    interpreter = Path(sys.argv[1])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal's Ctrl-C is for the trainer, which then closes us
    link = socket.socket(fileno=os.dup(0))
    reader, worker = frames.Reader(), None
    number = 0
    while chunk := link.recv(1 << 18):
        out = []
        for kind, request, payload in reader.feed(chunk):
            if kind == frames.HELLO:
                worker, answer = start(json.loads(payload), interpreter)
                out.append(frames.encode(frames.HELLO, 0, answer))
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
