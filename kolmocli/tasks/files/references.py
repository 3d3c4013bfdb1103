"""Reference answers of code tasks, judged by the tests that they come with: one that fails says that the task is wrong, or
that it needs something that the sandbox does not have."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kolmocli.sandbox.base import Sandbox
from kolmocli.tasks.base import Task
from kolmocli.tasks.code.references import failing_references
from kolmocli.tasks.code.task import CodeTask
from kolmocli.tasks.files.problems import Problems


def named_failing(
    name: str, tasks: Sequence[Task], sandbox: Sandbox | None, warn: Callable[[str], None], *, strict: bool
) -> int:
    """How many references of a file fail their own tests. Each is named; the tasks are kept, for it is the tests that
    count.

    Raises:
        UsageError: with `strict`, one does.
    """
    code = [task for task in tasks if isinstance(task, CodeTask) and task.reference is not None]
    if not code or sandbox is None:
        return 0
    problems = Problems(name, warn, strict)
    for task, why in failing_references(code, sandbox):
        who = task.task_id or " ".join(task.asked.text.split())[:60]
        problems.bad(f"task {who}", f"its reference fails its own tests: {why}", left_out=False)
    problems.close("all tasks")
    return problems.count
