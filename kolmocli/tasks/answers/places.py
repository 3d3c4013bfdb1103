"""Where in a text its answer stands: strictly, where it was asked for, and where a reader would look.

Three forms are asked for in the field: the tag of this project, GSM8K's `####`, and a box of LaTeX.
"""

from __future__ import annotations

import re

from kolmocli.tasks.answers.comparison import bare, same
from kolmocli.tasks.answers.latex import last_box
from kolmocli.tasks.answers.numbers import amount, first_number, last_number
from kolmocli.tasks.answers.parsing import TAG

HASHES = "####"
_AFTER_BOX = re.compile(r"[\s$.*]*+(?:\\[)\]])?[\s$.*]*+\Z")
_READ = 20_000
"""Characters at the end of a text that are looked at: an answer comes last, and texts of strangers may be long."""
_SAID = re.compile(r"\banswer(?: is\b|:)[ \t]*:?[ \t]*([^\n]+)", re.IGNORECASE)


def strict_place(text: str) -> str | None:
    """What stands where the answer was asked for, if nothing comes after it: behind the last tag or the last `####` on the
    same line, or in the last `\\boxed{}`. None where neither ends the text."""
    end = text[-_READ:].rstrip()
    box = last_box(end)
    if box is not None and _AFTER_BOX.match(end, box[1]):
        return box[0]
    behind = _behind_mark(end)
    return behind.strip() if behind is not None and "\n" not in behind.strip() and behind.strip() else None


def has_form(text: str) -> bool:
    """Whether something stands in one of the three places, whatever comes after it."""
    behind = _behind_mark(text[-_READ:])
    return last_box(text[-_READ:]) is not None or (behind is not None and behind.strip() != "")


def lenient_place(text: str, right: str) -> str | None:
    """What a reader who knows the right answer's kind would take for the answer: what stands in one of the three places,
    else what is said to be the answer; else the last number where a number is asked for, and the last line where not."""
    end = text[-_READ:].rstrip()
    box, behind = last_box(end), _behind_mark(end)
    said = _SAID.findall(end)
    if behind is not None and behind.strip():
        return behind.strip().split("\n", 1)[0]
    if box is not None:
        return box[0]
    if said:
        return str(said[-1])
    if amount(bare(right)) is not None:
        return last_number(end)
    return end.rsplit("\n", 1)[-1].strip() or None


def holds(place: str, right: str) -> bool:
    """Whether a reader finds the right answer in such a place: it is the right one, or begins with the right number."""
    if same(place, right):
        return True
    number = first_number(bare(place)) if amount(bare(right)) is not None and amount(bare(place)) is None else None
    return number is not None and same(number, right)


def right_answer(text: str) -> str:
    """The answer in the text of a data set's answer: behind its last `####`, in its last box, or all of it."""
    if HASHES in text:
        return text.rpartition(HASHES)[2].strip()
    box = last_box(text)
    return text.strip() if box is None else box[0].strip()


def _behind_mark(text: str) -> str | None:
    """Everything behind the last tag or the last `####`, whichever comes later."""
    places = [(text.rfind(mark), len(mark)) for mark in (TAG, HASHES) if mark in text]
    return text[sum(max(places)) :] if places else None
