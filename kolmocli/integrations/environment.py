"""`make_env`: the step-wise environment of a curriculum, as Gymnasium's users know it."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kolmocli.config.file import read_curriculum
from kolmocli.engine.judging import open_run_sandbox
from kolmocli.errors import UsageError
from kolmocli.sandbox.opening import Backend
from kolmocli.tasks.base import Split
from kolmocli.tasks.outcome import Terms
from kolmocli.tasks.reward import reward_rule
from kolmocli.tasks.sequences.environment import KolmogorovEnv
from kolmocli.tasks.sources import evaluation_source, training_source

_log = logging.getLogger(__name__)


def make_env(
    curriculum: str | Path | Mapping[str, Any] = "quickstart", *, split: Split = "train", sandbox: Backend = "auto"
) -> KolmogorovEnv:
    """Make an environment: one sequence per episode, one line of a program per step. `close` returns the sandbox.

    Raises:
        UsageError: the curriculum cannot be used, or none of its tasks is a sequence.
        EnvironmentMissing: the requested sandbox is missing.
    """
    config = read_curriculum(curriculum)
    if "dsl" not in config.languages:
        raise UsageError(f"{config.name}: none of its families has sequences, which are what is written line by line")
    source = (training_source if split == "train" else evaluation_source)(config, _log.warning)
    terms = Terms(reward_rule(config.reward), config.training.max_lines)
    return KolmogorovEnv(open_run_sandbox(config.sandbox, sandbox, _log.warning), terms, source)
