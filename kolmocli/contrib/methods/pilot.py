"""Pilots: a few rollouts first, and the others only where both a pass and a failure are likely.

`draws` times as many tasks are drawn as are needed, and each gets `rollouts` rollouts. Those with passes and failures among
them are gone on with; where they do not suffice, others take their places, as drawn (SPEED, Zhang et al. 2025, arXiv
2506.09016). A task that is gone on with is sampled afresh, and its pilot is a group of its own: joined with the others,
the rollouts that it was chosen for would be a biased part of its group.

All rollouts count: in `rollouts`, in the bits, in what the controller sees, and in what is learned.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kolmocli.contrib.settings import PilotSettings
from kolmocli.engine.base import Experience, Request
from kolmocli.tasks.base import Task
from kolmocli.training.methods.base import Draw, Method, MethodContext, register_method


class Pilot(Method):
    def __init__(
        self, settings: PilotSettings, sample: Callable[[Request], Experience], seed: Callable[[int], int]
    ) -> None:
        """`seed(step)` is that of the pilots of a step."""
        self._settings, self._sample, self._seed = settings, sample, seed
        self._pilots: dict[int, Experience] = {}
        """By step, for those that have begun and are not learned from yet."""

    def tasks(self, step: int, count: int, draw: Draw) -> list[Task]:
        drawn = draw(count * self._settings.draws)
        pilots = self._pilots[step] = self._sample(Request(drawn, self._settings.rollouts, self._seed(step)))
        unsure = [g.task for g in pilots.groups if 0 < g.result().passes < g.result().rollouts]
        chosen = _spread(unsure, count)
        rest = [task for task in drawn if all(task is not other for other in chosen)]
        return chosen + rest[: count - len(chosen)]

    def supplement(self, step: int, experience: Experience) -> Experience:
        pilots = self._pilots.pop(step)
        return Experience(experience.groups + pilots.groups, experience.cost + pilots.cost)


@register_method("pilot")
def pilot(context: MethodContext, **settings: Any) -> Pilot:
    return Pilot(PilotSettings(**settings), context.engine.sample, lambda step: context.seed("pilot", step))


def _spread(tasks: Sequence[Task], count: int) -> list[Task]:
    """At most `count` of them, evenly from the first to the last: they come family by family."""
    if len(tasks) <= count:
        return [*tasks]
    return [tasks[i * len(tasks) // count] for i in range(count)]
