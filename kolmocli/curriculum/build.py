"""Make a controller from a kind, ladders and settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from kolmocli.curriculum.base import Controller, Ladder
from kolmocli.curriculum.families import FamilyController
from kolmocli.curriculum.guard import Guard
from kolmocli.curriculum.kinds import KINDS, is_whole
from kolmocli.curriculum.mixture import Mixture, Weigh
from kolmocli.curriculum.settings import HORIZON, check, settings_of, wants_horizon
from kolmocli.errors import UsageError


def controller(
    kind: str,
    families: Mapping[str, int | Ladder],
    *,
    target: float = 0.5,
    floor: float = 0.05,
    guard: float = 0.0,
    weigh: Weigh = "signal",
    **settings: Any,
) -> Controller:
    """A controller over some families, for your own trainer.

        controller = kolmo.controller("rasch", {"easy": 6, "hard": 9}, target=0.5)
        buckets = controller.propose(16, random.Random(0))
        controller.observe([kolmo.Result(bucket, passes=3, rollouts=8) for bucket in buckets])

    Args:
        kind: a name that is registered, such as `rasch`.
        families: how many levels each has, counted from 1; or a `Ladder`, with a target and a floor of its own.
        target: the pass rate to hold.
        floor: the least share of the groups that a family gets.
        guard: share of a family's groups that look past a level whose grader may be broken; 0: none (`curriculum/guard.py`).
        weigh: the value by which groups above the floors are shared: `signal`, mean U, or `alive`, the chance that a group has a pass and a failure.
        settings: those of the kind, such as `slope`.

    Raises:
        UsageError: there is no such kind or setting, or the numbers do not fit together.
    """
    if not families:
        raise UsageError("a controller needs at least one family, such as {'easy': 6}")
    ladders = {}
    for name, levels in families.items():
        if not isinstance(name, str):
            raise UsageError(f"the family {name!r}: a name is a text, which it becomes in a saved state")
        try:
            ladders[name] = levels if isinstance(levels, Ladder) else Ladder(levels, target=target, floor=floor)
        except (TypeError, ValueError) as error:
            raise UsageError(f"the family {name}: {error}") from None
    if not 0.0 <= guard <= 1.0:
        raise UsageError(f"guard is a share, from 0 to 1, got {guard!r}")
    if weigh not in get_args(Weigh):
        raise UsageError(f"weigh is {' or '.join(get_args(Weigh))}, got {weigh!r}")
    return guarded(make_controller(kind, ladders, settings, weigh=weigh), ladders, guard)


def guarded(controller: Controller, ladders: Mapping[str, Ladder], share: float) -> Controller:
    """The controller, which spends this share of a family's groups on looking past a level whose grader may be broken."""
    return Guard(controller, ladders, share) if share else controller


def make_controller(
    kind: str,
    ladders: Mapping[str, Ladder],
    settings: Mapping[str, Any],
    horizon: int | None = None,
    weigh: Weigh = "signal",
) -> Controller:
    """A controller of this kind. `horizon` is the number of planned steps, for a kind that follows a schedule; `weigh` is the
    value by which the mixture shares groups among families.

    Raises:
        UsageError: there is no such kind or setting, or the kind refuses what it is given.
    """
    made = KINDS.get(kind)
    check(kind, settings_of(made), settings)
    given = {**settings, **({HORIZON: horizon} if wants_horizon(made) else {})}
    try:
        if is_whole(made):
            whole: Controller = made(ladders, **given)
            return whole
        levels = {family: made(ladder, **given) for family, ladder in ladders.items()}
        return FamilyController(kind, levels, Mixture(made.floors(ladders), weigh))
    except ValueError as error:
        raise UsageError(str(error)) from error
