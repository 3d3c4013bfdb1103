"""Share of a target that a program has made so far: the potential of the shaping, and the process reward."""

from __future__ import annotations

from collections.abc import Sequence

Value = tuple[int, ...]


def explained(values: Sequence[Value | None], target: Value) -> list[float]:
    """The share of the target that is explained after each value, in [0, 1]; it never falls.

    Every value explains one place where it stands in the target as a block: the one that adds the most items that
    no earlier value explains, the leftmost of equals. So 3 4 5 explains a third of 3 4 5 3 4 5 3 4 5, its threefold
    repetition all of it, and two pieces what both cover, before they are joined. The items of an interleaving are no
    block: what makes it is only seen once it is made.
    """
    known = [False] * len(target)
    shares = []
    for value in values:
        if value:
            place = max(_places(value, target), key=lambda start: _added(known, start, len(value)), default=None)
            if place is not None:
                known[place : place + len(value)] = [True] * len(value)
        shares.append(sum(known) / len(target) if target else 0.0)
    return shares


def _places(value: Value, target: Value) -> list[int]:
    """Positions of the value in the target, from the left."""
    width = len(value)
    return [i for i in range(len(target) - width + 1) if target[i] == value[0] and target[i : i + width] == value]


def _added(known: Sequence[bool], start: int, width: int) -> int:
    return width - sum(known[start : start + width])
