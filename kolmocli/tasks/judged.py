"""Tasks whose questions are judged as a curriculum file says (`answers.judge`)."""

from __future__ import annotations

from dataclasses import replace

from kolmocli.curriculum.base import Bucket
from kolmocli.language.program import Program
from kolmocli.tasks.answers.formulas import require
from kolmocli.tasks.answers.judges import JudgeName
from kolmocli.tasks.answers.task import AnswerTask
from kolmocli.tasks.base import Split, Task, TaskSource


def judged(source: TaskSource, judge: JudgeName) -> TaskSource:
    """The same tasks. A question that names a judge of its own keeps it, and so does one with rules of its own.

    Raises:
        EnvironmentMissing: the judge is `math`, and math-verify is not installed.
    """
    if judge == "math":
        require()
    return source if judge == "auto" else JudgedTasks(source, judge)


class JudgedTasks:
    """All but the judge is the source's."""

    def __init__(self, source: TaskSource, judge: JudgeName) -> None:
        self.split: Split = source.split
        self._source, self._judge = source, judge

    def buckets(self) -> list[Bucket]:
        return self._source.buckets()

    def task(self, bucket: Bucket, index: int) -> Task:
        task = self._source.task(bucket, index)
        takes = isinstance(task, AnswerTask) and task.judged_by is not None and task.judge == "auto"
        return replace(task, judge=self._judge) if takes else task  # type: ignore[call-arg]

    def size(self, bucket: Bucket) -> int | None:
        return self._source.size(bucket)

    def taught(self, bucket: Bucket) -> bool:
        return self._source.taught(bucket)

    def admits(self, program: Program, sequence: tuple[int, ...]) -> bool:
        return self._source.admits(program, sequence)
