"""What a judge is: from what a policy wrote for some tasks to the outcomes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from kolmocli.config import Config
from kolmocli.errors import UsageError
from kolmocli.sandbox import open_sandbox
from kolmocli.sandbox.base import Health, Limits
from kolmocli.sandbox.opening import Backend
from kolmocli.tasks.answers.judge import AnswerJudge
from kolmocli.tasks.base import Task
from kolmocli.tasks.outcome import Outcome
from kolmocli.tasks.reward import reward_rule
from kolmocli.tasks.sequences.judge import SandboxJudge


class Judge(Protocol):
    """From what a policy wrote for some tasks to the outcomes, one per text, in order. Any thread may call it."""

    def __call__(self, tasks: Sequence[Task], texts: Sequence[str]) -> list[Outcome]: ...

    def health(self) -> Health: ...

    def close(self) -> None: ...


def open_judge(config: Config, backend: Backend, warn: Callable[[str], None]) -> Judge:
    """The judge of a run or an evaluation; only one of programs opens a sandbox, of `backend`.

    Raises:
        EnvironmentMissing: the sandbox that was asked for is not there.
        UsageError: a sandbox was asked for by name where nothing is run.
    """
    rule, asked = reward_rule(config.reward), config.sandbox
    if config.asks_questions:
        if backend != "auto":
            raise UsageError(f"sandbox {backend}: answers in words are not run, no sandbox is opened; leave it out")
        return AnswerJudge(rule)
    sandbox = open_sandbox(
        backend,
        limits=Limits(asked.cpu_ms, asked.wall_ms, asked.memory_mb),
        workers=asked.workers or None,
        warn=warn,
        runtime=asked.runtime,
    )
    return SandboxJudge(sandbox, rule, config.training.max_lines)
