"""The judge of a run or an evaluation, from what a configuration says of rewards and the sandbox."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from kolmocli.config.machine import SandboxSection
from kolmocli.sandbox import Limits, Sandbox, open_sandbox
from kolmocli.sandbox.base import packages_for
from kolmocli.sandbox.opening import Backend
from kolmocli.tasks.base import Task
from kolmocli.tasks.code.limits import limits_for
from kolmocli.tasks.judging import SandboxJudge
from kolmocli.tasks.outcome import Terms
from kolmocli.tasks.reward import Reward, reward_rule


def open_judge(
    reward: Reward,
    max_lines: int,
    sandbox: SandboxSection | None,
    backend: Backend,
    warn: Callable[[str], None],
    most: Limits | None = None,
) -> SandboxJudge:
    """A judge for all families; `sandbox` is None where no programs are written, else one of `backend` is opened, in which a
    task may grant its programs up to `most`. `warn` gets a line where one was asked for by name and nothing is run.

    Raises:
        EnvironmentMissing: the sandbox that was asked for is not there.
    """
    terms = Terms(reward_rule(reward), max_lines, reward.form)
    if sandbox is not None:
        return SandboxJudge(open_run_sandbox(sandbox, backend, warn, most), terms)
    if backend != "auto":
        warn(f"sandbox {backend}: not opened, answers in words are not run")
    return SandboxJudge(None, terms)


def open_run_sandbox(
    asked: SandboxSection, backend: Backend, warn: Callable[[str], None], most: Limits | None = None
) -> Sandbox:
    """The sandbox that a configuration describes, of this backend."""
    return open_sandbox(
        backend, limits=usual_limits(asked), most=most, workers=asked.workers or None, warn=warn, runtime=asked.runtime,
        packages=asked.packages,
    )  # fmt: skip


def usual_limits(asked: SandboxSection) -> Limits:
    """The limits of a program whose task names none."""
    return Limits(asked.cpu_ms, asked.wall_ms, asked.memory_mb)


def fitted(asked: SandboxSection | None, tasks: Iterable[Task]) -> tuple[SandboxSection | None, Limits | None]:
    """The section with the languages that these tasks are written in, and the largest limits that one of them may grant."""
    if asked is None:
        return None, None
    tasks = list(tasks)
    packages = packages_for((task.language for task in tasks), asked.packages)
    return asked.model_copy(update={"packages": packages}), limits_for(tasks, usual_limits(asked))
