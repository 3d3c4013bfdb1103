"""Potential shaping per line: F = gamma·Φ(s') − Φ(s), Φ the share of the target explained, 0 at the end.

Source: Ng, Harada and Russell 1999: with any Φ that is 0 in terminal states the optimal policies stay what they were.
With whole returns even more holds: the shaping rewards from line l to the end add up to −Φ(s_l), whatever is written
from there on. A shaped return is a return less a baseline that knows the program so far (Wiewiora 2003), so
the expected gradient is the same too. Only its variance changes: a pass is credited to the lines that brought
something, and a failure is blamed on the lines after them.

Shapes: a rollout's episode has L lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from kolmocli.contrib.settings import ShapingSettings
from kolmocli.language.progress import Value, explained
from kolmocli.tasks.base import Task
from kolmocli.tasks.outcome import Outcome
from kolmocli.tasks.sequences.task import SequenceTask
from kolmocli.training.methods.base import Method, MethodContext, register_method


def potentials(outcome: Outcome, target: Value) -> list[float]:
    """Φ before each of the L lines, and 0 after the last: L + 1 numbers."""
    shares = [0.0, *explained(outcome.trace, target)]
    done = [sum(end <= line for end in outcome.ends) for line in range(outcome.end)]
    return [*(shares[statements] for statements in done), 0.0]


def shaping_rewards(potentials: Sequence[float], gamma: float) -> list[float]:
    """F of each line, from the potentials before it and after it."""
    return [gamma * after - before for before, after in pairwise(potentials)]


@dataclass(frozen=True, slots=True)
class Shaping:
    """Reward that shaping adds to the lines of an episode."""

    weight: float
    gamma: float

    def __call__(self, outcome: Outcome, task: Task) -> list[float]:
        if not isinstance(task, SequenceTask):
            return [0.0] * outcome.end
        return [self.weight * f for f in shaping_rewards(potentials(outcome, task.target), self.gamma)]


@register_method("shaping")
class ShapingMethod(Method):
    """Shapes the rewards of all episodes."""

    def __init__(self, context: MethodContext, **settings: Any) -> None:
        self.shaped = Shaping(ShapingSettings(**settings).weight, context.config.training.gamma)
