"""Schedules that depend on the number of the step alone, so that nothing of them has to be saved."""

from __future__ import annotations

import math

from kolmocli.config import Training


def learning_rate(step: int, training: Training) -> float:
    """The rate of step 1, 2, ..., `training.steps`: a rise over the first `ramp_steps`, as AdamW knows no second moments of this
    loss yet, times what `schedule` says: a fall to zero, in which the last steps average out what the first ones tried,
    or none."""
    done = (step - 1) / training.steps
    share = {"linear": 1.0 - done, "cosine": 0.5 + 0.5 * math.cos(math.pi * done), "constant": 1.0}[training.schedule]
    rise = min(1.0, step / training.ramp_steps) if training.ramp_steps else 1.0
    return training.learning_rate * rise * share


def is_measured(step: int, every: int) -> bool:
    """Whether the noise of the gradient is measured in this step: in the first, and then at regular intervals; 0: never."""
    return every > 0 and (step - 1) % every == 0
