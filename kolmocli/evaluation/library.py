"""Evaluation as a call: what `kolmo eval` does with a model, from Python."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kolmocli.errors import UsageError
from kolmocli.evaluation.command import evaluate as run_evaluation
from kolmocli.evaluation.selection import Wanted
from kolmocli.sandbox.opening import Backend
from kolmocli.tasks.family import Kind, register_kinds

_log = logging.getLogger(__name__)


def evaluate(
    model: str | Path,
    *,
    curriculum: str | Path | None = None,
    data: str | Path | None = None,
    families: Sequence[Kind] = (),
    tasks: int | None = None,
    samples: int = 1,
    temperature: float | None = None,
    seed: int | None = None,
    device: str = "auto",
    sandbox: Backend = "auto",
) -> dict[str, Any]:
    """Evaluate a policy on held-out tasks, and return the report that docs/metrics.md describes.

    Args:
        model: a run, a checkpoint folder, `shipped`, a preset, a model of `kolmo model list` or a Hugging Face id.
        curriculum: held-out tasks of this file or packaged curriculum (None: the run's own).
        data: a file of tasks, instead of a curriculum.
        families: kinds of task of your own that the curriculum names, as in `kolmo.train`.
        tasks: how many (None: as the curriculum says).
        samples: per task; one is greedy, several are drawn at `temperature` and give pass@k.

    Raises:
        KolmoError: as `kolmo eval` ends, in one line.
    """
    for name, count in (("tasks", tasks), ("samples", samples)):
        if count is not None and count < 1:
            raise UsageError(f"{name} is a number from 1 on, got {count}")
    if temperature is not None and not 0.0 < temperature < math.inf:
        raise UsageError(f"temperature must be above 0 and finite, got {temperature:g}")
    register_kinds(families)
    wanted = Wanted(None if curriculum is None else str(curriculum), None if data is None else str(data), tasks)
    return run_evaluation(
        str(model), wanted, samples=samples, seed=seed, device=device, sandbox=sandbox, temperature=temperature,
        warn=_log.warning,
    )  # fmt: skip
