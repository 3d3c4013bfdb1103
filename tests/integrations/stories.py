"""A family whose tasks a policy of random weights passes now and then, and whose judge fails at times, as sandboxes do."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import kolmocli as kolmo
from kolmocli.curriculum.base import Result
from kolmocli.integrations.course import Course, open_course
from kolmocli.sandbox.base import Job, Status, Verdict
from kolmocli.seeds import content_key
from kolmocli.tasks.base import Attempt, Task
from kolmocli.tasks.outcome import Outcome, Terms

LEVELS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class StoryTask(Task):
    def attempt(self, text: str, terms: Terms) -> Attempt:
        return Story(self, text)


@dataclass(frozen=True, slots=True)
class Story:
    """It passes by a hash of the text, the less often the higher the level. One in eight cannot be judged, and half of those that
    miss have broken the form."""

    task: Task
    text: str

    @property
    def job(self) -> Job | None:
        return None

    def outcome(self, verdict: Verdict | None) -> Outcome:
        key = content_key(f"{self.task.asked.text}/{self.text}")
        if key % 8 == 0:
            return Outcome(self.text, 1, False, Status.INFRA, None)
        passed = key // 8 % (self.task.bucket.level + 1) == 0
        return Outcome(self.text, 1, passed, Status.OK, float(passed), formatted=passed or key // 64 % 2 == 0)


def story(level: int, rng: random.Random) -> Task:
    return StoryTask(prompt=f"Tell {rng.randrange(10**6)} at {level}.")


class Listening(Course):
    """A course that notes what it was told, and what it judged."""

    def judge(self, tasks: Sequence[Task], texts: Sequence[str]) -> list[Outcome]:
        outcomes = Course.judge(self, tasks, texts)
        self.judged = [*getattr(self, "judged", []), *outcomes]
        return outcomes

    def observe(self, results: Sequence[Result]) -> list[str]:
        self.told = [*getattr(self, "told", []), list(results)]
        return Course.observe(self, results)


def open_stories(**settings: Any) -> Listening:
    kolmo.family("stories", levels=LEVELS, language="text")(
        story
    )  # here and not above: what a test registers goes with it
    course = open_course(
        {"families": {"stories": {}}, "reward": {"kind": "binary"}, "training": {"steps": 4}, **settings}
    )
    course.__class__ = Listening
    assert isinstance(course, Listening)
    course.told = []
    return course
