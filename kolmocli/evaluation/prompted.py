"""`kolmo eval --endpoint`: a prompted model, asked as the KoLMogorov Test asks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from kolmocli.console import shared_console
from kolmocli.errors import UsageError
from kolmocli.evaluation.baselines import Baselines
from kolmocli.evaluation.endpoint import Endpoint
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
    warn = shared_console().out
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
    answered = _ask(endpoint, asked, cut_of(reporting), save, counts, warn)
    with Baselines() as baselines:
        attempts = rescored(counting(answered, baselines), programs, warn)
        facts = {"model": endpoint.model, "samples": samples, "language": programs.language, **counts}
        return {**facts, **full_report(attempts, samples, programs.language, reporting, baselines)}


def _ask(
    endpoint: Endpoint,
    tasks: list[SequenceTask],
    cut: Cut,
    save: str | None,
    counts: dict[str, int],
    warn: Callable[[str], None],
) -> Iterator[Candidate]:
    writer = None if save is None else PredictionWriter(save)
    tell = teller(f"answers of {len(tasks):,}", warn)
    try:
        answers = endpoint.answers([task.target for task in tasks])
        for done, (task, answer) in enumerate(zip(tasks, answers, strict=True), start=1):
            counts["cut_off"] += answer.cut_off
            if writer is not None:
                writer.write(task, task.index, answer.text)
            tell(done)
            yield Candidate(task, cut(answer.text))
    finally:
        if writer is not None:
            writer.close()
