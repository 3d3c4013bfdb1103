"""Reference answers of code tasks, judged by the tests that they come with: one that fails says that the task is wrong, or
that it needs something that the sandbox does not have."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from kolmocli.sandbox.base import Sandbox
from kolmocli.tasks.base import Task
from kolmocli.tasks.code.references import failing_references
from kolmocli.tasks.code.task import CodeTask
from kolmocli.tasks.files.problems import Problems


def named_failing(
    name: str, tasks: Iterable[Task], sandbox: Sandbox | None, warn: Callable[[str], None], *, strict: bool
) -> int:
    """Number of code tasks in a file whose reference fails their tests, or whose tests cannot be used. Each is named,
    and none is dropped: comparable results need the same tasks.

    Raises:
        UsageError: with `strict`, there is one.
    """
    code = [task for task in tasks if isinstance(task, CodeTask)]
    if not code or sandbox is None:
        return 0
    problems = Problems(name, warn, strict, named=math.inf)
    for task, why in failing_references(code, sandbox):
        who = task.task_id or " ".join(task.asked.text.split())[:60]
        problems.bad(f"task {who}", why, left_out=False)
    problems.close("all tasks")
    return problems.count
