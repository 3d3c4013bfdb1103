"""Tasks whose own reference answer fails their tests, and tasks whose tests nothing could pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kolmocli.sandbox.base import Sandbox
from kolmocli.tasks.code.judge import Planned
from kolmocli.tasks.code.task import CodeTask
from kolmocli.tasks.judging import judge
from kolmocli.tasks.outcome import Outcome, Terms
from kolmocli.tasks.reward import Relative

_TERMS = Terms(Relative(0.0))


def failing_references(tasks: Sequence[CodeTask], sandbox: Sandbox) -> list[tuple[CodeTask, str]]:
    """Each of them with why, in one line. References are judged like any solution; a task without one is named when its
    tests cannot be used. A reference that the sandbox could not run says nothing."""
    shared = [replace(task, credit="share", index=number) for number, task in enumerate(tasks)]
    outcomes = judge(shared, [task.reference or "" for task in tasks], sandbox, _TERMS)
    found = [(task, _why(task, outcome)) for task, outcome in zip(tasks, outcomes, strict=True)]
    return [(task, why) for task, why in found if why is not None]


def _why(task: CodeTask, outcome: Outcome) -> str | None:
    if outcome.reward is None and isinstance(task.tests, Planned) and task.tests.unusable:
        return f"its tests cannot be used: {task.tests.unusable}"
    if task.reference is None or outcome.passed or outcome.reward is None:
        return None
    ended = f" and ends with {outcome.status}" if not outcome.executable else ""
    return f"its reference passes {outcome.reward:.0%} of its tests{ended}"
