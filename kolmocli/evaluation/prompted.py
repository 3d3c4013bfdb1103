"""`kolmo eval --endpoint`: a prompted model, asked as the KoLMogorov Test asks."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Generator, Iterable
from concurrent.futures import Future
from typing import Any

from kolmocli.console import warn
from kolmocli.errors import UsageError
from kolmocli.evaluation.baselines import Baselines
from kolmocli.evaluation.endpoint import Answer, Endpoint
from kolmocli.evaluation.foreign import Programs, counting, cut_of, rescored, teller
from kolmocli.evaluation.predictions import Cut, PredictionWriter
from kolmocli.evaluation.report import PLAIN, Reporting, full_report
from kolmocli.evaluation.rescoring import Candidate
from kolmocli.evaluation.selection import Wanted, select
from kolmocli.tasks.sequences.task import SequenceTask, sequence_task


def evaluate_endpoint(
    endpoint: Endpoint,
    wanted: Wanted,
    programs: Programs,
    *,
    samples: int,
    save: str | None,
    reporting: Reporting = PLAIN,
) -> dict[str, Any]:
    """The report of a prompted model: `samples` answers for every task, asked for with the benchmark's prompt.

    Raises:
        UsageError: nothing that says which tasks to use.
        KolmoError: the endpoint refuses or cannot be reached; answers that were saved by then are kept.
    """
    selection = select(None, wanted, warn)
    tasks = [task for task in selection.tasks if isinstance(task, SequenceTask)]
    if len(tasks) < len(selection.tasks):
        raise UsageError(
            f"{wanted.data or wanted.curriculum}: an endpoint is asked for programs of sequences, and not all of these "
            "tasks are; judge its answers with --data and --predictions"
        )
    asked = [
        sequence_task(t.bucket, i, t.target, language=programs.language, modality=t.modality)
        for i, t in enumerate(tasks)
        for _ in range(samples)
    ]
    counts = {"cut_off": 0}
    answered = _ask(endpoint, asked, cut_of(reporting), save, counts)
    with contextlib.closing(answered), Baselines() as baselines:
        attempts = rescored(counting(answered, baselines), programs, warn)
        facts = {"model": endpoint.model, "samples": samples, "language": programs.language, **counts}
        return {**facts, **full_report(attempts, samples, programs.language, reporting, baselines)}


def _ask(
    endpoint: Endpoint,
    tasks: list[SequenceTask],
    cut: Cut,
    save: str | None,
    counts: dict[str, int],
) -> Generator[Candidate, None, None]:
    writer = None if save is None else PredictionWriter(save)
    tell = teller(f"answers of {len(tasks):,}", warn)
    with endpoint.asking([task.target for task in tasks]) as answers:
        waiting = deque(zip(tasks, answers, strict=True))
        try:
            while waiting:
                task, answer = waiting[0][0], waiting[0][1].result()
                if writer is not None:
                    writer.write(task, task.index, answer.text)
                waiting.popleft()
                counts["cut_off"] += answer.cut_off
                tell(len(tasks) - len(waiting))
                yield Candidate(task, cut(answer.text))
        finally:
            if writer is not None:
                _write_rest(writer, waiting)


def _write_rest(writer: PredictionWriter, waiting: Iterable[tuple[SequenceTask, Future[Answer]]]) -> None:
    """Where asking ends early: what has been answered out of turn."""
    with contextlib.closing(writer):
        for task, answer in waiting:
            if answer.done() and answer.exception() is None:
                writer.write(task, task.index, answer.result().text)
