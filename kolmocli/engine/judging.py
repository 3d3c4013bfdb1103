"""The judge of a run or an evaluation, from its configuration."""

from __future__ import annotations

from collections.abc import Callable

from kolmocli.config import Config
from kolmocli.config.machine import SandboxSection
from kolmocli.errors import UsageError
from kolmocli.sandbox import Limits, Sandbox, open_sandbox
from kolmocli.sandbox.opening import Backend
from kolmocli.tasks.judging import SandboxJudge
from kolmocli.tasks.outcome import Terms
from kolmocli.tasks.reward import reward_rule


def open_judge(config: Config, backend: Backend, warn: Callable[[str], None]) -> SandboxJudge:
    """A judge for all families; a sandbox, of `backend`, is opened only where programs are written.

    Raises:
        EnvironmentMissing: the sandbox that was asked for is not there.
        UsageError: a sandbox was asked for by name where nothing is run.
    """
    terms = Terms(reward_rule(config.reward), config.training.max_lines)
    if config.runs_programs:
        return SandboxJudge(open_run_sandbox(config.sandbox, backend, warn), terms)
    if backend != "auto":
        raise UsageError(f"sandbox {backend}: answers in words are not run, no sandbox is opened; leave it out")
    return SandboxJudge(None, terms)


def open_run_sandbox(asked: SandboxSection, backend: Backend, warn: Callable[[str], None]) -> Sandbox:
    """The sandbox that a configuration describes, of this backend."""
    limits = Limits(asked.cpu_ms, asked.wall_ms, asked.memory_mb)
    return open_sandbox(backend, limits=limits, workers=asked.workers or None, warn=warn, runtime=asked.runtime)
