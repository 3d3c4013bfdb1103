"""`kolmo eval --endpoint`: a prompted model, asked for programs as the KoLMogorov Test asks, and for answers to any other task."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Generator, Iterable
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

from kolmocli.console import warn
from kolmocli.errors import UsageError
from kolmocli.evaluation.baselines import Baselines
from kolmocli.evaluation.endpoint import Answer, Endpoint, Messages
from kolmocli.evaluation.foreign import Programs, all_judged, counting, cut_of, rescored
from kolmocli.evaluation.joined import report_of_samples, sandbox_for
from kolmocli.evaluation.predictions import Cut, PredictionWriter
from kolmocli.evaluation.prompt import program_messages
from kolmocli.evaluation.report import PLAIN, Reporting, full_report
from kolmocli.evaluation.rescoring import Candidate, rescore
from kolmocli.evaluation.selection import Wanted, select
from kolmocli.pace import Done, Pace
from kolmocli.tasks.base import Task
from kolmocli.tasks.chat import judged_text, messages
from kolmocli.tasks.files.references import named_failing
from kolmocli.tasks.sequences.task import SequenceTask, sequence_task


def evaluate_endpoint(
    endpoint: Endpoint,
    wanted: Wanted,
    programs: Programs,
    *,
    samples: int,
    save: str | None,
    reporting: Reporting = PLAIN,
    pace: Pace | None = None,
) -> dict[str, Any]:
    """The report of a prompted model: `samples` answers for every task. Programs of sequences are asked for with the
    benchmark's prompt, anything else as a chat model is asked in training.

    Raises:
        UsageError: nothing says which tasks to use, or, with `strict`, the reference answer of a task fails its own tests.
        KolmoError: the endpoint refuses or cannot be reached; answers that were saved by then are kept.
    """
    tasks = [_asked(task, i, programs) for i, task in enumerate(select(None, wanted, warn).tasks)]
    counts, pace = {"cut_off": 0}, pace or Pace()
    asked = [task for task in tasks for _ in range(samples)]
    if all(isinstance(task, SequenceTask) for task in tasks):
        with (
            pace.counting(len(asked), "answers") as done,
            contextlib.closing(_ask(endpoint, asked, cut_of(reporting), save, counts, done)) as answered,
            Baselines() as baselines,
        ):
            attempts = rescored(counting(answered, baselines), programs, warn, pace)
            facts = {"model": endpoint.model, "samples": samples, "language": programs.language, **counts}
            return {**facts, **full_report(attempts, samples, programs.language, reporting, baselines)}
    if reporting != PLAIN:
        raise UsageError("--kt-compatible and --search are for sequences, and not all of these tasks are")
    with (
        pace.counting(len(asked), "answers") as done,
        contextlib.closing(_ask(endpoint, asked, cut_of(reporting), save, counts, done)) as answered,
        contextlib.ExitStack() as stack,
    ):
        sandbox = sandbox_for(tasks, programs, warn, stack)
        named = wanted.data or str(wanted.curriculum)
        wrong = named_failing(named, tasks, sandbox, warn, strict=wanted.strict)
        attempts = all_judged(rescore(answered, sandbox))
        return {
            "model": endpoint.model, **report_of_samples(attempts, programs), **counts, "failing_references": wrong
        }  # fmt: skip


def _asked(task: Task, index: int, programs: Programs) -> Task:
    """The task as it is put to a prompted model, which writes Python and not the small language."""
    if isinstance(task, SequenceTask):
        return sequence_task(task.bucket, index, task.target, language=programs.language, modality=task.modality)
    return replace(task, index=index, task_id=task.task_id or f"{task.bucket}/{task.index}")


def _ask(
    endpoint: Endpoint,
    tasks: list[Task],
    cut: Cut,
    save: str | None,
    counts: dict[str, int],
    done: Done,
) -> Generator[Candidate, None, None]:
    writer = None if save is None else PredictionWriter(save)
    with endpoint.asking([_conversation(task) for task in tasks]) as answers:
        waiting = deque(zip(tasks, answers, strict=True))
        try:
            while waiting:
                task, answer = waiting[0][0], waiting[0][1].result()
                if writer is not None:
                    writer.write(task, answer.text)
                waiting.popleft()
                counts["cut_off"] += answer.cut_off
                done(1)
                yield Candidate(
                    task, cut(answer.text) if isinstance(task, SequenceTask) else judged_text(task, answer.text)
                )
        finally:
            if writer is not None:
                _write_rest(writer, waiting)


def _conversation(task: Task) -> Messages:
    return program_messages(task.target) if isinstance(task, SequenceTask) else messages(task)


def _write_rest(writer: PredictionWriter, waiting: Iterable[tuple[Task, Future[Answer]]]) -> None:
    """Save answers that came out of turn when asking ends early."""
    with contextlib.closing(writer):
        for task, answer in waiting:
            if answer.done() and answer.exception() is None:
                writer.write(task, answer.result().text)
