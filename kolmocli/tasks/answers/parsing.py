"""The number in an answer to a digit task: strictly, as training pays for it, and as any reader would find it."""

from __future__ import annotations

import re

TAG = "[ANSWER]"
_LONGEST = 18
"""Digits of a number: longer ones answer nothing, and are not worth the time to read."""
_NUMBER = rf"(?<![0-9])(-?[0-9]{{1,{_LONGEST}}})(?![0-9])"
_TAGGED = re.compile(rf"\[ANSWER\][ \t]*{_NUMBER}")
_LAST_THING = re.compile(rf"{_TAGGED.pattern}\s*\Z")
_CHAIN = (_TAGGED, re.compile(rf"(?:\banswer is|=)[ \t]*+:?[ \t]*+{_NUMBER}", re.IGNORECASE), re.compile(_NUMBER))


def strict_answer(text: str) -> int | None:
    """The number after the tag, where that is the last thing in the text; None else."""
    found = _LAST_THING.search(text)
    return int(found[1]) if found else None


def extract_answer(text: str) -> int | None:
    """The number that a reader would take for the answer, None where there is none.

    After the tag; without one after "the answer is" or "="; else the last number. The last of several counts.
    """
    for pattern in _CHAIN:
        if numbers := pattern.findall(text):
            return int(numbers[-1])
    return None


def is_tagged(text: str) -> bool:
    """Whether the tag stands somewhere before a number: the format that was asked for."""
    return _TAGGED.search(text) is not None
