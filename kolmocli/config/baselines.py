"""Baselines of a return: those that come with kolmo by name, and those that a plugin registers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from typing import Annotated, Any, Literal, TypeVar, get_args

from pydantic import PlainSerializer, ValidatorFunctionWrapHandler, WrapValidator

from kolmocli.errors import UsageError
from kolmocli.registry import Registry, blame

UsualBaseline = Literal["rloo", "ema", "value", "none", "grpo", "maxrl"]
_USUAL = get_args(UsualBaseline)
GroupAdvantages = Callable[[Sequence[float]], Sequence[float]]
"""From the returns of a group, those that the sandbox lost left out, to as many advantages."""
Function = TypeVar("Function", bound=GroupAdvantages)

BASELINES: Registry[GroupAdvantages] = Registry("baseline", "kolmocli.baselines")


def register_baseline(name: str) -> Callable[[Function], Function]:
    """Register a function from the returns of one group to their advantages, under the name for `training.baseline`.

        @kolmo.register_baseline("median")
        def median(returns):
            middle = statistics.median(returns)
            return [r - middle for r in returns]

    It is called per group, and with `gamma` below 1 per line of a group's programs. A group whose advantages are all 0 teaches
    nothing.

    Raises:
        UsageError: the name is taken.
    """
    if name in _USUAL:
        raise UsageError(f"the baseline {name} comes with kolmo; choose another name")

    def register(function: Function) -> Function:
        return BASELINES.add(name, function, module=function.__module__)  # type: ignore[return-value]

    return register


def registered_advantages(returns: Sequence[float], name: str) -> list[float]:
    """Advantages by the function registered under this name.

    Raises:
        UsageError: there is none, it raises, or what it returns are no advantages.
    """
    try:
        found = [float(value) for value in BASELINES.get(name)(returns)]
    except Exception as error:
        raise UsageError(f"training.baseline {name}: {blame(error, name)}") from error
    if len(found) != len(returns) or not all(map(isfinite, found)):
        raise UsageError(
            f"training.baseline {name}: for {len(returns)} returns it must give {len(returns)} finite numbers, "
            f"and gave {len(found)}: {str(found)[:80]}"
        )
    return found


def _registered(name: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    return name if isinstance(name, str) and name not in _USUAL and name in BASELINES else handler(name)


BaselineName = Annotated[UsualBaseline, WrapValidator(_registered), PlainSerializer(str)]
