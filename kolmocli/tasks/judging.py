"""The one path from what a policy wrote to outcomes: run, confirm winners elsewhere, score.

Training, predictions and endpoints all judge here. What is run and what its verdict comes to is the task's to say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from kolmocli.sandbox.base import Health, Job, Sandbox, Verdict
from kolmocli.tasks.base import Attempt, Task
from kolmocli.tasks.outcome import Outcome, Terms

NO_SANDBOX = "none"
"""The backend where nothing is run."""


class Judge(Protocol):
    """From what a policy wrote for some tasks to the outcomes, one per text, in order. Any thread may call it."""

    def __call__(self, tasks: Sequence[Task], texts: Sequence[str]) -> list[Outcome]: ...

    def health(self) -> Health: ...

    def close(self) -> None: ...


def judge(tasks: Sequence[Task], texts: Sequence[str], sandbox: Sandbox | None, terms: Terms) -> list[Outcome]:
    """Run `texts[i]` for `tasks[i]`, all in one batch, and score them.

    A winner is run once more, in another container, before it is paid: what passed by luck, or by something left over
    from another program, does not pass twice. Answers in words are not run; only for them `sandbox` may be None.
    """
    return judge_attempts([task.attempt(text, terms) for task, text in zip(tasks, texts, strict=True)], sandbox)


def judge_attempts(attempts: Sequence[Attempt], sandbox: Sandbox | None) -> list[Outcome]:
    """The same for answers that have been read already."""
    jobs = [attempt.job for attempt in attempts]
    verdicts = _run(jobs, sandbox)
    outcomes = [attempt.outcome(verdict) for attempt, verdict in zip(attempts, verdicts, strict=True)]
    winners = [i for i, outcome in enumerate(outcomes) if outcome.passed and jobs[i] is not None]
    again = _run([_elsewhere(jobs[i], verdicts[i]) for i in winners], sandbox)
    for i, verdict in zip(winners, again, strict=True):
        outcomes[i] = attempts[i].outcome(verdict)
    return outcomes


def _elsewhere(job: Job | None, verdict: Verdict | None) -> Job | None:
    return None if job is None or verdict is None else replace(job, avoid=verdict.container)


def _run(jobs: Sequence[Job | None], sandbox: Sandbox | None) -> list[Verdict | None]:
    """A verdict per job, None without one. The same program, which a group often has, is run only once."""
    different: dict[tuple[str, str], Job] = {}
    for job in jobs:
        if job is not None:
            different.setdefault((job.program, job.language), job)
    if not different:
        return [None] * len(jobs)
    assert sandbox is not None, "programs are judged by a judge with a sandbox"
    ran = dict(zip(different, sandbox.run(list(different.values())), strict=True))
    return [None if job is None else ran[job.program, job.language] for job in jobs]


class SandboxJudge:
    """`judge` on terms that stay, in a sandbox that is its own to close; None where all tasks are answered in words."""

    def __init__(self, sandbox: Sandbox | None, terms: Terms) -> None:
        self.sandbox, self._terms = sandbox, terms

    def __call__(self, tasks: Sequence[Task], texts: Sequence[str]) -> list[Outcome]:
        return judge(tasks, texts, self.sandbox, self._terms)

    def health(self) -> Health:
        return Health(NO_SANDBOX) if self.sandbox is None else self.sandbox.health()

    def close(self) -> None:
        if self.sandbox is not None:
            self.sandbox.close()
