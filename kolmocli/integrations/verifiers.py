"""The tasks of a curriculum as a taskset of verifiers, judged by their family, programs in the sandbox.

    from kolmocli.integrations.verifiers import KolmoTaskset, KolmoTasksetConfig

    taskset = KolmoTaskset(KolmoTasksetConfig(task={"curriculum": "digits"}))

docs/verifiers.md has a whole script, and how `--env.taskset.id` finds it.
"""

from __future__ import annotations

import asyncio
import atexit
import os
from collections.abc import Iterator
from functools import lru_cache
from itertools import count

import verifiers.v1 as vf

from kolmocli.curriculum.base import Bucket
from kolmocli.errors import KolmoError
from kolmocli.integrations.course import Course, open_course
from kolmocli.registry import load_plugin
from kolmocli.sandbox.opening import Backend
from kolmocli.tasks.base import Split, Task

__all__ = ["KolmoTaskset"]


class KolmoTaskConfig(vf.TaskConfig):
    """Settings that every process needs to make the tasks and to judge them."""

    curriculum: str = "quickstart"
    """A packaged curriculum, or a file that every worker can read."""
    sandbox: Backend = "auto"
    """Backend that runs programs."""
    plugins: tuple[str, ...] = ()
    """Files or modules with families of your own, as `kolmo train --plugin`."""


class KolmoTasksetConfig(vf.TasksetConfig):
    task: KolmoTaskConfig = KolmoTaskConfig()
    split: Split = "train"
    """`eval` has tasks that share nothing with those of `train`."""


class KolmoData(vf.TaskData):
    """Name of a task: the same name makes the same task in every process."""

    family: str
    level: int
    index: int
    split: Split


class KolmoTask(vf.Task[KolmoData, vf.State, KolmoTaskConfig]):
    """A question or a program to write. Nothing of the answer is in the data."""

    @property
    def key(self) -> str:
        return f"{self.data.split}/{self.data.family}/{self.data.level}/{self.data.index}"

    @vf.reward
    async def reward(self, trace: vf.Trace) -> float:
        """Reward of the curriculum for the last reply. The metric `passed` says whether it passed, `unread` whether it never
        reached the check.

        Raises:
            KolmoError: the sandbox lost the program; the trace then has an error, and is scored neither right nor wrong.
        """
        course = course_of(self.config)
        task = course.task(Bucket(self.data.family, self.data.level), self.data.index, self.data.split)
        (outcome,) = await asyncio.to_thread(course.judge, [task], [trace.last_reply])
        if outcome.reward is None:
            raise KolmoError(f"{self.key}: the sandbox lost the program: {outcome.status}")
        trace.record_metric("passed", float(outcome.passed))
        trace.record_metric("unread", float(outcome.unread))
        return outcome.reward


class KolmoTaskset(vf.Taskset[KolmoTask, KolmoTasksetConfig]):
    """All buckets in turn, without end."""

    INFINITE = True

    def load(self) -> Iterator[KolmoTask]:
        course, split = course_of(self.config.task, judges=False), self.config.split
        buckets = course.buckets(split)
        for turn in count():
            bucket = buckets[turn % len(buckets)]
            yield task_of(course.task(bucket, turn // len(buckets), split), self.config.task, split)


def task_of(task: Task, config: KolmoTaskConfig, split: Split) -> KolmoTask:
    """A task of a course, as verifiers has it. The beginning of an answer, where one is given, is not shown: an answer
    repeats it, or goes on from where it ends."""
    asked, bucket = task.asked, task.bucket
    data = KolmoData(
        prompt=asked.text, system_prompt=asked.system or None, family=bucket.family, level=bucket.level,
        index=task.index, split=split,
    )  # fmt: skip
    return KolmoTask(data, config)


def course_of(config: KolmoTaskConfig, judges: bool = True) -> Course:
    """The course of this process: opened once, closed at its end. One that only makes tasks has no sandbox."""
    return _opened(config.curriculum, config.sandbox, config.plugins, judges, os.getpid())


@lru_cache
def _opened(curriculum: str, sandbox: Backend, plugins: tuple[str, ...], judges: bool, process: int) -> Course:
    for plugin in plugins:
        load_plugin(plugin)
    course = open_course(curriculum, sandbox=sandbox, judges=judges)
    atexit.register(course.close)
    return course
