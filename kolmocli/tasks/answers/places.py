"""Where in a text its answer stands: strictly, where it was asked for, and where a reader would look.

Three forms are asked for in the field: the tag of this project, GSM8K's `####`, and a box of LaTeX.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from kolmocli.tasks.answers.comparison import bare, same
from kolmocli.tasks.answers.latex import LONGEST, boxes, last_box, undoubled
from kolmocli.tasks.answers.numbers import amount, first_number, last_number
from kolmocli.tasks.answers.parsing import TAG
from kolmocli.tasks.answers.symbols import without_ends
from kolmocli.tasks.answers.words import listed

HASHES = "####"
_READ = 20_000
"""Characters at the end of a text that are looked at: an answer comes last, and texts of strangers may be long."""
_SAID = re.compile(r"\banswer(?: is\b|:)[ \t]*:?[ \t]*([^\n]+)", re.IGNORECASE)
_HOPE = r"I hope (?:it|this) is correct\.?"
_FINAL = re.compile(
    rf"Final Answer:\s{{0,9}}(?:The final answer is:?(?P<said>[^\n]{{1,300}}?)\.?\s{{0,9}}(?:{_HOPE})?|(?P<stated>[^\n]{{1,300}}?)\.?\s{{0,9}}{_HOPE})\s*\Z",
    re.IGNORECASE,
)
"""The line that Minerva's prompt asks for."""
_THOUGHTS = ("think", "thinking", "thought", "reasoning", "|begin_of_thought|", "seed:think", "|thinking|")
_OPENING = (*(f"<{name}>" for name in _THOUGHTS), "[THINK]", "◁think▷", "<|channel|>analysis")
_CLOSING = (
    *(f"</{name}>" for name in _THOUGHTS),
    "<|end_of_thought|>",
    "</|begin_of_thought|>",
    "[/THINK]",
    "◁/think▷",
    "<|channel|>final<|message|>",
)


def spoken(text: str) -> str:
    """What a text says behind its thoughts, without end tokens. Nothing where a thought never ended."""
    ended = max((place + len(tag) for tag in _CLOSING if (place := text.rfind(tag)) >= 0), default=0)
    begun = max(text.rfind(tag) for tag in _OPENING)
    return "" if begun >= ended and begun >= 0 else without_ends(text[ended:])


def strict_place(text: str) -> str | None:
    """What stands where the answer was asked for, if nothing comes after it: behind the last tag or the last `####` on the
    same line, in the last `\\boxed{}`, behind which a unit or a few words may end the line, or where Minerva's prompt asks
    for it. None where none of these ends the text."""
    end = spoken(text)[-_READ:].rstrip()
    end = _within_tags(end)
    box = _boxed(end)
    if box is not None and _may_follow(end[box[1] :]):
        return _stated(box[0])
    final = _final(end)
    if final is not None:
        return final
    behind = _behind_mark(end)
    return behind.strip() if behind is not None and "\n" not in behind.strip() and behind.strip() else None


def _within_tags(end: str) -> str:
    """What `<answer>` and `</answer>` at the end are around, as an answer behind the tag of this project; the text itself
    without them."""
    if not end.endswith("</answer>"):
        return end
    _, tag, held = end.removesuffix("</answer>").rpartition("<answer>")
    return (held.rstrip() if last_box(held) else f"{TAG} {held.strip()}") if tag else end


def has_form(text: str) -> bool:
    """Whether something stands in one of these places, whatever comes after it."""
    end = spoken(text)[-_READ:]
    behind = _behind_mark(end)
    return last_box(end) is not None or (behind is not None and behind.strip() != "") or _final(end) is not None


def lenient_place(text: str, right: str) -> str | None:
    """What a reader who knows the right answer's kind would take for the answer: what stands in one of these places,
    else what is said to be the answer; else the last number where a number is asked for, and the last line where not."""
    end = spoken(text)[-_READ:].rstrip()
    box, behind = _boxed(end), _behind_mark(end)
    said = _SAID.findall(end)
    if behind is not None and behind.strip():
        return behind.strip().split("\n", 1)[0]
    if (final := _final(end)) is not None:
        return final
    hoped = list(_HOPED_FOR.finditer(end))
    if hoped and (box is None or hoped[-1].start() >= box[1]):
        return hoped[-1][1].strip()
    if box is not None:
        return _stated(box[0])
    if said:
        return str(said[-1])
    if amount(bare(right)) is not None:
        return last_number(end)
    line = _SENTENCE.split(end.rsplit("\n", 1)[-1].strip())[-1]
    return (_IS.split(line)[-1] if len(line) > _LINE else line) or None


def holds(place: str, right: str, is_same: Callable[[str, str], bool] = same) -> bool:
    """Whether a reader finds the right answer in such a place: it is the right one, or begins with the right number."""
    if is_same(place, right):
        return True
    number = first_number(bare(place)) if amount(bare(right)) is not None and amount(bare(place)) is None else None
    return number is not None and is_same(number, right)


_BETWEEN = re.compile(
    r"(?:[\s$,;.&]|\\[()\[\],;! ]|\\quad|\\qquad|\\text(?:bf)?\{|\}|\b(?:and|or)\b|\\\\)*(?:\$?\s?[A-Za-z](?:_\{?[0-9A-Za-z]{1,3}\}?)?\s?=\s?)?\Z"
)
_WORDED = re.compile(
    r"[^\n\\]{0,6}(?:\\text\{)?(?:[\s,]*(?:[A-Za-z]+|\([a-z]\))){0,4}[\s,]*\b(?:and|or)\b[\s}]*[^\n\\]{0,3}\Z"
)


def _boxed(text: str) -> tuple[str, int] | None:
    """What the last box holds, and where it ends. Boxes that follow each other are one answer of several parts."""
    if "\\boxed" not in text and "\\fbox" not in text:
        return None
    last = last_box(text)
    if last is None:
        return None
    parts, begin = [last[0]], last[1] - len(last[0]) - 1
    for start, end, held in reversed(boxes(text)):
        if end >= last[1] or start >= begin:
            begin = min(begin, start)
            continue
        between = text[end:begin]
        if len(between) > 60 or not (_BETWEEN.match(between) or _WORDED.match(between)) or len(parts) > 40:
            break
        parts.append(held)
        begin = start
    held = ", ".join(dict.fromkeys(reversed(parts)))
    doubled = text[: last[1] - len(last[0]) - 1].endswith("\\\\boxed{")
    return undoubled(held) if doubled else held, last[1]


_CLOSER = r"(?:[\s$.*,;\"'’”}]|\\[)\]]|\\end\{[a-z]+\*?\}|\\pmod\{[^{}]*\})"  # noqa: RUF001
_CLOSERS, _SOME_CLOSERS = re.compile(f"{_CLOSER}*+"), re.compile(f"{_CLOSER}++")
_IS = re.compile(r"\b(?:is|are)\s")
_LINE = 60
"""Characters of a last line that is more than an answer."""
_HOPED_FOR = re.compile(rf"final answer is:?\s{{0,9}}([^\n]{{1,200}}?)\.\s{{0,9}}{_HOPE}", re.IGNORECASE)
_BEGUN = re.compile(r"\\boxed\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\Z")
"""A box that a data set forgot to close."""
_HOPED = re.compile(rf"{_HOPE}\s*\Z", re.IGNORECASE)
_WORD = re.compile(r"[A-Za-z]+")
_UNITS = re.compile(r"\\(?:text|mathrm|textrm|mbox|textbf)\{([^{}]*)\}")
_CHANGES = frozenset(
    listed(
        "or but if not plus minus times mod modulo cubed squared factorial half halves third thirds dozen dozens hundred thousand million"
        " billion trillion hundredths tenths below above less fewer more wrong incorrect maybe perhaps actually wait unless except"
        " pi sqrt sin cos tan log ln percentile root power over isn doesn never instead rather no nor base quarters quarter score"
    )
)


def _may_follow(behind: str) -> bool:
    """Whether what stands behind a box ends the answer: nothing, a unit, or a few words without numbers on the same line."""
    closers = _CLOSERS.match(behind)
    rest = behind[closers.end() if closers else 0 :]
    if not rest:
        return True
    if len(rest) > 100:
        return False
    rest = _HOPED.sub("", rest)
    rest = _UNITS.sub(r" \1 ", rest)
    rest = re.sub(r"\s*\$?\s*\^", "^", rest)
    rest = _SOME_CLOSERS.sub(" ", rest).strip() if "\n" not in rest else rest
    rest = re.sub(r"(?<=[A-Za-z])(?:\^\{?[23]\}?|[²³])|\^\{?\\circ\}?|°|\\%|%", "", rest)
    words = [word.lower() for word in _WORD.findall(rest)]
    if re.search(r"[0-9=<>^_+*!\\{}\n]", rest) or not _CHANGES.isdisjoint(words):
        return False
    return not words or len(words[0]) > 1 or words[0] in "mgslhc" or words[0] == "a"


def _stated(held: str) -> str:
    """What a box holds. Where that is a whole text, what it ends with: Minerva's line, or its last sentence."""
    if len(held) <= LONGEST and "inal answer" not in held.lower():
        return held
    held = without_ends(held)
    return _final(held) or _SENTENCE.split(held.strip())[-1]


_SENTENCE = re.compile(r"(?<=[a-z)$0-9])\.\s+(?=[A-Z])|\n|(?:[Ff]inal )?[Aa]nswer:\s")


def _final(text: str) -> str | None:
    at = text[-600:].lower().rfind("final answer:")
    found = _FINAL.match(text[-600:][at:]) if at >= 0 else None
    return (found["said"] or found["stated"]).strip() if found else None


def right_answer(text: str) -> str:
    """The answer in the text of a data set's answer: behind its last `####`, in its last box, or all of it."""
    if HASHES in text:
        return text.rpartition(HASHES)[2].strip()
    if (box := _boxed(text)) is not None:
        return undoubled(box[0].strip())
    if (begun := _BEGUN.search(undoubled(text))) is not None:
        return begun[1].strip()
    stated = _HOPED_FOR.findall(text) if len(text) > LONGEST else []
    return undoubled(stated[-1] if stated else text).strip()


def _behind_mark(text: str) -> str | None:
    """Everything behind the last tag or the last `####`, whichever comes later."""
    places = [(text.rfind(mark), len(mark)) for mark in (TAG, HASHES) if mark in text]
    return text[sum(max(places)) :] if places else None
