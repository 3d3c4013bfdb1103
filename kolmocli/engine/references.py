"""Before a run or an evaluation: do its tasks hold what they promise, and does a right answer pass?"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from itertools import groupby

from kolmocli.config.machine import SandboxSection
from kolmocli.curriculum.base import Bucket
from kolmocli.engine.judging import fitted, open_run_sandbox
from kolmocli.sandbox.base import Sandbox
from kolmocli.sandbox.opening import Backend
from kolmocli.tasks.base import Task, TaskSource
from kolmocli.tasks.chat import judged_text
from kolmocli.tasks.code.task import CodeTask
from kolmocli.tasks.files.references import named_failing
from kolmocli.tasks.files.settings import Data
from kolmocli.tasks.judging import judge
from kolmocli.tasks.outcome import Terms
from kolmocli.tasks.reward import Relative
from kolmocli.tasks.sources import read_file, silent

_TASKS = 4
"""References of a bucket that are judged."""
_BUCKETS = 32
"""Buckets of a family that are looked at, evenly over its levels: a file may make every task a level."""
_TERMS = Terms(Relative(0.0))


def check_references(
    data: Data, names: list[str], sandbox: SandboxSection, backend: Backend, warn: Callable[[str], None]
) -> None:
    """Name the code tasks of these files whose reference fails their tests. A sandbox is opened where there are any.

    Raises:
        UsageError: with `data.strict`, there is one.
        EnvironmentMissing: the sandbox that was asked for is not there.
    """
    tasks = {name: [each.task for each in read_file(name, data, silent).listed] for name in names}
    if not any(isinstance(task, CodeTask) for listed in tasks.values() for task in listed):
        return
    fit, most = fitted(sandbox, (task for listed in tasks.values() for task in listed))
    assert fit is not None
    with open_run_sandbox(fit, backend, warn, most) as opened:
        for name, listed in tasks.items():
            named_failing(name, listed, opened, warn, strict=data.strict)


def failing_buckets(source: TaskSource, sandbox: SandboxSection | None, backend: Backend) -> dict[Bucket, str]:
    """Buckets of which every reference answer that is looked at fails its own judge, and why, in words: the grader is broken, or
    the key is. The first tasks of each bucket are judged: answers in words, and programs of families of one's own, for which a
    sandbox is opened. References that the small language or a file's tests come with are checked elsewhere.

    Raises:
        EnvironmentMissing: the sandbox that was asked for is not there.
    """
    tasks = [task for bucket in _some(source.buckets()) for task in _referenced(source, bucket)]
    if sandbox is None:
        tasks = [task for task in tasks if task.language == "text"]
    programs = [task for task in tasks if task.language != "text"]
    with ExitStack() as stack:
        opened: Sandbox | None = None
        fit, most = fitted(sandbox, programs)
        if fit is not None and programs:
            opened = stack.enter_context(open_run_sandbox(fit, backend, silent, most))
        outcomes = judge(tasks, [judged_text(task, task.reference or "") for task in tasks], opened, _TERMS)
    passed: dict[Bucket, list[bool]] = {}
    for task, outcome in zip(tasks, outcomes, strict=True):
        if outcome.reward is not None:  # what could not be judged says nothing
            passed.setdefault(task.bucket, []).append(outcome.passed)
    first = {task.bucket: task.reference for task in reversed(tasks)}
    return {
        bucket: f"its own reference answers fail its judge ({len(each)} of {len(each)}), such as {_short(first[bucket])}: "
        "the grader or the answer key is wrong"
        for bucket, each in passed.items()
        if not any(each)
    }


def _some(buckets: Sequence[Bucket]) -> Iterator[Bucket]:
    for _, of_family in groupby(buckets, key=lambda bucket: bucket.family):
        levels = list(of_family)
        yield from levels[:: max(1, len(levels) // _BUCKETS)]


def _referenced(source: TaskSource, bucket: Bucket) -> list[Task]:
    """The first tasks of a bucket that have a reference and a judge that is looked at here."""
    size, found = source.size(bucket), list[Task]()
    for index in range(_TASKS if size is None else min(_TASKS, size)):
        task = source.task(bucket, index)
        if (type(task) is Task and task.check is None) or not (type(task) is Task or task.language == "text"):
            break
        found += [task] if task.reference is not None else []
    return found


def _short(text: str | None) -> str:
    return repr(textwrap.shorten(text or "", 60, placeholder=" …"))
