"""Answers with what is right: those in `tables/`, by kind.

    == money ==            a kind
    18                     the right answer of a task, as a data set has it
    + \\$18.00             what passes
    - \\$18 or \\$19       what does not

`places.txt` has whole texts, with ⏎ for the end of a line. In the other files each line is what stands in the box that ends a
text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kolmocli.tasks.answers.shapes import question
from kolmocli.tasks.judging import SandboxJudge
from kolmocli.tasks.outcome import Terms
from kolmocli.tasks.reward import Binary

FOLDER = Path(__file__).with_name("tables")


@dataclass(frozen=True, slots=True)
class Pair:
    kind: str
    right: str
    """The right answer."""
    text: str
    """What was written."""
    passes: bool


@cache
def by_kind() -> dict[str, list[Pair]]:
    found: dict[str, list[Pair]] = {}
    for file in sorted(FOLDER.glob("*.txt")):
        for pair in _read(file):
            found.setdefault(pair.kind, []).append(pair)
    return found


def _read(file: Path) -> Iterator[Pair]:
    kind = right = ""
    for line in filter(None, file.read_text(encoding="utf-8").split("\n")):
        if heading := re.fullmatch("== (.+) ==", line):
            kind = heading[1]
        elif line[:2] in ("+ ", "- "):
            said = line[2:].replace("⏎", "\n")
            text = said if file.stem == "places" else f"So it is clear.\n\\boxed{{{said}}}"
            yield Pair(kind, right, text, line[0] == "+")
        else:
            right = line.replace("⏎", "\n")


def passed(pairs: list[Pair]) -> list[bool]:
    """One batch, as training judges it."""
    tasks = [question({"question": "?", "answer": pair.right}) for pair in pairs]
    return [one.passed for one in SandboxJudge(None, Terms(Binary()))(tasks, [pair.text for pair in pairs])]
