"""Questions of reasoning-gym's sets, random-access by (bucket, index).

An item of a set is made from one seed. Training has the even seeds and evaluation the odd ones; and a tenth of the
questions, chosen by a hash, is asked in evaluation only, since two seeds may well make one question.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from itertools import takewhile
from typing import Any

from kolmocli.curriculum.base import Bucket
from kolmocli.errors import UsageError
from kolmocli.seeds import content_key
from kolmocli.tasks.answers.parsing import TAG
from kolmocli.tasks.base import Language, Prompt, Split
from kolmocli.tasks.family import Family, families, is_held_out
from kolmocli.tasks.files.separation import Taken
from kolmocli.tasks.reasoning.sets import PREFIX, reasoning_set
from kolmocli.tasks.reasoning.settings import Reasoning
from kolmocli.tasks.reasoning.task import ReasoningTask

_ATTEMPTS = 2_000
_SEEDS = 2**31
"""Seeds of items stay below this: some sets hand them to numpy."""
_COMPARED = 32
"""Questions of each of the two lowest levels that tell what all of them share."""

_SYSTEM = f"""\
You answer questions. Think first, in as many lines as you need. Then write "{TAG} " with the answer alone, exactly in the \
form that was asked for, and nothing after it."""


class ReasoningTasks(Family):
    """The tasks of one section."""

    def __init__(self, name: str, settings: Reasoning, split: Split, seed: int) -> None:
        self._name, self._settings, self._split, self._seed = name, settings, split, seed
        self._opened: dict[int, Any] = {}

    def task(self, level: int, index: int) -> ReasoningTask:
        """Raises UsageError when no question of this level is left for the split."""
        bucket, dataset = Bucket(self._name, level), self._at(level)
        for attempt in range(_ATTEMPTS):
            key = content_key(f"{self._seed}/{bucket}/{index}/{attempt}") % (_SEEDS // 2)
            entry = dataset[2 * key + (self._split == "eval")]
            if is_held_out(entry["question"]) == (self._split == "eval"):
                return self._asked(entry, dataset, bucket, index)
        raise UsageError(
            f"families.{self._name}: level {level}: {self._split}: no question is left in {_ATTEMPTS:,} tries; a tenth "
            "of them is held out for evaluation, so choose a level with more different ones"
        )

    def _at(self, level: int) -> Any:
        if level not in self._opened:
            self._opened[level] = self._settings.at(level)
        return self._opened[level]

    def _asked(self, entry: dict[str, Any], dataset: Any, bucket: Bucket, index: int) -> ReasoningTask:
        question, answer = str(entry["question"]).strip(), entry["answer"]
        return ReasoningTask(
            prompt=Prompt(question, _SYSTEM, f"{self._name} {self._told(question)}"), entry=entry,
            scorer=dataset.score_answer, reference=None if answer is None else f"{TAG} {answer}",
            bucket=bucket, index=index,
        )  # fmt: skip

    def _told(self, question: str) -> str:
        """A question without the words that all of them begin and end with: what a policy that learns from nothing reads."""
        begin, end = self._shared
        return question.removeprefix(begin).removesuffix(end).strip()

    @cached_property
    def _shared(self) -> tuple[str, str]:
        levels = range(1, min(2, self._settings.level_count) + 1)
        asked = [str(self._at(level)[2 * i]["question"]).strip() for level in levels for i in range(_COMPARED)]
        begin = _beginning(asked)
        rest = [text.removeprefix(begin)[::-1] for text in asked]
        return begin, _beginning(rest)[::-1]


def _beginning(texts: Sequence[str]) -> str:
    """The whole words that all of these begin with, and the white space behind them."""
    same = takewhile(lambda characters: len(set(characters)) == 1, zip(*texts, strict=False))
    return re.sub(r"\S*\Z", "", "".join(characters[0] for characters in same))


class ReasoningKind:
    """One set of reasoning-gym as a kind of task."""

    settings = Reasoning
    language: Language = "text"

    def __init__(self, name: str) -> None:
        self.name = f"{PREFIX}/{reasoning_set(name).name}"

    def open(self, bucket_family: str, settings: Reasoning, split: Split, seed: int, taken: Taken) -> ReasoningTasks:
        return ReasoningTasks(bucket_family, settings, split, seed)


families.add_many(PREFIX, ReasoningKind)
