"""math-verify in a process of its own. Run as a program: lines of [answer, right answer] in, one word a line out.

This file imports nothing of the project. The process that is started keeps the library loaded and forks a child that
compares; a child that takes too long is killed and another is there in milliseconds. It receives trees that
`trees.py` made (`Tree` there has their nodes); no text of a policy is parsed here.

| word | what it says |
|---|---|
| `equal`, `other` | what math-verify says |
| `limit` | the pair took more than its time or memory, twice, in fresh children, while an easy pair is compared at once |
| `fault` | nothing can be compared here, not even that |
"""

from __future__ import annotations

import json
import operator
import os
import resource
import select
import signal
import sys
from contextlib import suppress
from typing import Any

CPU_SECONDS = 3.0
"""For one pair. An answer of 400 characters takes some milliseconds."""
WALL_SECONDS = 15.0
"""For one pair, on a busy machine, and where the interpreter does not hear a signal."""
MEMORY = 1 << 30
"""Bytes that comparing may take more than the library itself."""
_PAIRS = 2_000
"""That one child compares: sympy keeps what it has seen."""
_PROBE = [["+", ["v", "x"], ["n", "1"]], ["+", ["n", "1"], ["v", "x"]]]


class OutOfTimeError(BaseException):
    """Not an Exception: the library goes on after those."""


def main() -> None:
    """Answer lines until there are none. Says `ready` when the library is loaded."""
    compare([*_PROBE])
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    answers.write("ready\n")
    children = Children()
    for line in sys.stdin:
        answers.write(children.compare(line) + "\n")
    children.end()


class Children:
    """One child at a time, replaced when it is lost."""

    def __init__(self) -> None:
        self._pid, self._to, self._from, self._compared = 0, -1, -1, 0

    def compare(self, line: str) -> str:
        for _ in range(2):
            if said := self._asked(line):
                return said
        return "limit" if self._asked(json.dumps(_PROBE) + "\n") == "equal" else "fault"

    def _asked(self, line: str) -> str | None:
        """A child's answer; None when it gave none in time, was killed, or ran out of memory."""
        if not self._pid or self._compared >= _PAIRS:
            self.end()
            self._start()
        self._compared += 1
        try:
            os.write(self._to, line.encode())
            heard, _, _ = select.select([self._from], [], [], WALL_SECONDS)
            said = os.read(self._from, 100).decode().strip() if heard else ""
        except OSError:
            said = ""
        if said in ("equal", "other", "limit"):
            return said
        self.end()
        return None

    def _start(self) -> None:
        from_parent, to_child = os.pipe()
        from_child, to_parent = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(to_child)
            os.close(from_child)
            serve(from_parent, to_parent)
        os.close(from_parent)
        os.close(to_parent)
        self._pid, self._to, self._from, self._compared = pid, to_child, from_child, 0

    def end(self) -> None:
        if self._pid:
            with suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
            os.close(self._to)
            os.close(self._from)
        self._pid = 0


def serve(source: int, sink: int) -> None:
    """Compare what comes, in the child. It ends when nothing comes any more, or when its memory is used up."""
    try:
        with open(os.devnull) as nothing:
            os.dup2(nothing.fileno(), 0)
        with suppress(ValueError, OSError):
            with open("/proc/self/statm") as pages:
                used = int(pages.read().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
        signal.signal(signal.SIGPROF, _out_of_time)
        with os.fdopen(source) as lines:
            for line in lines:
                os.write(sink, (_compared(json.loads(line)) + "\n").encode())
    finally:
        os._exit(1)


def _compared(pair: Any) -> str:
    try:
        signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS, 0.2)
        try:
            return "equal" if compare(pair) else "other"
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
    except OutOfTimeError:
        return "limit"
    except MemoryError:
        os._exit(1)
    except Exception:  # what the library cannot compare is not equal
        return "other"


def _out_of_time(number: int, frame: Any) -> None:
    raise OutOfTimeError


def compare(pair: Any) -> bool:
    """math-verify's verdict on two trees: (of an answer, of the right one)."""
    import logging

    import sympy
    from math_verify import verify

    logging.disable(logging.CRITICAL)
    given, right = (build(tree) for tree in pair)
    if all(map(_expands, pair)):
        plain = [sympy.expand(one) if isinstance(one, sympy.Expr) else one for one in (given, right)]
        if plain[0] == plain[1]:  # the library says so at once, where its own simplification takes 20 ms
            given, right = plain
    return bool(verify(right, given, float_rounding=15, numeric_precision=30, timeout_seconds=None))


_MOST_EXPANDED = 8


def _expands(tree: Any) -> bool:
    """Whether multiplying out is quick: every power is a small one."""
    if tree[0] == "^" and not (tree[2][0] == "n" and tree[2][1].isdigit() and int(tree[2][1]) <= _MOST_EXPANDED):
        return False
    return all(_expands(part) for part in tree[1:] if isinstance(part, list | tuple))


def build(tree: Any) -> Any:
    """The expression of sympy that a tree is. Numbers are exact."""
    import sympy

    kind, parts = tree[0], tree[1:]
    if kind == "n":
        return sympy.Rational(parts[0])
    if kind == "c":
        return {"pi": sympy.pi, "e": sympy.E, "i": sympy.I}[parts[0]]
    if kind == "v":
        return sympy.oo if parts[0] == "infinity" else sympy.Symbol(parts[0])
    if kind == "rel":
        relation = {"=": sympy.Eq, "!=": sympy.Ne, "<": sympy.Lt, "<=": sympy.Le, ">": sympy.Gt, ">=": sympy.Ge}[
            parts[0]
        ]
        return relation(build(parts[1]), build(parts[2]), evaluate=False)
    if kind == "f":
        return _function(parts[0], [build(part) for part in parts[1:]])
    if kind == "neg":
        return -build(parts[0])
    if kind == "!":
        return sympy.factorial(build(parts[0]))
    a, b = build(parts[0]), build(parts[1])
    return _OPERATORS[kind](a, b)


_OPERATORS: dict[str, Any] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "^": operator.pow,
}  # fmt: skip


def _function(name: str, arguments: list[Any]) -> Any:
    import sympy

    if name == "log":
        if len(arguments) == 2:
            return sympy.log(arguments[1], arguments[0])
        return sympy.log(*arguments) / sympy.Symbol("log_of_its_base", positive=True)
    known = {
        "ln": sympy.log, "arcsin": sympy.asin, "arccos": sympy.acos, "arctan": sympy.atan, "abs": sympy.Abs, "ceil": sympy.ceiling,
        "binom": sympy.binomial, "max": sympy.Max, "min": sympy.Min,
    }  # fmt: skip
    return (known.get(name) or getattr(sympy, name))(*arguments)


if __name__ == "__main__":
    main()
