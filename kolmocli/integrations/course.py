"""A course: the tasks of a curriculum, their judge, and the controller that chooses among them, for any trainer.

    with kolmo.open_course("digits") as course:
        tasks = course.draw(16)                           # one for each group; `task.asked` is what a policy is shown
        outcomes = course.judge(tasks, answers)           # `passed`, `reward`; a reward of None: it could not be judged
        course.observe([kolmo.Result(task.bucket, passes, rollouts), ...])    # once per update of the policy

The adapters of this room are a few dozen lines each, because all of it is here.
"""

from __future__ import annotations

import logging
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from kolmocli.config import Config
from kolmocli.config.file import read_curriculum
from kolmocli.config.opening import open_controller
from kolmocli.curriculum.base import Bucket, Controller, Result
from kolmocli.engine.judging import fitted, open_judge
from kolmocli.errors import UsageError
from kolmocli.evaluation.heldout import held_out_tasks
from kolmocli.sandbox.opening import Backend
from kolmocli.seeds import derived_seed
from kolmocli.tasks.base import Split, Task, TaskSource
from kolmocli.tasks.chat import judged_text
from kolmocli.tasks.family import Kind, register_kinds
from kolmocli.tasks.judging import SandboxJudge
from kolmocli.tasks.outcome import Outcome
from kolmocli.tasks.sources import evaluation_source, tasks_of_files, training_source

_log = logging.getLogger(__name__)


def open_course(
    curriculum: str | Path | Mapping[str, Any] = "quickstart",
    *,
    controller: Controller | None = None,
    families: Sequence[Kind] = (),
    settings: Mapping[str, Any] | None = None,
    sandbox: Backend | None = None,
    judges: bool = True,
) -> Course:
    """A course of a curriculum: a file, the name of a packaged one, or its content as a mapping.

    Args:
        controller: chooses the tasks (None: the controller of the file).
        families: kinds of task of your own that the curriculum names, as in `kolmo.train`.
        settings: other keys of the file, dotted: `{"controller.kind": "window"}`.
        sandbox: where programs run (None: as the file says). No sandbox is opened for answers in words.
        judges: False for a process that only draws tasks, and opens no sandbox.

    Raises:
        UsageError: the curriculum cannot be used.
        EnvironmentMissing: the requested sandbox is missing.
    """
    register_kinds(families)
    config = read_curriculum(curriculum, settings)
    held_out = evaluation_source(config, _log.warning)
    source = training_source(config, _log.warning, held_out_tasks(held_out, config.evaluation.tasks))
    if controller is None:
        controller = open_controller(config, source)
    judge = _open_judge(config, sandbox or config.sandbox.backend) if judges else None
    return Course(config, source, held_out, controller, judge)


def _open_judge(config: Config, backend: Backend) -> SandboxJudge:
    settings, most = fitted(config.sandbox if config.runs_programs else None, tasks_of_files(config.data))
    backend = backend if settings else "auto"
    return open_judge(config.reward, config.training.max_lines, settings, backend, _log.warning, most)


class Course:
    """Tasks by the choice of `controller`. Courses with the same seed and the same results draw the same tasks."""

    def __init__(
        self,
        config: Config,
        source: TaskSource,
        held_out: TaskSource,
        controller: Controller,
        judge: SandboxJudge | None,
    ) -> None:
        self.config, self.controller = config, controller
        self._sources: dict[Split, TaskSource] = {"train": source, "eval": held_out}
        self._judge, self._draws, self._drawn = judge, 0, dict[str, int]()
        self._known = {split: dict.fromkeys(source.buckets()) for split, source in self._sources.items()}

    def buckets(self, split: Split = "train") -> list[Bucket]:
        """Families in the order of the file, levels ascending."""
        return self._sources[split].buckets()

    def task(self, bucket: Bucket, index: int, split: Split = "train") -> Task:
        """Always the same one. Raises UsageError for a bucket that the curriculum does not have."""
        if bucket not in self._known[split]:
            levels = [known.level for known in self._known[split] if known.family == bucket.family]
            has = (
                f"{bucket.family} has levels {levels[0]} to {levels[-1]}"
                if levels
                else "the curriculum has no such family"
            )
            raise UsageError(f"{bucket} is not in the curriculum: {has}")
        return self._sources[split].task(bucket, index)

    def draw(self, groups: int) -> list[Task]:
        """The next tasks, one for each group."""
        rng = random.Random(derived_seed(self.config.seed, "propose", self._draws))
        self._draws += 1
        return [self.next(bucket) for bucket in self.controller.propose(groups, rng)]

    def next(self, bucket: Bucket) -> Task:
        """The next task of this bucket. Raises UsageError as `task` does."""
        index = self._drawn.get(str(bucket), 0)
        task = self.task(bucket, index)
        self._drawn[str(bucket)] = index + 1
        return task

    def held_out(self, count: int) -> list[Task]:
        """Tasks that are never drawn, spread evenly over all buckets: always the same ones."""
        return held_out_tasks(self._sources["eval"], count)

    def judge(self, tasks: Sequence[Task], answers: Sequence[str]) -> list[Outcome]:
        """Judge each answer to its task, all in one batch. Prose and code fences around a program are removed.

        Raises UsageError for a course that was opened without a judge.
        """
        if self._judge is None:
            raise UsageError("this course judges nothing: open it with judges=True")
        return self._judge(tasks, [judged_text(task, answer) for task, answer in zip(tasks, answers, strict=True)])

    def observe(self, results: Sequence[Result]) -> list[str]:
        """The results of one version of the policy. Returns what is worth an event, in words."""
        return self.controller.observe(results)

    def metrics(self) -> dict[str, float]:
        """The level and the share of every family."""
        found = self.controller.metrics().items()
        return {f"{name}/{key}": getattr(family, key) for name, family in found for key in ("level", "weight")}

    def state_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        return {
            "of": self._identity(), "draws": self._draws, "drawn": dict(self._drawn),
            "controller": self.controller.state_dict(),
        }  # fmt: skip

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Raises KeyError or ValueError naming what does not fit."""
        for key, mine in self._identity().items():
            if state["of"][key] != mine:
                raise ValueError(f"it is of other tasks: {key} was {state['of'][key]}, is {mine}")
        self.controller.load_state_dict(state["controller"])
        self._draws, self._drawn = int(state["draws"]), {name: int(n) for name, n in state["drawn"].items()}

    def _identity(self) -> dict[str, Any]:
        """The configuration of the tasks."""
        levels = Counter(bucket.family for bucket in self._known["train"])
        return {"seed": self.config.seed, "levels": dict(levels)}

    def close(self) -> None:
        if self._judge is not None:
            self._judge.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()
