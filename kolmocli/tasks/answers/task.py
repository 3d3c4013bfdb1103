"""A question whose answer is a number or a few words, in words and step by step.

The reward follows the strict reading: the right answer where it was asked for, and nothing after it. What a reader would
take for the answer is measured too, so that a wrong form can be told from a wrong answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kolmocli.sandbox.base import Job, Status, Verdict
from kolmocli.tasks.answers.comparison import bare, same
from kolmocli.tasks.answers.formulas import FORMULAS, Collecting, described, judge_of
from kolmocli.tasks.answers.judges import JudgeName
from kolmocli.tasks.answers.numbers import amount
from kolmocli.tasks.answers.places import has_form, holds, lenient_place, strict_place
from kolmocli.tasks.answers.trees import Equal
from kolmocli.tasks.base import Attempt, Language, Task
from kolmocli.tasks.outcome import Outcome, Terms


@dataclass(frozen=True, slots=True)
class Reading:
    """Answer to a question, as found in a text. `placed`: it ends with an answer where that was asked for, right or not."""

    placed: bool
    strict: bool
    lenient: bool
    formatted: bool
    """An answer stands where it was asked for, whatever comes after it."""
    number: int | None = None
    """That a lenient reader finds, where it is a whole one."""
    limited: bool = False
    """A formula in it took more than its time or memory to compare; it is not taken for the right one."""
    fault: bool = False
    """A formula in it could not be compared, for no fault of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadTask(Task):
    """A question whose answer is read in the text."""

    language: Language = "text"

    def read(self, text: str, equal: Equal | None = None) -> Reading:
        """`equal` compares formulas, where an answer may be one; None: what this task has for that."""
        raise NotImplementedError

    def attempt(self, text: str, terms: Terms) -> Attempt:
        return AnswerAttempt(self, text, terms)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerTask(ReadTask):
    """It passes strictly: the right answer stands behind the tag or `####`, or in a box, and ends the text."""

    answer: int | str
    judge: JudgeName = "auto"
    """Name of the judge that compares answers."""

    def read(self, text: str, equal: Equal | None = None) -> Reading:
        """Raises EnvironmentMissing when the judge is `math`, and math-verify is not installed."""
        right = str(self.answer)
        asked = judge_of(self.judge)
        ask = equal if equal is not None and asked.works else asked
        placed, found = strict_place(text), lenient_place(text, right)
        strict = placed is not None and same(placed, right, self.judge, ask)
        limited = "limit" in asked.words
        lenient = strict or (found is not None and holds(found, right, lambda a, b: same(a, b, self.judge, ask)))
        number = None if found is None else amount(bare(found))
        whole = number is not None and number.value.denominator == 1
        return Reading(
            placed is not None, strict, lenient, has_form(text), int(number.value) if whole and number else None,
            limited and not strict, "fault" in asked.words and not strict,
        )  # fmt: skip

    @property
    def judged_by(self) -> str | None:
        """The judge by name and version. None for questions with rules of their own, which keep to no judge."""
        return described(self.judge)


@dataclass(slots=True)
class AnswerAttempt:
    """An answer in words. A text that does not end with an answer where that was asked for is a SYNTAX error. With the terms'
    `form: any` it is one only where a lenient reader finds neither the right answer nor a number."""

    task: ReadTask
    text: str
    terms: Terms
    reading: Reading | None = None
    """An earlier reading, for a batch of answers."""

    @property
    def job(self) -> Job | None:
        return None

    def outcome(self, verdict: Verdict | None) -> Outcome:
        found = self.reading or self.task.read(self.text)
        end = self.text.count("\n") + 1
        if found.fault:
            return Outcome(self.text, end, False, Status.INFRA, None)
        passed, placed, formatted, rule = found.strict, found.placed, found.formatted, self.terms.rule
        if self.terms.form == "any":
            passed = found.lenient
            placed = formatted = placed or passed or found.number is not None
        status = Status.OK if passed else Status.TLE_CPU if found.limited else Status.OK if placed else Status.SYNTAX
        return Outcome(
            self.text, end, passed, status, rule.success(0.0) if passed else rule.failure, formatted,
            value=None if found.number is None else (found.number,), lenient=found.lenient,
        )  # fmt: skip


def read_together(attempts: Sequence[AnswerAttempt]) -> None:
    """Read answers whose formulas are compared in one batch. An answer that meets with a fault is read again when its outcome is asked
    for."""
    left = [attempt for attempt in attempts if attempt.reading is None]
    for _ in range(_ROUNDS):
        asked = []
        for attempt in left:
            collecting = Collecting()
            reading = attempt.task.read(attempt.text, collecting)
            if collecting.pairs:
                asked.append((attempt, collecting.pairs))
            elif not collecting.limited:
                attempt.reading = reading
        if not asked:
            return
        if "fault" in FORMULAS.ask([pair for _, pairs in asked for pair in pairs]):
            return
        left = [attempt for attempt, _ in asked]


_ROUNDS = 4
"""Rounds of questions to math-verify: one may depend on the last, as in a chain of equations."""
