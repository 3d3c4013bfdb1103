"""The program in what a language model answered: prose, code fences and ends taken away.

One reading for training, evaluation and endpoints. Its rules look at one line at a time, and take time linear in the
answer. Nothing is parsed, let alone evaluated: programs of strangers are parsed in the sandbox and nowhere else.

1. Thoughts, tags around the answer, and what comes after an end token such as `<|end_of_text|>` are gone (`ends.py`).
2. Where there are code fences (`fences.py`), closed or cut off, the program is in one of them.
   For a sequence: the last that assigns `output`, else the last that is called Python, else the last without a name,
   else the last one. For a function: the last that defines it. For a script: the last that reads its input.
3. But a program that was begun without a fence, and has ended before the first of them, is the answer. A single fence
   without a name and without an end is such an end.
4. A `###` that begins or ends a line is an end or a heading. Of what is between them, the program is the first part
   that assigns `output`, else the first that is not blank. In a program in Python it is a comment as long as code follows.
5. Outside fences, lines of prose above the program are skipped: lines that no program can begin with. So are those
   below a function or a script.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import takewhile
from keyword import kwlist, softkwlist

from kolmocli.language.ends import answer_within, triple_quoted, within
from kolmocli.language.fences import PYTHON, Block, Part, blocks

Asked = Sequence[str]
"""The names that a program in Python has to define, any one of them; none of a script, which reads its input."""
# Quantifiers that could read the same characters twice are possessive (`*+`): hostile answers would make use of it.
_OUTPUT = re.compile(r"\boutput\b\s*[+*]?=(?!=)")
_READING = re.compile(r"\binput[ \t]*\(|\bstdin\b|\bopen[ \t]*\([ \t]*0\b|\bfileinput\b|/dev/stdin")
_ASIDE = re.compile(r"[\"'#]")
"""Start of a string or a comment, which may hold any words."""
_RESERVED = rf"(?:{'|'.join(sorted({*kwlist, *softkwlist, 'type'}))})\b"
"""`type` is a keyword since Python 3.12: an answer is read alike by all."""
_WORD = rf"\b(?!{_RESERVED})[^\W\d]\w*+"
_WORDS = re.compile(rf"{_WORD}[ \t]++{_WORD}|`")
_SHORT_FORM = re.compile(
    r"[^\"'\u2019#]*+(?:(?<=[A-Za-z]{3})|(?<=\b[Ii]t)|(?<=\b[Ww]e)|(?<=\bI))['\u2019](?:s|m|d|t|ll|re|ve)\s"
)
_TURN = re.compile(
    r"(?:User|Human|Assistant|System|Question|Problem|Answer|Solution|Instruction|Explanation|Output|Input|Examples?|Note)"
    r"[ \t]*:(?![^=]*=)|[-=*_]{3,}\Z"
)
"""The next turn of a conversation, a heading, or a line that is drawn: in its first column, below a program."""
_SENTENCE = re.compile(rf"[^\W\d_]+\.\Z|.*[?!]\Z|(?!{_RESERVED})[^=(\[{{]+[:\uff1a][*_]*\Z")


def program_of(answer: str, asked: Asked | None = None) -> str:
    """The program in an answer. An answer of nothing but prose is given back, as a program that is none.

    With `asked` it is a program in Python, which defines one of these names or, for none, reads its input; without, one
    whose value counts.
    """
    return program_part(answer, asked).text


def program_in_place(answer: str, asked: Asked | None = None) -> str:
    """The program with a blank line for each line above it: line i of the program is line i of the answer.

    The line on which it ends is kept where it is blank but for the `###`: that is where it was decided to stop.
    """
    return program_part(answer, asked).in_place


def without_comments(program: str) -> str:
    """A program of the small language without the comments in which the published generator notes values."""
    return "\n".join(line.partition("#")[0].rstrip() for line in program.split("\n"))


def program_part(answer: str, asked: Asked | None) -> Part:
    """The lines of the answer that are the program, as `program_of` finds it."""
    lines = answer_within(answer).replace("\r\n", "\n").split("\n")
    found = list(blocks(lines))
    return _sequence(lines, found) if asked is None else _flush(_unmarked(_python(lines, found, tuple(asked))), asked)


def _flush(part: Part, asked: Asked) -> Part:
    """A whole program that stands further in, as Markdown has code, in its first column. The body of a function stays."""
    first = next((line for line in part.lines if line.strip()), "")
    indent = first[: len(first) - len(first.lstrip())]
    if not indent or not all(line.startswith(indent) or not line.strip() for line in part.lines):
        return part
    lines = [line.removeprefix(indent) for line in part.lines]
    wanted = _defining(tuple(asked)) if asked else _PROGRAM
    return Part(part.first, lines) if any(line[:1].strip() and wanted.match(line) for line in lines) else part


def _unmarked(part: Part) -> Part:
    """Without the mark of Windows that a file may begin with."""
    first = next((i for i, line in enumerate(part.lines) if line.strip()), None)
    if first is None or not part.lines[first].startswith("\ufeff"):
        return part
    return Part(part.first, [*part.lines[:first], part.lines[first][1:], *part.lines[first + 1 :]])


def _python(lines: list[str], found: list[Block], names: tuple[str, ...]) -> Part:
    """The part that defines what is asked for. An answer may also go on from a prompt, with the body of a function."""
    bare = _run(Part(0, lines[: found[0].fence] if found else lines), names)
    held = [block for block in found if not block.is_blank]
    asked = [block for block in held if block.name in (*PYTHON, "") and _answers(block, names)]
    if asked:
        return _ended(asked[-1], names)
    if bare is not None and (not held or _answers(bare, names) or _goes_on(bare, held)):
        return bare
    if held:
        return _ended(max(reversed(held), key=_likely), names)
    return Part(0, lines)


def _answers(part: Part, names: tuple[str, ...]) -> bool:
    wanted = _defining(names) if names else _READING
    return any(map(wanted.search, part.lines))


@lru_cache(1024)
def _defining(names: tuple[str, ...]) -> re.Pattern[str]:
    either = "|".join(map(re.escape, names))
    return re.compile(
        rf"^[ \t]*+(?:(?:async[ \t]+)?def|class)[ \t]+(?:{either})\b|^(?:{either})[ \t]*(?::[^=]*+)?=(?!=)"
    )


def _likely(block: Block) -> int:
    return 2 if block.name in PYTHON else 0 if block.name else 1


def _goes_on(bare: Part, held: Sequence[Block]) -> bool:
    """Whether code before the first fence is the rest of a function: it is indented, or a fence that was never opened ends it."""
    first = next(line for line in bare.lines if line.strip())
    return first[0].isspace() or (len(held) == 1 and not held[0].closed and not held[0].name)


def _ended(block: Block, names: tuple[str, ...]) -> Part:
    """A block without what was written on in one that was never closed, and without marks that end it."""
    part: Part = block if block.closed else _run(block, names) or block
    lines = list(part.lines)
    while lines and lines[-1].strip() in ("", "###"):
        lines.pop()
    return Part(part.first, lines)


def _run(part: Part, names: tuple[str, ...]) -> Part | None:
    """The code outside fences, from its first line to the prose or the heading below what is asked for; None where there is
    no code."""
    above = sum(1 for _ in takewhile(_is_above, part.lines))
    lines = part.lines[above:]
    if not lines:
        return None
    spans = triple_quoted("\n".join(lines))
    wanted, defined, place = _defining(names) if names else _READING, False, 0
    for number, line in enumerate(lines):
        if defined and line[:1].strip() and not within(place, spans) and _ends_code(lines, number):
            return Part(part.first + above, lines[:number])
        defined = defined or wanted.search(line) is not None
        place += len(line) + 1
    return Part(part.first + above, lines)


def _ends_code(lines: list[str], number: int) -> bool:
    """Whether this line is prose, a turn of the conversation, or a heading of something else than more code."""
    line = lines[number]
    if line[:3] == "###":  # the rest is not copied: a heading may stand on every line
        below = next((lines[i] for i in range(number + 1, len(lines)) if lines[i].strip()), "")
        if not _begins(below):
            return True
    return _is_prose(line.strip()) or _TURN.match(line.rstrip()) is not None


def _is_above(line: str) -> bool:
    bare = line.strip()
    return not bare or bare.startswith("###") or _is_prose(bare)


def _begins(line: str) -> bool:
    """Whether a program goes on with this line below a banner: a definition, an import, a comment, a value for a name."""
    return _PROGRAM.match(line) is not None


_PROGRAM = re.compile(r"(?:(?:async[ \t]+)?def|class|from|import|if|@|#|[^\W\d]\w*[ \t]*=(?!=))")


def _assigns_output(part: Part) -> bool:
    return any(map(_OUTPUT.search, part.lines))


def _rank(block: Block) -> int:
    if _assigns_output(block):
        return 4
    return 0 if block.is_blank else 3 if block.name in PYTHON else 1 if block.name else 2


def _sequence(lines: list[str], found: list[Block]) -> Part:
    if found and _is_over(Part(0, lines[: found[0].fence]), found):
        lines, found = lines[: found[0].fence], []
    if found:
        parts = list(_between_ends(max(reversed(found), key=_rank)))  # of equal ones the last
    else:
        parts = list(_between_ends(Part(0, lines)))
        parts = _code(parts) or parts
    written = [part for part in parts if not part.is_blank] or parts
    return next((part for part in written if _assigns_output(part)), written[0])


def _is_over(before: Part, found: list[Block]) -> bool:
    """Whether a program stands before the first fence and ends there, or at a `###`."""
    *parts, last = _between_ends(before)
    if len(found) == 1 and not found[0].closed and not found[0].name:
        parts.append(last)
    bare = _code(parts)
    return any(map(_assigns_output, bare)) or (bool(bare) and not any(map(_assigns_output, found)))


def _between_ends(part: Part) -> Iterator[Part]:
    first, held = part.first, list[str]()
    for number, line in enumerate(part.lines, start=part.first):
        bare = line.strip()
        if not bare.startswith("###") and not bare.endswith("###"):
            held.append(line)
            continue
        yield Part(first, [*held, "" if bare.startswith("###") else line.rstrip().rstrip("#")])
        first, held = number + 1, []
    yield Part(first, held)


def _code(parts: list[Part]) -> list[Part]:
    """Those that hold more than prose, without the prose above it."""
    found = []
    for part in parts:
        above = sum(1 for _ in takewhile(lambda line: not line.strip() or _is_prose(line.strip()), part.lines))
        if above < len(part.lines):
            found.append(Part(part.first + above, part.lines[above:]))
    return found


def _is_prose(line: str) -> bool:
    """Whether no program begins with this line. Before any string or comment in it stand two words side by side that are
    no keywords (`The program is`), or backticks; or it begins with a short form (`Here's one`); or it holds no string and
    no comment, and ends like a sentence (`Sure!`), or with a colon and is no compound statement (`Answer:`)."""
    head = _ASIDE.split(line, maxsplit=1)[0]
    return bool(_WORDS.search(head) or _SHORT_FORM.match(line) or (head == line and _SENTENCE.match(line)))
