"""Before a run: which families have reference answers that fail their own judge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from kolmocli.config.machine import SandboxSection
from kolmocli.curriculum.base import Bucket
from kolmocli.engine.references import failing_buckets
from kolmocli.tasks.base import Task, TaskSource

SANDBOX = SandboxSection.model_validate({"backend": "embedded", "workers": 1})


class Source:
    """Tasks by bucket and index, and how often one was made."""

    split = "train"

    def __init__(self, tasks: dict[Bucket, Sequence[Task]]) -> None:
        self.tasks, self.made = tasks, 0

    def buckets(self) -> list[Bucket]:
        return list(self.tasks)

    def task(self, bucket: Bucket, index: int) -> Task:
        self.made += 1
        return self.tasks[bucket][index]

    def size(self, bucket: Bucket) -> int | None:
        return len(self.tasks[bucket])


def failing(tasks: dict[Bucket, Sequence[Task]], sandbox: SandboxSection | None = SANDBOX) -> dict[Bucket, str]:
    source: Any = Source(tasks)
    checked: TaskSource = source
    return failing_buckets(checked, sandbox, "embedded")


def asked(bucket: Bucket, reference: str | None, **more: Any) -> Task:
    return Task(prompt="?", bucket=bucket, reference=reference, check=lambda value: value in ("yes", 7), **more)


def test_programs_and_answers_are_judged_by_their_own_check() -> None:
    words, broken, programs, wrong = (Bucket("f", level) for level in range(1, 5))
    found = failing(
        {
            words: [asked(words, "no", language="text"), asked(words, "yes", language="text")],
            broken: [asked(broken, "no", language="text")] * 2,
            programs: [asked(programs, "3 + 4")],
            wrong: [asked(wrong, "3 + 5", index=1)],
        }
    )
    assert list(found) == [broken, wrong], "one right answer shows that a grader works"
    assert found[wrong] == (
        "its own reference answers fail its judge (1 of 1), such as '3 + 5': the grader or the answer key is wrong"
    )


def test_without_a_sandbox_only_words_are_judged() -> None:
    a, b = Bucket("f", 1), Bucket("f", 2)
    found = failing({a: [asked(a, "3 + 5")], b: [asked(b, "no", language="text")]}, None)
    assert list(found) == [b]


@pytest.mark.parametrize("task", [Task(prompt="?", reference="1"), Task(prompt="?", check=bool)])
def test_what_has_no_check_or_no_reference_is_passed_over(task: Task) -> None:
    assert failing({Bucket("f", 1): [task]}) == {}


def test_of_a_family_with_a_level_for_every_task_some_are_looked_at() -> None:
    tasks = {Bucket("f", n): [asked(Bucket("f", n), "no", language="text")] for n in range(1, 1001)}
    assert 32 <= len(failing(tasks)) <= 64
