"""Tasks that are judged as a curriculum file says (`answers.judge`, `outputs.compare`)."""

from __future__ import annotations

from dataclasses import replace

from kolmocli.curriculum.base import Bucket
from kolmocli.language.program import Program
from kolmocli.tasks.answers.formulas import require
from kolmocli.tasks.answers.judges import JudgeName
from kolmocli.tasks.answers.task import AnswerTask
from kolmocli.tasks.base import Split, Task, TaskSource
from kolmocli.tasks.code.outputs import Compare
from kolmocli.tasks.code.scripts import Scripts
from kolmocli.tasks.code.task import CodeTask


def judged(source: TaskSource, judge: JudgeName, compare: Compare | None) -> TaskSource:
    """The same tasks. A question that names a judge of its own keeps it, and so does one with rules of its own; a script keeps
    the comparison of its outputs that it names.

    Raises:
        EnvironmentMissing: the judge is `math`, and math-verify is not installed.
    """
    if judge == "math":
        require()
    return source if judge == "auto" and compare is None else JudgedTasks(source, judge, compare)


def judged_task(task: Task, judge: JudgeName, compare: Compare | None) -> Task:
    if isinstance(task, AnswerTask) and task.judged_by is not None and task.judge == "auto":
        return replace(task, judge=judge)
    if compare and isinstance(task, CodeTask) and isinstance(task.tests, Scripts) and task.tests.asked:
        return replace(task, tests=replace(task.tests, compare=compare, asked=False))
    return task


class JudgedTasks:
    """All but what is taken for right is the source's."""

    def __init__(self, source: TaskSource, judge: JudgeName, compare: Compare | None) -> None:
        self.split: Split = source.split
        self._source, self._judge, self._compare = source, judge, compare

    def buckets(self) -> list[Bucket]:
        return self._source.buckets()

    def task(self, bucket: Bucket, index: int) -> Task:
        return judged_task(self._source.task(bucket, index), self._judge, self._compare)

    def size(self, bucket: Bucket) -> int | None:
        return self._source.size(bucket)

    def taught(self, bucket: Bucket) -> bool:
        return self._source.taught(bucket)

    def admits(self, program: Program, sequence: tuple[int, ...]) -> bool:
        return self._source.admits(program, sequence)
