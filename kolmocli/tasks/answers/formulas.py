"""math-verify as the judge of formulas, from this side: pairs of trees go to a process of its own, and are remembered.

The library parses and computes with whatever it is given, so it is never loaded here. `formula_worker.py` says what its process
may use and what its words mean. A process that is lost is started again once; what it cannot compare then is a fault of the
machine's, and masks an answer. A pair that exceeds its limits is the answer's own doing, like a program that runs out of
time: were it masked, an answer that hangs every parser would never cost anything.
"""

from __future__ import annotations

import atexit
import importlib.metadata
import importlib.util
import json
import logging
import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from kolmocli.extras import install, missing
from kolmocli.tasks.answers.formula_worker import WALL_SECONDS
from kolmocli.tasks.answers.judges import RULES, JudgeName
from kolmocli.tasks.answers.trees import Tree

_log = logging.getLogger(__name__)
Pair = tuple[Tree, Tree]
"""(of the answer, of the right answer)"""
_REMEMBERED = 100_000
_BATCH = 200
_START_SECONDS = 120.0
_REPLY_SECONDS = 3 * WALL_SECONDS + 30
_REST_SECONDS = 10.0
"""After a process could not be had twice, nothing is asked for so long."""
_KEPT = ("PATH", "PYTHONPATH", "HOME", "LANG", "TMPDIR")
"""Environment variables that a Python process may need; keys and tokens are not among them."""
_WORKER = Path(__file__).with_name("formula_worker.py")


@cache
def installed() -> bool:
    """Whether math-verify can be used here: it is installed, and processes can be forked."""
    return importlib.util.find_spec("math_verify") is not None and hasattr(os, "fork")


@cache
def version() -> str | None:
    """`math-verify 0.9.0`; None without it."""
    return f"math-verify {importlib.metadata.version('math-verify')}" if installed() else None


def require() -> None:
    """Raises EnvironmentMissing, with what to type, when there is no math-verify."""
    if not installed():
        raise missing("answers.judge: math", "math_verify", otherwise="use judge: auto")


@cache
def note_missing() -> None:
    """Say once that formulas are compared by how they are written."""
    _log.warning(
        "math-verify is not installed: formulas that are written differently count as different; %s", install("math")
    )


class _Process:
    """The worker, started and ready. Raises OSError or EOFError wherever it is lost."""

    def __init__(self, worker: Path) -> None:
        keep = {name: os.environ[name] for name in _KEPT if name in os.environ}
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(worker)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, env={**keep, "OMP_NUM_THREADS": "1"}, start_new_session=True,
        )  # fmt: skip
        self._read = b""
        try:
            if self.line(_START_SECONDS) != "ready":
                raise EOFError("not ready")
        except (OSError, EOFError):
            self.end(0)
            raise

    def send(self, lines: Sequence[str]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write("".join(f"{line}\n" for line in lines).encode())
        self._process.stdin.flush()

    def line(self, seconds: float) -> str:
        """The next line that it says within some seconds."""
        assert self._process.stdout is not None
        stream, end = self._process.stdout.fileno(), time.monotonic() + seconds
        while b"\n" not in self._read:
            heard, _, _ = select.select([stream], [], [], max(0.0, end - time.monotonic()))
            more = os.read(stream, 65536) if heard else b""
            if not more:
                raise EOFError("it says nothing")
            self._read += more
        line, _, self._read = self._read.partition(b"\n")
        return line.decode()

    def end(self, grace: float = 5.0) -> None:
        for stream in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                if stream is not None:
                    stream.close()
        try:
            self._process.wait(timeout=grace)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class FormulaJudge:
    """Words about pairs of formulas. Any thread may ask."""

    def __init__(self, worker: Path = _WORKER) -> None:
        self._worker = worker
        self._known: dict[Pair, str] = {}
        self._lock = threading.Lock()
        self._process: _Process | None = None
        self._owner = os.getpid()
        self._down = 0.0

    def known(self, pair: Pair) -> str | None:
        """Earlier verdict on a pair; None for a new one, and for one that met with a fault."""
        return self._known.get(pair)

    def ask(self, pairs: Sequence[Pair]) -> list[str]:
        """`equal`, `other`, `limit` or `fault` for each pair, in order."""
        with self._lock:
            new = [pair for pair in dict.fromkeys(pairs) if pair not in self._known]
            said: dict[Pair, str] = {}
            for begin in range(0, len(new), _BATCH):
                said |= self._asked(new[begin : begin + _BATCH])
            found = [said.get(pair) or self._known[pair] for pair in pairs]
            if len(self._known) + len(said) > _REMEMBERED:
                self._known = {}
            self._known |= {pair: word for pair, word in said.items() if word != "fault"}
        return found

    def close(self) -> None:
        """End the process; asking again starts another."""
        process, self._process = self._process, None
        if process is not None and self._owner == os.getpid():
            process.end()

    def _asked(self, pairs: Sequence[Pair]) -> dict[Pair, str]:
        said: dict[Pair, str] = {}
        if time.monotonic() < self._down:
            return dict.fromkeys(pairs, "fault")
        for _ in range(2):
            left = [pair for pair in pairs if pair not in said]
            try:
                process = self._started()
                process.send([json.dumps(pair) for pair in left])
                for pair in left:
                    said[pair] = process.line(_REPLY_SECONDS)
                return said
            except (OSError, EOFError) as error:
                _log.debug("the judge of formulas was lost: %r", error)
                self._lost()
        self._down = time.monotonic() + _REST_SECONDS
        return {pair: said.get(pair, "fault") for pair in pairs}

    def _started(self) -> _Process:
        if self._owner != os.getpid():  # forked: the pipes are the parent's
            self._process, self._owner = None, os.getpid()
        if self._process is None:
            self._process = _Process(self._worker)
            atexit.register(self.close)
        return self._process

    def _lost(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.end(0)


FORMULAS = FormulaJudge()
"""The one of this process."""


def described(name: JudgeName) -> str:
    """A judge by name and version: `auto (rules 6, math-verify 0.9.0)`."""
    library = f", {version() or 'formulas as they are written'}" if name in ("auto", "math") else ""
    return f"{name} (rules {RULES}{library})"


class Asking:
    """The judge of formulas as `comparison.same` asks it, and what it met with: one for each answer that is read."""

    def __init__(self, judge: FormulaJudge | None) -> None:
        """None: there is none, and two formulas that are written differently are two."""
        self._judge = judge
        self.words: set[str] = set()

    @property
    def works(self) -> bool:
        return self._judge is not None

    def __call__(self, given: Tree, right: Tree) -> bool:
        if self._judge is None:
            return False
        word = self._judge.known((given, right)) or self._judge.ask([(given, right)])[0]
        self.words.add(word)
        return word == "equal"


class Unasked(Asking):
    """Stands in for math-verify where it is not installed, and says so once."""

    def __init__(self) -> None:
        super().__init__(None)

    def __call__(self, given: Tree, right: Tree) -> bool:
        note_missing()
        return False


def judge_of(name: JudgeName) -> Asking:
    """Raises EnvironmentMissing where the judge is `math` and math-verify is not installed."""
    if name == "math":
        require()
    if name in ("auto", "math"):
        return Asking(FORMULAS) if installed() else Unasked()
    return Asking(None)


class Collecting:
    """Notes what would be asked, so that one batch answers it for many."""

    def __init__(self) -> None:
        self.pairs: list[Pair] = []
        self.limited = False
        """Something that is known to exceed the limits was asked."""

    def __call__(self, given: Tree, right: Tree) -> bool:
        known = FORMULAS.known((given, right))
        self.limited = self.limited or known == "limit"
        if known is None:
            self.pairs.append((given, right))
        return known == "equal"
