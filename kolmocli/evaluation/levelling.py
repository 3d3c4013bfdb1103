"""`kolmo curriculum calibrate MODEL --data F -o F2`: a file of tasks with levels by how often a model passes them.

A file seldom says how hard its tasks are, and hardly ever how hard they are for this model. Its own pass rate says it,
with the same chance as in training: samples at the temperature of training.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from kolmocli.config import Config
from kolmocli.curriculum.base import Bucket
from kolmocli.errors import UsageError
from kolmocli.evaluation.attempts import attempts_by
from kolmocli.evaluation.calibration import family_record, level_record
from kolmocli.evaluation.intervals import wilson
from kolmocli.evaluation.selection import Wanted, config_for
from kolmocli.pace import Pace
from kolmocli.sandbox.opening import Backend
from kolmocli.seeds import derived_seed
from kolmocli.tasks.base import Task
from kolmocli.tasks.files.buckets import bucket_of, quantiles
from kolmocli.tasks.files.listing import Sequenced, stream_tasks
from kolmocli.tasks.files.problems import Problems
from kolmocli.tasks.files.streams import writing
from kolmocli.tasks.judged import judged_task
from kolmocli.tasks.outcome import Outcome
from kolmocli.tasks.sequences.task import sequence_task


@dataclass
class _Measured:
    """A row of the file, the task that it is, and what the model made of it."""

    row: dict[str, Any]
    task: Task
    outcomes: list[Outcome] = field(default_factory=list)
    level: int = 0

    @property
    def judged(self) -> list[bool]:
        return [outcome.passed for outcome in self.outcomes if outcome.reward is not None]

    @property
    def pass_rate(self) -> float | None:
        """None where the sandbox lost every sample."""
        return sum(self.judged) / len(self.judged) if self.judged else None

    def written(self) -> bytes:
        """The row with what was measured. `level` takes the place of the level in a `bucket`."""
        bucket = self.row.get("bucket")
        family = {} if bucket is None else {"family": self.task.bucket.family}
        interval = list(wilson(sum(self.judged), len(self.judged)))
        said = {"pass_rate": self.pass_rate, "pass_rate_ci": interval, "level": self.level}
        kept = {key: value for key, value in self.row.items() if key != "bucket"}
        return json.dumps({**kept, **family, **said}, ensure_ascii=False, default=str).encode() + b"\n"


def level_file(
    model: str,
    wanted: Wanted,
    output: str,
    *,
    samples: int,
    levels: int,
    seed: int | None,
    device: str,
    sandbox: Backend,
    force: bool,
    warn: Callable[[str], None],
    pace: Pace | None = None,
) -> dict[str, Any]:
    """Roll out every task of the file `wanted.data` and write the file again, as lines of JSON, with `pass_rate`, `pass_rate_ci` and `level`
    in each: the levels of a family hold equally many tasks, from those that pass most often to those that pass least.

    Raises:
        UsageError: no model under that name, the file cannot be used, or the output is the input.
        KolmoError: the output exists and `force` is not given, or it cannot be written.
        EnvironmentMissing: the sandbox or the device that was asked for is not there.
    """
    data = str(wanted.data)
    with writing(output, force=force, inputs=[data]) as file:
        config = config_for(model, wanted, warn)
        seed = config.seed if seed is None else seed
        measured = _rows(data, config, warn)
        attempts = attempts_by(
            model, [each.task for each in measured], config,
            samples=samples, seed=derived_seed(seed, "calibrate"), device=device, sandbox=sandbox, warn=warn, pace=pace,
        )  # fmt: skip
        for each, (_, outcomes) in zip(measured, attempts, strict=True):
            each.outcomes = outcomes
        families: dict[str, list[_Measured]] = {}
        for each in measured:
            families.setdefault(each.task.bucket.family, []).append(each)
        for family in families.values():
            _set_levels(family, levels)
        for each in measured:
            file.write(each.written())
    records = {name: _curve(family, config.controller.target) for name, family in families.items()}
    curves = [level for record in records.values() for level in record["levels"]]
    return {
        "model": model, "data": data, "output": output, "seed": seed, "samples": samples, "tasks": len(measured),
        "rollouts": sum(level["n"] for level in curves), "masked": sum(level["masked"] for level in curves),
        "families": records,
    }  # fmt: skip


def _rows(name: str, config: Config, warn: Callable[[str], None]) -> list[_Measured]:
    problems, found = Problems(name, warn), list[_Measured]()
    for index, (_, row, item) in enumerate(
        stream_tasks(name, problems, max_items=config.data.max_items, columns=config.data.columns)
    ):
        if isinstance(item, Sequenced):
            record = item.record
            bucket = bucket_of(record.bucket or record.modality or "sequences")
            task: Task = sequence_task(bucket, index, record.sequence, record.program, modality=record.modality)
        else:
            listed = judged_task(item.task, config.answers.judge, config.outputs.asked)
            task = replace(listed, bucket=Bucket(item.family, 1), index=index)
        found.append(_Measured(row, task))
    problems.close(f"{len(found):,}")
    if not found:
        raise UsageError(f"{name}: no task in it")
    return found


def _set_levels(family: list[_Measured], count: int) -> None:
    """Tasks that were never judged come last: nothing is known of them."""
    scored = sorted((1.0 if each.pass_rate is None else -each.pass_rate, i) for i, each in enumerate(family))
    for level, part in enumerate(quantiles(scored, count), start=1):
        for i in part:
            family[i].level = level


def _curve(family: list[_Measured], target: float) -> dict[str, Any]:
    levels = sorted({each.level for each in family})
    parts = [[each.outcomes for each in family if each.level == level] for level in levels]
    return family_record([level_record(level, part) for level, part in zip(levels, parts, strict=True)], target)
