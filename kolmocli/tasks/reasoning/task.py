"""A question of reasoning-gym. What is paid for is an answer behind the tag, as its own scorer has it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kolmocli.sandbox.base import Job, Status, Verdict
from kolmocli.tasks.answers.parsing import TAG
from kolmocli.tasks.base import Attempt, Language, Task
from kolmocli.tasks.outcome import Outcome, Terms
from kolmocli.tasks.reward import RewardRule

Entry = Mapping[str, Any]
"""A question with its answer and what else the set noted, as reasoning-gym makes it."""
Scorer = Callable[[str, Entry], float]

_RIGHT = 1.0 - 1e-6
"""Scores go up to 1; what is below is a part of the answer, or its form."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasoningTask(Task):
    """It passes strictly: what stands behind the last tag, to the end of the text, scores all that there is."""

    entry: Entry = field(hash=False)
    scorer: Scorer = field(hash=False)
    language: Language = "text"

    def attempt(self, text: str, terms: Terms) -> Attempt:
        return ReasoningAttempt(self, text, terms.rule)

    def is_right(self, answer: str) -> bool:
        try:
            return float(self.scorer(answer, self.entry)) >= _RIGHT
        except Exception as error:  # scorers are written for answers of models, and stumble over some of them
            _log.debug("%s: the scorer raised %r on %.80r", self.bucket, error, answer)
            return False


@dataclass(frozen=True, slots=True)
class ReasoningAttempt:
    """An answer. Where nothing stands behind the tag it is a SYNTAX error."""

    task: ReasoningTask
    text: str
    rule: RewardRule

    @property
    def job(self) -> Job | None:
        return None

    def outcome(self, verdict: Verdict | None) -> Outcome:
        _, tag, behind = self.text.rpartition(TAG)
        placed = bool(tag and behind.strip())
        strict = placed and self.task.is_right(behind.strip())
        lenient = strict or any(map(self.task.is_right, _elsewhere(self.text, behind.strip())))
        return Outcome(
            self.text, self.text.count("\n") + 1, strict, Status.OK if placed else Status.SYNTAX,
            self.rule.success(0.0) if strict else self.rule.failure, placed, lenient=lenient,
        )  # fmt: skip


def _elsewhere(text: str, behind: str) -> list[str]:
    """Where a lenient reader looks too: the first line behind the tag, the last line, all of it."""
    places = (behind.split("\n", 1)[0], text.strip().rsplit("\n", 1)[-1], text.strip())
    return [place.strip() for place in places if place.strip()]
