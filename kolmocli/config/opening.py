"""The controller of a run, over the tasks that it really has."""

from __future__ import annotations

from kolmocli.config.controller import build_controller
from kolmocli.config.whole import Config
from kolmocli.curriculum.base import Controller
from kolmocli.errors import UsageError
from kolmocli.tasks.base import TaskSource
from kolmocli.tasks.measured import measured_rates


def open_controller(config: Config, source: TaskSource) -> Controller:
    """The controller that the configuration asks for.

    Raises:
        UsageError: as `build_controller`; or it keeps a belief about every task, and tasks share their levels.
    """
    asked, data = config.controller, config.data
    if asked.kind == "posterior" and not (data.train and data.per_task):
        raise UsageError(
            "controller.kind: posterior keeps a belief about every task of a file; set data.train, and data.per_task to true"
        )
    rates = measured_rates(asked.prior, data, source) if asked.prior is not None and data.per_task else None
    return build_controller(asked, config.families, source.buckets(), config.training.steps, rates)
