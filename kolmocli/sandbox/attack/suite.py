"""The hostile programs as data: a text file for each, with one property.

    # why: what it tries
    # for: service | grader     (where it is an attack at all; default: both)
    # shape: attempt            (it defines `attempt()`, which is true where the sandbox let it happen)

All get the same problem, `solve(x)` is x·x + 7, and none solves it: an attempt solves it only after it has succeeded.
A hostile program that passes has therefore fooled its judge, or got out. One of `residue` is two programs with a
line `# --- then` between them. Files of `answers` are texts, with the answer that they are compared with in `# gold: `.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from kolmocli.errors import UsageError, suggest

DATA = Path(__file__).with_name("data")
GROUPS = ("escapes", "forged", "residue", "denial")
HONEST = "honest"
Kind = Literal["own", "service", "grader", "answers"]
"""Kind of target: a sandbox of kolmo (all is tried), a server that runs programs, a judge of programs, a judge of texts."""
CASES = ((3, 16), (0, 7), (-2, 11))
"""Arguments of the problem, with the results of a right program."""
TESTS = "".join(f"assert solve({x}) == {y}\n" for x, y in CASES)
_THEN = "# --- then\n"
_AFTER = """

try:
    _succeeded = bool(attempt())
except Exception:
    _succeeded = False


def solve(x):
    return x * x + 7 if _succeeded else None
"""
_AS_A_SCRIPT = "\n\nprint(solve(int(input())))\n"


@dataclass(frozen=True, slots=True)
class Probe:
    group: str
    name: str
    why: str
    programs: tuple[str, ...]
    """One after the other; the last must not pass, or must where the group is `honest`."""
    expected: str
    """The tests of a program, or the right answer."""


def load(kind: Kind) -> list[Probe]:
    """The honest ones first, then group by group."""
    folders: Iterable[str] = ("answers",) if kind == "answers" else (HONEST, *GROUPS)
    found = [_read(path) for folder in folders for path in sorted((DATA / folder).glob("*.txt"))]
    order = (HONEST, *GROUPS)
    return sorted(
        (probe for targets, probe in found if not targets or kind in ("own", targets)),
        key=lambda p: order.index(p.group),
    )


def chosen(probes: Sequence[Probe], only: Sequence[str]) -> list[Probe]:
    """The honest ones, and the hostile ones with these names or groups; all where nothing is named.

    Raises:
        UsageError: no hostile program or group has one of these names.
    """
    hostile = [probe for probe in probes if probe.group != HONEST]
    known = dict.fromkeys([*GROUPS, *(probe.name for probe in hostile)])
    if unknown := next((name for name in only if name not in known), None):
        raise UsageError(f"--only {unknown}: no such program or group; {suggest(unknown, known)}")
    wanted = {HONEST, *(only or GROUPS)}
    return [probe for probe in probes if wanted & {probe.group, probe.name}]


def as_script(program: str) -> str:
    """The program, reading its argument from stdin and printing what it returns."""
    return program + _AS_A_SCRIPT


def header(text: str) -> dict[str, str]:
    """The lines `# key: value` at the top of a file."""
    lines = text.split("\n")
    end = next((n for n, line in enumerate(lines) if not line.startswith("# ")), len(lines))
    return dict(line[2:].split(": ", 1) for line in lines[:end] if ": " in line)


def _read(path: Path) -> tuple[str, Probe]:
    text = path.read_text("utf-8")
    head = header(text)
    folder = path.parent.name
    if folder == "answers":
        body = text.split("\n\n", 1)[1]
        return "", Probe(head["group"], path.stem, head["why"], (body,), head["gold"])
    programs = text.split(_THEN)
    if head.get("shape") == "attempt":
        programs[-1] += _AFTER
    return head.get("for", ""), Probe(folder, path.stem, head["why"], tuple(programs), TESTS)


HONEST_PROGRAM = "def solve(x):\n    return x * x + 7\n"
"""The honest program that must pass after every hostile one."""
