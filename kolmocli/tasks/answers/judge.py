"""Answers in words, judged by their text: nothing is run, no sandbox is opened."""

from __future__ import annotations

from collections.abc import Sequence

from kolmocli.sandbox.base import Health, Status
from kolmocli.tasks.answers.parsing import extract_answer, is_tagged, strict_answer
from kolmocli.tasks.base import Task
from kolmocli.tasks.outcome import Outcome
from kolmocli.tasks.reward import RewardRule

NO_SANDBOX = "none"
"""The backend of a judge that runs nothing."""


class AnswerJudge:
    """Reads answers. One passes that ends with the tag and the right number; whatever ends otherwise is a SYNTAX error."""

    def __init__(self, rule: RewardRule) -> None:
        self._rule = rule

    def __call__(self, tasks: Sequence[Task], texts: Sequence[str]) -> list[Outcome]:
        return [self._read(task, text) for task, text in zip(tasks, texts, strict=True)]

    def _read(self, task: Task, text: str) -> Outcome:
        strict, lenient = strict_answer(text), extract_answer(text)
        passed = (strict,) == task.target
        return Outcome(
            text, len(text.split("\n")), passed, Status.SYNTAX if strict is None else Status.OK,
            self._rule.success(0.0, 1.0) if passed else self._rule.failure, is_tagged(text),
            value=None if lenient is None else (lenient,),
        )  # fmt: skip

    def health(self) -> Health:
        return Health(NO_SANDBOX)

    def close(self) -> None:
        pass
