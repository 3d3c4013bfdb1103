"""The prompts of a finite set that were never drawn, in cells of like ones."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import repeat
from typing import Any

import numpy as np

from kolmocli.curriculum.base import Bucket
from kolmocli.errors import UsageError

_STEP = 0.5
"""Logits between two cells of prompts with a measured pass rate."""
_EXTREME = 0.02
"""A measured pass rate is taken at least this far from 0 and 1: the few rollouts that it comes from say no more."""

Column = Sequence[Any] | np.ndarray


class Cells:
    """Groups of prompts that are alike before anything is known: those of one bucket, and of about one measured pass rate.

    A cell is a list that is shuffled as it is used up (Fisher and Yates), with the moves that were made kept in a dictionary:
    memory grows with what was drawn.

    Args:
        size: how many prompts there are.
        family, level, pass_rate: columns with an entry for each, or None.

    Raises:
        UsageError: a column of another length, a level that is no whole number, a pass rate outside 0 to 1.
    """

    def __init__(
        self, size: int, family: Column | None = None, level: Column | None = None, pass_rate: Column | None = None
    ) -> None:
        if size < 1:
            raise UsageError("there are no prompts to draw from")
        family, level, pass_rate = _plain(family), _plain(level), _plain(pass_rate)
        _same_length(size, family=family, level=level, pass_rate=pass_rate)
        of_prompt, self.buckets = _buckets(size, family, level)
        logits = np.zeros(size) if pass_rate is None else _logits(pass_rate)
        count = np.bincount(of_prompt, minlength=len(self.buckets))
        means = np.bincount(of_prompt, weights=logits, minlength=len(self.buckets)) / count
        self.abilities = [float(mean) for mean in means]
        """Mean of the measured pass rates of each bucket, in logits; 0 where none were."""
        steps = np.round((logits - means[of_prompt]) / _STEP).astype(np.int64)
        low, width = int(steps.min()), int(np.ptp(steps)) + 1
        keys, cells = np.unique(of_prompt * width + (steps - low), return_inverse=True)
        self.bucket = [int(key) // width for key in keys]
        """The number of each cell's bucket."""
        self.offset = [_STEP * (int(key) % width + low) for key in keys]
        """Expected ease of the prompts of each cell compared with their bucket, in logits."""
        self.cell = cells.reshape(-1).astype(np.int32)
        """The cell of every prompt."""
        self.centers = np.bincount(self.cell, weights=np.arange(size)) / np.bincount(self.cell)
        """Mean number of the prompts of each cell."""
        self._order = np.argsort(self.cell, kind="stable").astype(np.int32)
        """By cell, ascending in each."""
        sizes = np.bincount(self.cell, minlength=len(keys))
        self._starts = [0, *(int(n) for n in np.cumsum(sizes))]
        self.left = [int(n) for n in sizes]
        """Prompts of each cell that were not drawn yet."""
        self._moved: dict[int, int] = {}
        """By place, the prompt that was moved there."""
        self._placed: dict[int, int] = {}
        """By prompt, the place that it was moved to."""

    def __len__(self) -> int:
        return len(self.bucket)

    def at(self, cell: int, share: float) -> int:
        """One of the prompts that are left in a cell: that at this share, from 0 to 1, of them."""
        return self._at(self._starts[cell] + min(int(share * self.left[cell]), self.left[cell] - 1))

    def take(self, prompt: int) -> None:
        """Take a prompt that is left out of its cell."""
        cell = int(self.cell[prompt])
        place, end = self._place(prompt), self._starts[cell] + self.left[cell] - 1
        last = self._at(end)
        self._moved[place], self._placed[last] = last, place
        self._moved.pop(end, None)
        self._placed.pop(prompt, None)
        self.left[cell] -= 1

    def state_dict(self) -> dict[str, Any]:
        return {"left": list(self.left), "moved": [list(move) for move in self._moved.items()]}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.left = [int(n) for n in state["left"]]
        self._moved = {int(place): int(prompt) for place, prompt in state["moved"]}
        self._placed = {prompt: place for place, prompt in self._moved.items()}

    def fits(self, state: dict[str, Any], drawn: Sequence[int]) -> bool:
        """Whether the prompts that a saved state has left and those that were drawn are those of each cell, every one once."""
        sizes = np.bincount(self.cell)
        cell_of_place = np.repeat(np.arange(len(sizes)), sizes)
        is_left = np.arange(len(self.cell)) - np.repeat(self._starts[:-1], sizes) < np.repeat(state["left"], sizes)
        order = self._order.copy()
        for place, prompt in state["moved"]:
            order[place] = prompt
        left = order[is_left]
        each = np.sort(np.concatenate([left, np.array(drawn, dtype=np.int64)]))
        return np.array_equal(each, np.arange(len(self.cell))) and np.array_equal(
            self.cell[left], cell_of_place[is_left]
        )

    def _at(self, place: int) -> int:
        return self._moved.get(place, int(self._order[place]))

    def _place(self, prompt: int) -> int:
        """The place of a prompt that is left."""
        if prompt in self._placed:
            return self._placed[prompt]
        start, end = self._starts[cell := int(self.cell[prompt])], self._starts[cell + 1]
        return bisect_left(self._order, prompt, start, end)


def _plain(column: Column | None) -> Column | None:
    """A column of numpy, pandas or torch as a list: a family is called `2` and not `tensor(2)`, and a wrong entry is found by its
    place."""
    listed: Column | None = getattr(column, "tolist", lambda: column)()
    return listed


def _same_length(size: int, **columns: Column | None) -> None:
    for name, column in columns.items():
        if column is not None and len(column) != size:
            raise UsageError(f"{name} has {len(column):,} entries for {size:,} prompts; it needs one for each")


def _buckets(size: int, family: Column | None, level: Column | None) -> tuple[np.ndarray, list[Bucket]]:
    """The number of the bucket of every prompt, and the buckets."""
    if family is None and level is None:
        return np.zeros(size, np.int64), [Bucket("prompts", 1)]
    families = repeat("prompts", size) if family is None else map(str, family)
    levels = repeat(1, size) if level is None else map(_level, level, range(size))
    names = list(zip(families, levels, strict=True))
    known = {name: number for number, name in enumerate(sorted(set(names)))}
    return np.fromiter((known[name] for name in names), np.int64, size), [Bucket(*name) for name in known]


def _level(value: Any, prompt: int) -> int:
    try:
        level = int(value)
    except (TypeError, ValueError, OverflowError):
        level = None
    if level is None or level != value:
        raise UsageError(f"prompt {prompt}: a level is a whole number, got {value!r}")
    return level


def _logits(pass_rate: Column) -> np.ndarray:
    try:
        rates = np.asarray(pass_rate, dtype=float)
        if rates.ndim != 1:
            raise ValueError(f"it has the shape {rates.shape}")
        wrong = np.flatnonzero(~((rates >= 0.0) & (rates <= 1.0)))
    except (TypeError, ValueError) as error:
        raise UsageError(f"pass_rate: {error}; it needs a number from 0 to 1 for each prompt") from None
    if len(wrong):
        raise UsageError(f"prompt {wrong[0]}: a pass rate lies between 0 and 1, got {pass_rate[int(wrong[0])]!r}")
    rates = rates.clip(_EXTREME, 1.0 - _EXTREME)
    return np.log(rates / (1.0 - rates))
