"""A question whose right answer is one integer, in words and step by step."""

from __future__ import annotations

from dataclasses import dataclass

from kolmocli.sandbox.base import Job, Status, Verdict
from kolmocli.tasks.answers.parsing import extract_answer, is_tagged, strict_answer
from kolmocli.tasks.base import Attempt, Language, Task
from kolmocli.tasks.outcome import Outcome, Terms
from kolmocli.tasks.reward import RewardRule


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerTask(Task):
    """It passes strictly: the tag and the right number end the text."""

    answer: int
    language: Language = "text"

    @property
    def length(self) -> int:
        """The same for all: a question is short."""
        return 1

    def attempt(self, text: str, terms: Terms) -> Attempt:
        return AnswerAttempt(self.answer, text, terms.rule)


@dataclass(frozen=True, slots=True)
class AnswerAttempt:
    """An answer in words. Whatever does not end with the tag and a number is a SYNTAX error."""

    answer: int
    text: str
    rule: RewardRule

    @property
    def job(self) -> Job | None:
        return None

    def outcome(self, verdict: Verdict | None) -> Outcome:
        strict, found = strict_answer(self.text), extract_answer(self.text)
        passed = strict == self.answer
        return Outcome(
            self.text, self.text.count("\n") + 1, passed, Status.SYNTAX if strict is None else Status.OK,
            self.rule.success(0.0) if passed else self.rule.failure, is_tagged(self.text),
            value=None if found is None else (found,), lenient=found == self.answer,
        )  # fmt: skip
