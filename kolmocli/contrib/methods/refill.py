"""Refill: in the place of groups that say nothing others are sampled, until there are enough that say something.

A group whose rollouts all passed or all failed has no advantage. More tasks are drawn and sampled, as many as such groups
were found, until the step has as many groups with both as it has tasks, or `most` times its rollouts are spent (dynamic
sampling, DAPO, Yu et al. 2025, arXiv 2503.14476). All rollouts count, those of the silent groups too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kolmocli.contrib.settings import RefillSettings
from kolmocli.engine.base import Experience, Group, Request
from kolmocli.tasks.base import Task
from kolmocli.training.methods.base import Draw, Method, MethodContext, register_method


class Refill(Method):
    def __init__(
        self,
        settings: RefillSettings,
        samples: int,
        sample: Callable[[Request], Experience],
        seed: Callable[[int, int], int],
    ) -> None:
        """`samples` are the rollouts of a task, `seed(step, round)` is that of what is sampled again."""
        self._settings, self._samples, self._sample, self._seed = settings, samples, sample, seed
        self._draws: dict[int, tuple[int, Draw]] = {}
        """By step, for those that have begun and are not learned from yet: the number of tasks, and a source of more."""

    def tasks(self, step: int, count: int, draw: Draw) -> list[Task]:
        self._draws[step] = count, draw
        return draw(count)

    def supplement(self, step: int, experience: Experience) -> Experience:
        count, draw = self._draws.pop(step)
        left, rounds = round((self._settings.most - 1) * count), 0
        while (wanted := min(count - _telling(experience.groups), left)) > 0:
            left, rounds = left - wanted, rounds + 1
            more = self._sample(Request(draw(wanted), self._samples, self._seed(step, rounds)))
            experience = Experience(experience.groups + more.groups, experience.cost + more.cost)
        return experience


@register_method("refill")
def refill(context: MethodContext, **settings: Any) -> Refill:
    samples = context.config.training.group_size * context.config.training.best_of
    return Refill(
        RefillSettings(**settings),
        samples,
        context.engine.sample,
        lambda step, again: context.seed(f"refill {again}", step),
    )


def _telling(groups: Sequence[Group]) -> int:
    """Number of groups that have passes and failures."""
    results = [group.result() for group in groups]
    return sum(0 < result.passes < result.rollouts for result in results)
