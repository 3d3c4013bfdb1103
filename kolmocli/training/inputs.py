"""Inputs of a run before there is a model: its tasks, their controller, and the state of their references."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from kolmocli.config import Config
from kolmocli.config.opening import open_controller
from kolmocli.curriculum.base import Bucket, Controller
from kolmocli.engine.references import check_references, failing_buckets
from kolmocli.evaluation.heldout import held_out_tasks
from kolmocli.tasks.base import Task, TaskSource
from kolmocli.tasks.sources import evaluation_source, training_source
from kolmocli.training.folder import data_digests


@dataclass(frozen=True, slots=True)
class Inputs:
    source: TaskSource
    held_out: list[Task]
    controller: Controller
    references: Mapping[Bucket, str]
    """Buckets whose reference answers fail, each with the reason."""
    data: dict[str, str]
    """Data files, each with its digest."""

    def samples(self) -> Iterator[Task]:
        """The held-out tasks, and the first of each bucket."""
        yield from self.held_out
        for bucket in self.source.buckets():
            yield self.source.task(bucket, 0)


def open_inputs(config: Config, note: Callable[[str], None]) -> Inputs:
    """The inputs that this configuration names.

    Raises:
        UsageError: data that cannot be used.
    """
    held_out = held_out_tasks(evaluation_source(config, note), config.evaluation.tasks)
    source = training_source(config, note, held_out)
    controller = open_controller(config, source)
    files = [name for name in (config.data.train, config.data.eval) if name is not None]
    check_references(config.data, files, config.sandbox, config.sandbox.backend, note)
    here = None if config.engine.kind == "monarch" else config.sandbox  # programs run where the generators are
    references = failing_buckets(source, here, config.sandbox.backend)
    for bucket, why in references.items():
        note(f"{bucket}: {why}")
    return Inputs(source, held_out, controller, references, data_digests(config.data))
