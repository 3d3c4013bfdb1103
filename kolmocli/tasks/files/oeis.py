"""Sequences of the On-Line Encyclopedia of Integer Sequences, in the forms in which they are handed around.

| form | an entry |
|---|---|
| the file `stripped` | a line `A000045 ,0,1,1,2,3,`; lines with `#` are comments |
| a `.seq` file, the internal format | `%S`, `%T` and `%U` lines hold the terms; `%V`, `%W` and `%X` those of a sequence with signs |
| an `.asm` file of LODA | `; A000045: a name`, and below it a comment that is a list of terms; the program is not read |

The first line tells which it is, and a file may hold any number of entries. Their data are published under CC BY-SA 4.0.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from kolmocli.tasks.files.problems import Problems

Lines = Iterator[tuple[int, str]]
Found = Iterator[tuple[int, str, str]]
"""Start, number and terms of an entry, the terms as text."""

_STRIPPED = re.compile(r"(A\d{6,}) ,(.*)")
_SEQ = re.compile(r"%(\w) (A\d{6,}) ?(.*)")
_LODA_NAME = re.compile(r"; (A\d{6,}):")
_LODA_TERMS = re.compile(r"; (-?\d+(?:,-?\d+)*,?)\s*")
_TERM = re.compile(r"-?\d{1,400}")


def reader_of(first: str) -> Callable[[Lines, Problems], Iterator[tuple[int, dict[str, Any]]]] | None:
    """Reader of a file with this first line, if it is of one of these forms."""
    for pattern, entries in _FORMS:
        if pattern.match(first):
            return partial(_read, entries)
    return None


def _read(
    entries: Callable[[Lines, Problems], Found], lines: Lines, problems: Problems
) -> Iterator[tuple[int, dict[str, Any]]]:
    return _rows(entries(lines, problems), problems)


def _rows(found: Found, problems: Problems) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, name, terms in found:
        words = [word.strip() for word in terms.split(",") if word.strip()]
        wrong = next((word for word in words if not _TERM.fullmatch(word)), None)
        if wrong is not None or not words:
            problems.bad(number, f"{name}: no terms" if wrong is None else f"{name}: {wrong[:40]!r} is not a term")
            continue
        yield number, {"sequence": [int(word) for word in words], "task_id": name}


def _stripped(lines: Lines, problems: Problems) -> Found:
    for number, line in lines:
        if line.startswith("#"):
            continue
        if entry := _STRIPPED.fullmatch(line.rstrip()):
            yield number, entry[1], entry[2]
        else:
            problems.bad(number, "not `A000045 ,0,1,1,2,`")


def _seq(lines: Lines, problems: Problems) -> Found:
    start, name, terms = 0, "", dict[str, str]()
    for number, line in lines:
        if (entry := _SEQ.match(line)) is None:
            problems.bad(number, "not a line such as `%S A000045 0,1,1,2,`")
            continue
        if entry[2] != name:
            if name:
                yield start, name, _signed(terms)
            start, name, terms = number, entry[2], {}
        if entry[1] in "STUVWX":
            terms[entry[1]] = entry[3]
    if name:
        yield start, name, _signed(terms)


def _signed(terms: dict[str, str]) -> str:
    """The terms with their signs: `%V` and what follows where they are, else `%S` and what follows."""
    letters = "VWX" if "V" in terms else "STU"
    return ",".join(terms.get(letter, "") for letter in letters)


def _loda(lines: Lines, problems: Problems) -> Found:
    start, name = 0, ""
    for number, line in lines:
        if entry := _LODA_NAME.match(line):
            if name:
                problems.bad(start, f"{name}: no terms")
            start, name = number, entry[1]
        elif name and (terms := _LODA_TERMS.fullmatch(line)):
            yield start, name, terms[1]
            name = ""
    if name:
        problems.bad(start, f"{name}: no terms")


_FORMS = ((re.compile(r"#|A\d{6,} ,"), _stripped), (_SEQ, _seq), (_LODA_NAME, _loda))
"""Told apart by their first lines. No other format that is read here begins with `#`."""
