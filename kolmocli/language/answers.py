"""The program in what a language model answered: prose, code fences and ends taken away.

One reading for training, evaluation and endpoints. Its rules look at one line at a time, and take time linear in the
answer. Nothing is parsed, let alone evaluated: programs of strangers are parsed in the sandbox and nowhere else.

1. What comes after a special token such as `<|end_of_text|>` is gone.
2. Where there are code fences, closed or cut off, the program is in one of them: the last that assigns `output`, else
   the last that is called Python, else the last without a name, else the last one.
3. But a program that was begun without a fence, and has ended before the first of them, is the answer. A single fence
   without a name and without an end is such an end.
4. A `###` that begins or ends a line is an end or a heading. Of what is between them, the program is the first part
   that assigns `output`, else the first that is not blank.
5. Outside fences, lines of prose above the program are left out: lines that no program can begin with.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from keyword import kwlist, softkwlist

# Quantifiers that could read the same characters twice are possessive (`*+`): hostile answers would make use of it.
_SPECIAL = re.compile(r"<\|[a-z_]+\|>|</s>")
_OUTPUT = re.compile(r"\boutput\b\s*[+*]?=(?!=)")
_FENCE = re.compile(r"([ \t]*)(`{3,}|~{3,})[ \t]*([\w+-]*)")
_PYTHON = frozenset({"python", "python3", "py"})
_ASIDE = re.compile(r"[\"'#]")
"""Where a string or a comment begins, which may hold any words."""
_RESERVED = rf"(?:{'|'.join(sorted({*kwlist, *softkwlist, 'type'}))})\b"
"""`type` is a keyword since Python 3.12: an answer is read alike by all."""
_WORD = rf"\b(?!{_RESERVED})[^\W\d]\w*+"
_WORDS = re.compile(rf"{_WORD}[ \t]++{_WORD}|`")
_SHORT_FORM = re.compile(r"[^\w\"'#]*[A-Z][a-z]*['\u2019](?:s|m|d|ll|re|ve) ")
_SENTENCE = re.compile(rf"[^\W\d_]+\.\Z|.*[?!]\Z|(?!{_RESERVED})[^=(\[{{]+[:\uff1a][*_]*\Z")


@dataclass(frozen=True, slots=True)
class _Part:
    """Lines of an answer that follow each other; `first` is the number of the first of them, from 0."""

    first: int
    lines: list[str]

    @property
    def is_blank(self) -> bool:
        return not any(map(str.strip, self.lines))

    @property
    def assigns_output(self) -> bool:
        return any(map(_OUTPUT.search, self.lines))


@dataclass(frozen=True, slots=True)
class _Block(_Part):
    """What a code fence holds, and what is written behind its marks."""

    name: str
    closed: bool

    @property
    def rank(self) -> int:
        if self.assigns_output:
            return 4
        return 0 if self.is_blank else 3 if self.name in _PYTHON else 1 if self.name else 2


def program_of(answer: str) -> str:
    """The program in an answer. An answer of nothing but prose is given back, as a program that is none."""
    return "\n".join(_program(answer).lines).strip("\n")


def program_in_place(answer: str) -> str:
    """The program with a blank line for each line above it: line i of the program is line i of the answer.

    The line on which it ends is kept where it is blank but for the `###`: that is where it was decided to stop.
    """
    part = _program(answer)
    return "\n".join([*[""] * part.first, *part.lines])


def without_comments(program: str) -> str:
    """A program of the small language without the comments in which the published generator notes values."""
    return "\n".join(line.partition("#")[0].rstrip() for line in program.split("\n"))


def _program(answer: str) -> _Part:
    lines = _SPECIAL.split(answer, maxsplit=1)[0].replace("\r\n", "\n").split("\n")
    blocks = list(_blocks(lines))
    if blocks and _is_over(_Part(0, lines[: blocks[0].first - 1]), blocks):
        lines, blocks = lines[: blocks[0].first - 1], []
    if blocks:
        parts = list(_between_ends(max(reversed(blocks), key=lambda block: block.rank)))  # of equal ones the last
    else:
        parts = list(_between_ends(_Part(0, lines)))
        parts = _code(parts) or parts
    written = [part for part in parts if not part.is_blank] or parts
    return next((part for part in written if part.assigns_output), written[0])


def _is_over(before: _Part, blocks: list[_Block]) -> bool:
    """Whether a program stands before the first fence and ends there, or at a `###`."""
    *parts, last = _between_ends(before)
    if len(blocks) == 1 and not blocks[0].closed and not blocks[0].name:
        parts.append(last)
    bare = _code(parts)
    return any(part.assigns_output for part in bare) or (
        bool(bare) and not any(block.assigns_output for block in blocks)
    )


def _blocks(lines: list[str]) -> Iterator[_Block]:
    """The code fences. A fence ends with the next one of as many marks or more, which opens another if it has a name; and
    what it is indented by its lines are too."""
    number = 0
    while number < len(lines):
        found = _FENCE.match(lines[number])
        number += 1
        if not found or "`" in lines[number - 1][found.end() :]:
            continue
        indent, marks, name = found.groups()
        first, held = number, list[str]()
        while number < len(lines) and not lines[number].lstrip().startswith(marks):
            held.append(lines[number].removeprefix(indent))
            number += 1
        closed = number < len(lines)
        yield _Block(first, held, name.lower(), closed)
        if closed and not lines[number].strip().strip(marks[0]):
            number += 1


def _between_ends(part: _Part) -> Iterator[_Part]:
    first, held = part.first, list[str]()
    for number, line in enumerate(part.lines, start=part.first):
        bare = line.strip()
        if not bare.startswith("###") and not bare.endswith("###"):
            held.append(line)
            continue
        yield _Part(first, [*held, "" if bare.startswith("###") else line.rstrip().rstrip("#")])
        first, held = number + 1, []
    yield _Part(first, held)


def _code(parts: list[_Part]) -> list[_Part]:
    """Those that hold more than prose, without the prose above it."""
    found = []
    for part in parts:
        above = sum(1 for _ in takewhile(lambda line: not line.strip() or _is_prose(line.strip()), part.lines))
        if above < len(part.lines):
            found.append(_Part(part.first + above, part.lines[above:]))
    return found


def _is_prose(line: str) -> bool:
    """Whether no program begins with this line. Before any string or comment in it stand two words side by side that are
    no keywords (`The program is`), or backticks; or it begins with a short form (`Here's one`); or it holds no string and
    no comment, and ends like a sentence (`Sure!`), or with a colon and is no compound statement (`Answer:`)."""
    head = _ASIDE.split(line, maxsplit=1)[0]
    return bool(_WORDS.search(head) or _SHORT_FORM.match(line) or (head == line and _SENTENCE.match(line)))
