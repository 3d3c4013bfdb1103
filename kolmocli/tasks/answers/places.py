"""Find the answer in a text: strictly, where it was asked for, and leniently, where a reader would look.

Three forms are asked for in the field: the tag of this project, GSM8K's `####`, and a box of LaTeX.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from kolmocli.tasks.answers.boxes import last_answer
from kolmocli.tasks.answers.comparison import bare, same
from kolmocli.tasks.answers.latex import LONGEST, last_box, undoubled
from kolmocli.tasks.answers.numbers import amount, first_number, last_number
from kolmocli.tasks.answers.parsing import TAG
from kolmocli.tasks.answers.symbols import first_turn, without_ends

HASHES = "####"
_TAGS = ("<answer>", "</answer>")
STATED = re.compile(r"(?i:the (?:final )?answer is)[: ]\s*((?:(?!\.\s)[^\n]){0,120}?\S)\.?\s*\Z")
"""A sentence at the end of a data set's answer or solution."""
_READ = 20_000
"""Characters at the end of a text that are looked at: an answer comes last, and texts of strangers may be long."""
_SAID = re.compile(r"\banswer(?: is\b|:)[ \t]*:?[ \t]*([^\n]+)", re.IGNORECASE)
_HOPE = r"I hope (?:it|this) is correct\.?"
_FINAL = re.compile(
    rf"Final Answer:\s{{0,9}}(?:The final answer is:?(?P<said>[^\n]{{1,300}}?)\.?\s{{0,9}}(?:{_HOPE})?|(?P<stated>[^\n]{{1,300}}?)\.?\s{{0,9}}{_HOPE})\s*\Z",
    re.IGNORECASE,
)
"""The line that Minerva's prompt asks for."""
_THOUGHTS = "think|thinking|thoughts?|reasoning|reason|scratch_?pad|analysis|reflection|reflect|inner_monologue|internal|seed:think|cot"
_OPENING = re.compile(
    rf"<\s?(?:{_THOUGHTS})\b[^<>]{{0,40}}(?<!/)>|<\|(?:begin_of_thought|thinking|START_THINKING)\|>|\[THINK\]|◁think▷|<\|channel\|>\s?analysis",
    re.IGNORECASE,
)
_CLOSING = re.compile(
    rf"</\s?(?:{_THOUGHTS})\s?>|<\|(?:end_of_thought|END_THINKING)\|>|</\|(?:begin_of_thought|thinking)\|>|\[/THINK\]|◁/think▷"
    r"|<\|channel\|>\s?final<\|message\|>",
    re.IGNORECASE,
)


def spoken(text: str) -> str:
    """Text behind its thoughts, up to the end token of a model. Empty where a thought never ended."""
    if not any(mark in text for mark in "<[◁"):
        return text
    ended = max((found.end() for found in _CLOSING.finditer(text)), default=0)
    begun = max((found.start() for found in _OPENING.finditer(text)), default=-1)
    return "" if begun >= ended and begun >= 0 else without_ends(first_turn(text[ended:]))


def strict_place(text: str) -> str | None:
    """Text where the answer was asked for, if nothing comes after it: behind the last tag or the last `####` on the
    same line, in the last `\\boxed{}`, behind which a unit or a few words may end the line, or where Minerva's prompt asks
    for it. None where none of these ends the text."""
    end = spoken(text)[-_READ:].rstrip()
    end = _within_tags(end)
    box = last_answer(end)
    if box is not None and box.stands:
        return _stated(box.held)
    final = _final(end)
    if final is not None:
        return final
    behind = _behind_mark(end)
    return behind.strip() if behind is not None and "\n" not in behind.strip() and behind.strip() else None


def _within_tags(end: str) -> str:
    """Text between `<answer>` and `</answer>` at the end, as an answer behind the tag of this project; the text itself
    without them."""
    if not end.endswith(_TAGS[1]):
        return end
    _, tag, held = end.removesuffix(_TAGS[1]).rpartition(_TAGS[0])
    return (held.rstrip() if last_box(held) else f"{TAG} {held.strip()}") if tag else end


def has_form(text: str) -> bool:
    """Whether something stands in one of these places, whatever comes after it."""
    end = spoken(text)[-_READ:]
    behind = _behind_mark(end)
    return last_box(end) is not None or (behind is not None and behind.strip() != "") or _final(end) is not None


def lenient_place(text: str, right: str) -> str | None:
    """The answer for a reader who knows the right answer's kind: the text in one of these places,
    else the text that is said to be the answer; else the last number where a number is asked for, and the last line where not."""
    end = spoken(text)[-_READ:].rstrip()
    box, behind = last_answer(end), _behind_mark(end)
    said = _SAID.findall(end)
    if behind is not None and behind.strip():
        return behind.strip().split("\n", 1)[0]
    if (final := _final(end)) is not None:
        return final
    hoped = list(_HOPED_FOR.finditer(end))
    if hoped and (box is None or hoped[-1].start() >= box.end):
        return hoped[-1][1].strip()
    if box is not None:
        return f"-{box.held.strip()}" if box.negated else _stated(box.held)
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


_IS = re.compile(r"\b(?:is|are)\s")
_LINE = 60
"""Characters of a last line that is more than an answer."""
_HOPED_FOR = re.compile(rf"final answer is:?\s{{0,9}}([^\n]{{1,200}}?)\.\s{{0,9}}{_HOPE}", re.IGNORECASE)
_BEGUN = re.compile(r"\\boxed\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\Z")
"""A box that a data set forgot to close."""


def _stated(held: str) -> str:
    """Contents of a box. Where that is a whole text, its end: Minerva's line, or its last sentence."""
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
    """The answer in the text of a data set's answer: within the tags that end it, behind its last `####`, in its last box, what
    it says last that the answer is, or all of it."""
    if text.rstrip().endswith(_TAGS[1]) and _TAGS[0] in text:
        text = text.rstrip().removesuffix(_TAGS[1]).rpartition(_TAGS[0])[2]
    if HASHES in text:
        return text.rpartition(HASHES)[2].strip()
    if (box := last_answer(text)) is not None:
        return undoubled(box.held.strip())
    if (said := STATED.search(text[-_READ:])) is not None:
        return undoubled(said[1]).strip()
    if (begun := _BEGUN.search(undoubled(text))) is not None:
        return begun[1].strip()
    stated = _HOPED_FOR.findall(text) if len(text) > LONGEST else []
    return undoubled(stated[-1] if stated else text).strip()


def _behind_mark(text: str) -> str | None:
    """Everything behind the last tag or the last `####`, whichever comes later."""
    places = [(text.rfind(mark), len(mark)) for mark in (TAG, HASHES) if mark in text]
    return text[sum(max(places)) :] if places else None
