"""Pass rates that `kolmo curriculum calibrate --data F -o G` measured, for tasks that are levels of their own (`data.per_task`)."""

from __future__ import annotations

from kolmocli.curriculum.profile import Rates, rate_of
from kolmocli.errors import UsageError
from kolmocli.tasks.base import TaskSource
from kolmocli.tasks.files.listing import Item, Listed, stream_tasks
from kolmocli.tasks.files.problems import Problems
from kolmocli.tasks.files.settings import Data
from kolmocli.tasks.sequences.prompt import sequence_prompt

_ROLLOUTS = 8
"""A rate counts as one group: it is of an earlier policy, and the file does not say how many rollouts it is of."""


def measured_rates(file: str, data: Data, source: TaskSource) -> dict[str, Rates]:
    """By family and level what the file says of the one task there; nothing of tasks that it lacks.

    Raises:
        UsageError: the file cannot be read, or has a pass rate of none of these tasks.
    """
    problems, rates = Problems(f"controller.prior: {file}", lambda _: None), dict[str, float]()
    for where, row, item in stream_tasks(file, problems, max_items=data.max_items, columns=data.columns):
        if row.get("pass_rate") is not None:
            rates[_content(item)] = rate_of(f"{file}:{where}", row)
    found: dict[str, Rates] = {}
    for bucket in source.buckets():
        rate = rates.get(source.task(bucket, 0).content)
        if rate is not None:
            found.setdefault(bucket.family, {})[bucket.level] = (rate, _ROLLOUTS)
    if not found:
        raise UsageError(
            f"controller.prior: {file} has a pass rate of no task of this run; with data.per_task it is a file of tasks, "
            "as kolmo curriculum calibrate --data F -o G writes it"
        )
    return found


def _content(item: Item) -> str:
    if isinstance(item, Listed):
        return item.task.content
    return sequence_prompt(item.record.sequence, "dsl").text
