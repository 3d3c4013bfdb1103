"""`kolmo eval --data F --predictions P`: what any model wrote for the tasks of a file.

The two files are joined by `task_id`. Several predictions for a task are samples of it, and every one of them counts:
the accuracy is pass@1, the mean over the tasks of the share of their samples that passes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from itertools import chain
from typing import Any

from kolmocli.console import warn
from kolmocli.errors import UsageError
from kolmocli.evaluation.foreign import Programs, all_judged, cut_of
from kolmocli.evaluation.report import PLAIN, Reporting, full_report
from kolmocli.evaluation.rescoring import MAX_ITEMS, Candidate, rescore
from kolmocli.evaluation.samples import Attempts, every_sample, pass_shares_by
from kolmocli.pace import Pace
from kolmocli.sandbox import Sandbox
from kolmocli.tasks.base import Task
from kolmocli.tasks.chat import judged_text
from kolmocli.tasks.code.scripts import Scripts
from kolmocli.tasks.code.task import CodeTask
from kolmocli.tasks.files.buckets import bucket_of
from kolmocli.tasks.files.listing import Listed, Sequenced, row_of, stream_tasks
from kolmocli.tasks.files.problems import Problems
from kolmocli.tasks.files.references import named_failing
from kolmocli.tasks.files.rows import rows
from kolmocli.tasks.files.tasks import bucketed
from kolmocli.tasks.sequences.task import SequenceTask, sequence_task

ANSWERS = ("completion", "solution", "generation")
"""The keys under which files of samples have what a model wrote; the first that is there counts."""
Warn = Callable[[str], None]


def evaluate_joined(
    data: str,
    predictions: str,
    programs: Programs,
    *,
    strict: bool,
    reporting: Reporting = PLAIN,
    columns: str | None = None,
    pace: Pace | None = None,
) -> dict[str, Any]:
    """The report of the predictions for these tasks. `columns` of the file of tasks are those that a user names.

    Raises:
        UsageError: a file cannot be read, no prediction is for one of the tasks, or, with `strict`, one is for none of
            them, a task has none, or the reference answer of a task fails its own tests.
    """
    tasks = _tasks(data, programs, warn, strict, columns)
    if reporting != PLAIN and not any(isinstance(task, SequenceTask) for task in tasks.values()):
        raise UsageError(f"--kt-compatible and --search are for sequences, and {data} has none")
    problems, counts = Problems(predictions, warn, strict), {"unknown": 0}
    found = _joined(predictions, tasks, problems, reporting, counts)
    first = next(found, None)
    if first is None:
        raise UsageError(f"{predictions}: no prediction in it for a task of {data}; the two are joined by `task_id`")
    with ExitStack() as stack:
        sandbox = sandbox_for(tasks.values(), programs, warn, stack)
        wrong = named_failing(data, list(tasks.values()), sandbox, warn, strict=strict)
        with (pace or Pace()).counting(None, "predictions") as done:
            attempts = all_judged(rescore(chain([first], found), sandbox, done))
    answered = {task.index for task, _ in attempts}
    left = [task_id for task_id, task in tasks.items() if task.index not in answered]
    for task_id in left:
        problems.bad(f"task {task_id}", f"no prediction for it; skipped in {data}", left_out=False)
    problems.close(f"predictions for {len(attempts):,} of {len(tasks):,} tasks")
    return {
        "model": predictions, "data": data, **report_of_samples(attempts, programs, reporting),
        "unanswered": len(left), "unknown": counts["unknown"], "failing_references": wrong,
    }  # fmt: skip


def report_of_samples(attempts: Attempts, programs: Programs, reporting: Reporting = PLAIN) -> dict[str, Any]:
    """The report in which every sample counts, whatever kind of task it is for."""
    languages = {task.language for task, _ in attempts}
    samples = max(len(outcomes) for _, outcomes in attempts)
    report = full_report(attempts, samples, programs.language, reporting)
    of_samples, intervals = every_sample(attempts)
    compared = Counter(
        task.tests.compare for task, _ in attempts if isinstance(task, CodeTask) and isinstance(task.tests, Scripts)
    )
    return {
        "samples": samples,
        "language": programs.language if any(isinstance(task, SequenceTask) for task, _ in attempts)
        else next(iter(languages)) if len(languages) == 1 else None,
        **report, **pass_shares_by(attempts), **of_samples, "intervals": report["intervals"] | intervals,
        "outputs": dict(sorted(compared.items())),
    }  # fmt: skip


def sandbox_for(tasks: Iterable[Task], programs: Programs, warn: Warn, stack: ExitStack) -> Sandbox | None:
    """None where all answers are in words."""
    run = [task for task in tasks if task.language != "text"]
    if not run:
        return None
    return stack.enter_context(programs.open(warn, [task for task in run if not isinstance(task, SequenceTask)]))


def _tasks(name: str, programs: Programs, warn: Warn, strict: bool, columns: str | None) -> dict[str, Task]:
    """The tasks of the file by their `task_id`, in the buckets that it names; a family of which it names none is one."""
    problems, found = Problems(name, warn, strict), dict[str, Listed | Sequenced]()
    for where, _, item in stream_tasks(name, problems, max_items=MAX_ITEMS, columns=columns):
        if item.task_id is None:
            problems.bad(where, "no `task_id` in it, by which a prediction could name it")
        elif item.task_id in found:
            problems.bad(where, f"`task_id` {item.task_id} again")
        else:
            found[item.task_id] = item
    problems.close(f"{len(found):,}")
    if not found:
        raise UsageError(f"{name}: no task with a `task_id` in it")
    others = iter(bucketed([item for item in found.values() if isinstance(item, Listed)]))
    return {
        task_id: replace(next(others), index=index) if isinstance(item, Listed) else _sequence(item, index, programs)
        for index, (task_id, item) in enumerate(found.items())
    }


def _sequence(item: Sequenced, index: int, programs: Programs) -> SequenceTask:
    record = item.record
    bucket = bucket_of(record.bucket or record.modality or "sequences")
    return sequence_task(bucket, index, record.sequence, language=programs.language, modality=record.modality)


def _joined(
    name: str, tasks: Mapping[str, Task], problems: Problems, reporting: Reporting, counts: dict[str, int]
) -> Iterator[Candidate]:
    cut = cut_of(reporting)
    for where, data in rows(name, problems):
        try:
            task_id, answer = _prediction(data)
        except ValueError as error:
            problems.bad(where, error)
            continue
        task = tasks.get(task_id)
        if task is None:
            counts["unknown"] += 1
            problems.bad(where, f"no task {task_id} in the data")
        else:
            yield Candidate(task, cut(answer) if isinstance(task, SequenceTask) else judged_text(task, answer))


def _prediction(data: Any) -> tuple[str, str]:
    """(task_id, what was written). Raises ValueError."""
    data = row_of(data)
    task_id = data.get("task_id")
    if type(task_id) not in (int, str):
        raise ValueError("no `task_id` in it")
    answer = next((data[key] for key in ANSWERS if data.get(key) is not None), None)
    if not isinstance(answer, str):
        raise ValueError(f"none of {', '.join(f'`{key}`' for key in ANSWERS)} in it")
    return str(task_id), answer
