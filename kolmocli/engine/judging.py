"""The judge of a run or an evaluation, from what a configuration says of rewards and the sandbox."""

from __future__ import annotations

from collections.abc import Callable

from kolmocli.config.machine import SandboxSection
from kolmocli.errors import UsageError
from kolmocli.sandbox import Limits, open_sandbox
from kolmocli.tasks.judging import SandboxJudge
from kolmocli.tasks.outcome import Terms
from kolmocli.tasks.reward import Reward, reward_rule


def open_judge(
    reward: Reward, max_lines: int, sandbox: SandboxSection | None, backend: str, warn: Callable[[str], None]
) -> SandboxJudge:
    """A judge for all families; a sandbox, of `backend`, is opened only where programs are written, else it is None.

    Raises:
        EnvironmentMissing: the sandbox that was asked for is not there.
        UsageError: a sandbox was asked for by name where nothing is run.
    """
    terms = Terms(reward_rule(reward), max_lines)
    if sandbox is None:
        if backend != "auto":
            raise UsageError(f"sandbox {backend}: answers in words are not run, no sandbox is opened; leave it out")
        return SandboxJudge(None, terms)
    limits = Limits(sandbox.cpu_ms, sandbox.wall_ms, sandbox.memory_mb)
    opened = open_sandbox(backend, limits=limits, workers=sandbox.workers or None, warn=warn, runtime=sandbox.runtime)
    return SandboxJudge(opened, terms)
