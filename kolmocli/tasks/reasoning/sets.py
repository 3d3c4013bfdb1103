"""The sets of reasoning-gym: what each asks at which level, by its own curriculum, and how it scores an answer.

https://github.com/open-thought/reasoning-gym. Nothing of it is imported before a curriculum file names one of its sets.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

from kolmocli.errors import UsageError, suggest
from kolmocli.extras import require

PREFIX = "reasoning_gym"
_PACKAGE = "reasoning_gym"
_BEYOND = 10**6
"""A level above all levels: a curriculum takes its last one for it."""
_RUN = {"eval", "exec", "parse_expr", "sympify"}
"""Functions that run the text that they are given."""


@dataclass(frozen=True)
class ReasoningSet:
    """One set. `own_levels` is how many levels of its own curriculum its own configuration accepts, from the lowest."""

    name: str
    own_levels: int

    def open(self, level: int, options: Mapping[str, Any]) -> Any:
        """The set at this level of its own curriculum, with `options` laid over. Its items count up from seed 0.

        Raises:
            UsageError: the set has no such option, or refuses what it is given.
        """
        from reasoning_gym import create_dataset

        chosen = {**_at_level(self.name, level), "seed": 0}
        if unknown := sorted(set(options) - set(chosen)):
            raise UsageError(f"{PREFIX}/{self.name} has no option {unknown[0]}; {suggest(unknown[0], chosen)}")
        try:
            return create_dataset(self.name, **{**chosen, **options})
        except (AssertionError, ValueError, TypeError) as error:
            raise UsageError(f"{PREFIX}/{self.name} refuses level {level} with {dict(options)}: {error}") from None


@lru_cache
def reasoning_set(name: str) -> ReasoningSet:
    """The set of this name.

    Raises:
        EnvironmentMissing: reasoning-gym is not installed.
        UsageError: it has no such set, or one that cannot be trained on here.
    """
    require(f"task {PREFIX}/{name}", _PACKAGE)
    from reasoning_gym.factory import DATASETS

    if name not in DATASETS:
        raise UsageError(f"reasoning-gym has no set {name}; {suggest(name, sorted(DATASETS))}")
    if runs_answers(DATASETS[name][0]):
        raise UsageError(
            f"task {PREFIX}/{name}: its scorer runs an answer as code, outside any sandbox; choose another set"
        )
    levels = next((i for i in range(_levels(name)) if not _is_accepted(name, i + 1)), _levels(name))
    if not levels:
        raise UsageError(f"task {PREFIX}/{name}: its own configuration refuses the first level of its curriculum")
    return ReasoningSet(name, levels)


def runs_answers(dataset: type[Any]) -> bool:
    """Whether the set's scorer hands an answer to what runs text as code: a policy would find that.

    It may do anything with `entry`, the task as the set made it.
    """
    tree = ast.parse(textwrap.dedent(inspect.getsource(dataset.score_answer)))
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        named = {node.id for argument in call.args for node in ast.walk(argument) if isinstance(node, ast.Name)}
        if name in _RUN and not named <= {"entry", "metadata"}:
            return True
    return False


def _levels(name: str) -> int:
    from reasoning_gym.factory import create_curriculum, has_curriculum

    if not has_curriculum(name):
        return 1
    curriculum = create_curriculum(name)
    curriculum.set_global_level(_BEYOND)
    return int(curriculum.get_max_level()) + 1


def _is_accepted(name: str, level: int) -> bool:
    """A few curricula climb above what the configuration of their set allows."""
    from reasoning_gym import create_dataset

    try:
        create_dataset(name, **_at_level(name, level))
    except (AssertionError, ValueError, TypeError):
        return False
    return True


def _at_level(name: str, level: int) -> dict[str, Any]:
    """The configuration of a level, from 1, as the set's curriculum generates it; the defaults of a set without one."""
    from reasoning_gym.factory import DATASETS, create_curriculum, has_curriculum

    if has_curriculum(name):
        curriculum = create_curriculum(name)
        curriculum.set_global_level(level - 1)
        config = curriculum.generate_configuration()
    else:
        config = DATASETS[name][1]()
    return {field.name: getattr(config, field.name) for field in fields(config) if field.init}
