"""The one path from what a policy wrote to outcomes: run, confirm winners elsewhere, score.

Training, predictions and endpoints all judge here. The task says what is run and what its verdict means.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from kolmocli.sandbox.base import Health, Job, Sandbox, Verdict
from kolmocli.tasks.answers.task import AnswerAttempt, read_together
from kolmocli.tasks.base import Attempt, Task
from kolmocli.tasks.border import sound
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
    """The same for answers that have been read already. Formulas in answers are compared in one batch."""
    read_together([attempt for attempt in attempts if isinstance(attempt, AnswerAttempt)])
    places: list[Places] = [{} for _ in attempts]
    outcomes = _outcomes(attempts, places, sandbox)
    winners = [i for i, outcome in enumerate(outcomes) if outcome.passed and places[i]]
    again = _outcomes([attempts[i] for i in winners], [places[i] for i in winners], sandbox)
    for i, outcome in zip(winners, again, strict=True):
        outcomes[i] = outcome
    return outcomes


Places = dict[str, str]
"""The container in which each program of one attempt ran last, the first time: the second time it runs elsewhere."""


def _outcomes(attempts: Sequence[Attempt], places: Sequence[Places], sandbox: Sandbox | None) -> list[Outcome]:
    """From the first stage of each attempt to its last; what the attempts run in one stage is one batch."""
    outcomes: dict[int, Outcome] = {}
    first = not any(places)
    stages = dict(enumerate(attempts))
    while stages:
        jobs = {i: stage.job if first else _elsewhere(stage.job, places[i]) for i, stage in stages.items()}
        verdicts = dict(zip(jobs, _run(list(jobs.values()), sandbox), strict=True))
        said = {i: stage.outcome(verdicts[i]) for i, stage in stages.items()}
        for i, job in jobs.items():
            if first and job is not None and (verdict := verdicts[i]) is not None:
                places[i][job.program] = verdict.container
        outcomes |= {i: sound(end, _whose(attempts[i])) for i, end in said.items() if isinstance(end, Outcome)}
        stages = {i: stage for i, stage in said.items() if not isinstance(stage, Outcome)}
    return [outcomes[i] for i in range(len(attempts))]


def _whose(attempt: Attempt) -> str:
    """The bucket of its task, where it knows that."""
    task = getattr(attempt, "task", None)
    return str(task.bucket) if isinstance(task, Task) else type(attempt).__name__


def _elsewhere(job: Job | None, places: Places) -> Job | None:
    return replace(job, avoid=places[job.program]) if job is not None and job.program in places else job


def _run(jobs: Sequence[Job | None], sandbox: Sandbox | None) -> list[Verdict | None]:
    """A verdict per job, None without one. The same work, which a group often has, is done only once."""
    work = [None if job is None else replace(job, group=0, avoid=None) for job in jobs]
    different: dict[Job, Job] = {}
    for key, job in zip(work, jobs, strict=True):
        if key is not None and job is not None:
            different.setdefault(key, job)
    if not different:
        return [None] * len(jobs)
    assert sandbox is not None, "programs are judged by a judge with a sandbox"
    ran = dict(zip(different, sandbox.run(list(different.values())), strict=True))
    return [None if key is None else ran[key] for key in work]


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
