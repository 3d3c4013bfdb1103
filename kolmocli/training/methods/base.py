"""A method: a way to learn more from rollouts, off unless the curriculum asks for it.

A method of one's own is registered by a plugin, and takes part where a curriculum file names it:

    @kolmo.register_method("rehearsal")
    class Rehearsal(kolmo.Method):
        def __init__(self, context: MethodContext, *, share: float = 0.1) -> None: ...

    methods: {rehearsal: {share: 0.2}}
"""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from operator import add
from typing import Any, TypeVar

from kolmocli.config import Config
from kolmocli.config.methods import METHODS
from kolmocli.engine.base import Engine, Experience, Group
from kolmocli.engine.report import Cost
from kolmocli.errors import UsageError
from kolmocli.learning.batches import Weighted
from kolmocli.learning.report import StepReport
from kolmocli.monitor.records import ReinforceRecord
from kolmocli.policy.policy import Policy
from kolmocli.tasks.base import Task, TaskSource
from kolmocli.tasks.outcome import Outcome

Draw = Callable[[int], list[Task]]
"""Gives this many tasks that the controller proposes."""
Shaped = Callable[[Outcome, Task], list[float]]
"""Adds to the reward of each line of an episode."""


class Method:
    """Hooks of a method, called once per step. By default none has an effect."""

    shaped: Shaped | None = None
    """Its addition to the rewards of lines, if any."""

    def tasks(self, step: int, count: int, draw: Draw) -> list[Task]:
        """The `count` tasks of a step: the drawn ones, changed, or others in their place."""
        return draw(count)

    def supplement(self, step: int, experience: Experience) -> Experience:
        """The rollouts of a step, with more that this method samples."""
        return experience

    def lessons(self, step: int, groups: Sequence[Group]) -> list[Weighted]:
        """Weighted rollouts to learn from apart from the advantages."""
        return []

    def learned(self, report: StepReport, groups: Sequence[Group]) -> None:
        """Called with what the update says of itself, and the groups that it learned from."""

    def observe(self, groups: Sequence[Group]) -> None:
        """Called with the judged groups after the update."""

    def cost(self) -> Cost:
        """Samples of the last step apart from its rollouts."""
        return Cost()

    def metrics(self, record: ReinforceRecord, groups: Sequence[Group]) -> ReinforceRecord:
        """The record of the step, with this method's keys."""
        return record

    def state_dict(self) -> dict[str, Any]:
        """Numbers, words, lists and mappings of these, and tensors."""
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take up a saved state, exactly."""


class Methods(Method):
    """Those that are on, by name. Each of them sees the tasks that the ones before it chose."""

    def __init__(self, methods: dict[str, Method]) -> None:
        self._methods = methods

    def add(self, name: str, method: Method) -> None:
        """One that needs what is opened after the others."""
        self._methods[name] = method

    def tasks(self, step: int, count: int, draw: Draw) -> list[Task]:
        for method in self._methods.values():
            draw = partial(method.tasks, step, draw=draw)
        return draw(count)

    def supplement(self, step: int, experience: Experience) -> Experience:
        for method in self._methods.values():
            experience = method.supplement(step, experience)
        return experience

    def lessons(self, step: int, groups: Sequence[Group]) -> list[Weighted]:
        return [lesson for method in self._methods.values() for lesson in method.lessons(step, groups)]

    def learned(self, report: StepReport, groups: Sequence[Group]) -> None:
        for method in self._methods.values():
            method.learned(report, groups)

    def observe(self, groups: Sequence[Group]) -> None:
        for method in self._methods.values():
            method.observe(groups)

    def cost(self) -> Cost:
        return reduce(add, (method.cost() for method in self._methods.values()), Cost())

    def metrics(self, record: ReinforceRecord, groups: Sequence[Group]) -> ReinforceRecord:
        for method in self._methods.values():
            record = method.metrics(record, groups)
        return record

    def state_dict(self) -> dict[str, Any]:
        return {name: state for name, method in self._methods.items() if (state := method.state_dict())}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        for name, method in self._methods.items():
            if name in state or method.state_dict():
                method.load_state_dict(state[name])


@dataclass(frozen=True, slots=True)
class MethodContext:
    """The arguments of a registered method. `rng(step)` is its own in every step, and the same when a run is resumed, and so
    is `seed(purpose, step)`. `config` is the whole curriculum."""

    source: TaskSource
    engine: Engine
    policy: Policy
    rng: Callable[[int], random.Random]
    config: Config
    seed: Callable[[str, int], int]


MakeMethod = Callable[..., Method]
"""From a context, and the settings of the curriculum file by name, to a method."""
_Maker = TypeVar("_Maker", bound=MakeMethod)


def register_method(name: str) -> Callable[[_Maker], _Maker]:
    """Register a class or function `make(context, **settings) -> Method` under the name for the section `methods`.

    Raises:
        UsageError: the name is taken.
    """

    def register(maker: _Maker) -> _Maker:
        METHODS.add(name, maker, module=maker.__module__)
        return maker

    return register


def make_method(name: str, context: MethodContext, settings: Mapping[str, Any]) -> Method:
    """Raises UsageError when there is no such method, or it takes no such setting."""
    maker: MakeMethod = METHODS.get(name)
    try:
        inspect.signature(maker).bind(context, **settings)
    except TypeError as error:
        raise UsageError(f"methods.{name}: {error}") from None
    return maker(context, **settings)
