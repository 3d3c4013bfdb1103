"""A question of reasoning-gym. The reward is for an answer behind the tag, as its own scorer has it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kolmocli.tasks.answers.parsing import TAG
from kolmocli.tasks.answers.task import Reading, ReadTask
from kolmocli.tasks.answers.trees import Equal

Entry = Mapping[str, Any]
"""A question with its answer and what else the set noted, as reasoning-gym makes it."""
Scorer = Callable[[str, Entry], float]

_RIGHT = 1.0 - 1e-6
"""Scores go up to 1; what is below is a part of the answer, or its form."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasoningTask(ReadTask):
    """It passes strictly: what stands behind the last tag, to the end of the text, scores all that there is."""

    entry: Entry = field(hash=False)
    scorer: Scorer = field(hash=False)

    def read(self, text: str, equal: Equal | None = None) -> Reading:
        _, tag, behind = text.rpartition(TAG)
        placed = bool(tag and behind.strip())
        strict = placed and self.is_right(behind.strip())
        lenient = strict or any(map(self.is_right, _elsewhere(text, behind.strip())))
        return Reading(placed, strict, lenient, formatted=placed)

    def is_right(self, answer: str) -> bool:
        try:
            return float(self.scorer(answer, self.entry)) >= _RIGHT
        except Exception as error:  # scorers are written for answers of models, and stumble over some of them
            _log.debug("%s: the scorer raised %r on %.80r", self.bucket, error, answer)
            return False


def _elsewhere(text: str, behind: str) -> list[str]:
    """Places where a lenient reader looks too: the first line behind the tag, the last line, all of it."""
    places = (behind.split("\n", 1)[0], text.strip().rsplit("\n", 1)[-1], text.strip())
    return [place.strip() for place in places if place.strip()]
