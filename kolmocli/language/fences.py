"""Code fences of Markdown as models write them: with attributes, indented, cut off, with code on the line of the fence, and
within the documentation of a program, where they are none."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from kolmocli.language.ends import triple_quoted, within

PYTHON = frozenset({"python", "python3", "py", "py3"})
_DOCUMENTS = frozenset({"markdown", "md"})
"""Fences around a whole answer, which may have fences of its own."""
_FENCE = re.compile(r"([ \t]*)(`{3,}|~{3,})[ \t]*\{?\.?([\w+-]*)")
_CODE = re.compile(
    r"[ \t]*(?:(?:def|class|import|from|async|for|while|if|with|try|return|print)\b|@\w"
    r"|(?!python)\w++(?:\.\w++)*+[ \t]*(?:[-+*/]?=(?!=)[ \t]|[(\[]))"
)
"""Code, and no attribute such as `title=it.py`."""


@dataclass(frozen=True, slots=True)
class Part:
    """Lines of an answer that follow each other; `first` is the number of the first of them, from 0."""

    first: int
    lines: list[str]

    @property
    def text(self) -> str:
        """Without blank lines around it."""
        return "\n".join(self.lines).strip("\n")

    @property
    def in_place(self) -> str:
        """With a blank line for each line above it: line i is line i of the answer."""
        return "\n".join([*[""] * self.first, *self.lines])

    @property
    def is_blank(self) -> bool:
        return not any(map(str.strip, self.lines))


@dataclass(frozen=True, slots=True)
class Block(Part):
    """Contents of a code fence and the words behind its marks. `fence` is the number of the line of the fence."""

    name: str
    closed: bool
    fence: int


def blocks(lines: list[str]) -> Iterator[Block]:
    """The code fences. A fence ends with the next one of as many marks or more that is not much further in, which opens
    another if it has a name, or with marks at the end of a line; and what it is indented by its lines are too."""
    documented = _documented(lines)
    number = 0
    while number < len(lines):
        found = _FENCE.match(lines[number])
        number += 1
        if not found or documented[number - 1]:
            continue
        indent, marks, name = found.groups()
        fence, first, held, closed = number - 1, number, list[str](), False
        behind = _behind(lines[fence], found)
        if behind is not None:
            name, code = behind
            first, held = fence, [code]
            if (end := _cut(code, marks)) is not None:
                yield Block(first, [end], name.lower(), True, fence)
                continue
        elif "`" in lines[fence][found.end() :] or name.lower() in _DOCUMENTS:
            continue
        while number < len(lines) and not closed:
            line = lines[number]
            if not documented[number] and line.lstrip().startswith(marks) and _is_close(line, indent):
                closed = True
                number += not line.strip().strip(marks[0])
                break
            last = None if documented[number] else _cut(line, marks)
            closed = last is not None
            held.append((line if last is None else last).removeprefix(indent))
            number += 1
        yield Block(first, held, name.lower(), closed, fence)


def _behind(line: str, fence: re.Match[str]) -> tuple[str, str] | None:
    """(name, code) of a fence with code on its own line; None for any other."""
    marks, name = fence[2], fence[3]
    if name.lower() in PYTHON and _CODE.match(line, fence.end()):
        return name, line[fence.end() :].lstrip(" \t")
    code = line[fence.end(2) :]
    return ("", code.lstrip(" \t")) if name.lower() not in PYTHON and marks[0] == "`" and _CODE.match(code) else None


def _cut(line: str, marks: str) -> str | None:
    """A line of code without the marks that end a block behind it; None for one that has no such marks, or has them in
    pairs."""
    bare = line.rstrip()
    if marks[0] != "`" or not bare.endswith(marks) or bare == marks or bare.count(marks) % 2 == 0:
        return None
    code = bare[: -len(marks)]
    return code if code.strip() and not code.lstrip().startswith("`") else None


def _is_close(line: str, indent: str) -> bool:
    return len(line) - len(line.lstrip()) <= len(indent.expandtabs()) + 3


def _documented(lines: Sequence[str]) -> list[bool]:
    """For each line, whether it is within a string in three quotes. A fence in column 0 that says Python is not."""
    spans = triple_quoted("\n".join(lines))
    if not spans:
        return [False] * len(lines)
    starts = accumulate((len(line) + 1 for line in lines[:-1]), initial=0)
    return [within(start, spans) and not _says_python(line) for start, line in zip(starts, lines, strict=True)]


def _says_python(line: str) -> bool:
    found = _FENCE.match(line)
    return found is not None and not found[1] and found[3].lower() in PYTHON
