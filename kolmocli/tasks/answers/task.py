"""A question whose answer is a number or a few words, in words and step by step.

What is paid for is the strict reading: the right answer where it was asked for, and nothing after it. What a reader would
take for the answer is measured beside it, so that a wrong form can be told from a wrong answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from kolmocli.sandbox.base import Job, Status, Verdict
from kolmocli.tasks.answers.comparison import bare, same
from kolmocli.tasks.answers.numbers import amount
from kolmocli.tasks.answers.places import has_form, holds, lenient_place, strict_place
from kolmocli.tasks.base import Attempt, Language, Task
from kolmocli.tasks.outcome import Outcome, Terms
from kolmocli.tasks.reward import RewardRule


@dataclass(frozen=True, slots=True)
class Reading:
    """What a text says about a question. `placed`: it ends with an answer where that was asked for, right or not."""

    placed: bool
    strict: bool
    lenient: bool
    formatted: bool
    """An answer stands where it was asked for, whatever comes after it."""
    number: int | None = None
    """That a lenient reader finds, where it is a whole one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerTask(Task):
    """It passes strictly: the right answer stands behind the tag or `####`, or in a box, and ends the text."""

    answer: int | str
    language: Language = "text"

    def read(self, text: str) -> Reading:
        right = str(self.answer)
        placed, found = strict_place(text), lenient_place(text, right)
        strict = placed is not None and same(placed, right)
        number = None if found is None else amount(bare(found))
        whole = number is not None and number.value.denominator == 1
        return Reading(
            placed is not None, strict, strict or (found is not None and holds(found, right)), has_form(text),
            int(number.value) if whole and number else None,
        )  # fmt: skip

    def attempt(self, text: str, terms: Terms) -> Attempt:
        return AnswerAttempt(self, text, terms.rule)


class Reader(Protocol):
    def read(self, text: str) -> Reading: ...


@dataclass(frozen=True, slots=True)
class AnswerAttempt:
    """An answer in words. Whatever does not end with an answer where that was asked for is a SYNTAX error."""

    task: Reader
    text: str
    rule: RewardRule

    @property
    def job(self) -> Job | None:
        return None

    def outcome(self, verdict: Verdict | None) -> Outcome:
        found = self.task.read(self.text)
        return Outcome(
            self.text, self.text.count("\n") + 1, found.strict, Status.OK if found.placed else Status.SYNTAX,
            self.rule.success(0.0) if found.strict else self.rule.failure, found.formatted,
            value=None if found.number is None else (found.number,), lenient=found.lenient,
        )  # fmt: skip
