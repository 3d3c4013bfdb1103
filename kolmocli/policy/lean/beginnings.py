"""Prompts that begin alike: before each question of a family stand the chat template, the system prompt and its example.

A beginning that several prompts share is read once for all of them. In sampling it stays read until the weights change; the
learner reads it once per update. Each beginning is read by itself, so that what it gives depends on nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import inf
from typing import Any
from weakref import WeakKeyDictionary

from kolmocli.policy import limits
from kolmocli.policy.head import Head
from kolmocli.policy.presets import is_built_here

Ids = tuple[int, ...]


def beginnings_in(
    model: Any, head: Head | None, prompts: Sequence[Sequence[int]], version: int | None
) -> tuple[list[Ids], dict[tuple[Ids, str], list[Any]]]:
    """The beginnings to read once for the prompts, and those already read with these weights."""
    if head is None or not may_begin_alike(head.linear.out_features, model.device.type):
        return [()] * len(prompts), {}
    asked = [tuple(prompt) for prompt in prompts]
    found = beginnings_of(asked)
    return [found[prompt] for prompt in asked], {} if version is None else shelf_of(model, version).read


def may_begin_alike(words: int, device: str) -> bool:
    """Whether beginnings are looked for in the prompts of a model with this many words on this kind of device.

    A preset's prompt is a bare question, which begins as another does by chance only. A GPU reads a whole prompt in the
    time that it takes to start the further operations.
    """
    return device == "cpu" and not is_built_here(words)


def beginnings_of(prompts: Iterable[Ids], most: float = inf) -> dict[Ids, Ids]:
    """Beginning that each prompt shares with others, empty for one that shares less than `limits.BEGINNING` tokens.

    The last token of a prompt is never part of it, as the first answer token is predicted from there. Prompts are grouped
    so that the fewest tokens are read. Those that save most are taken as long as they have no more than `most` tokens in all.
    """
    cut = sorted((prompt[:-1], prompt) for prompt in prompts)
    alike = [_in_common(a, b) for (a, _), (b, _) in pairwise(cut)]
    found = dict.fromkeys((prompt for _, prompt in cut), Ids())
    groups = _best(alike, 0, len(cut))[1]
    for start, stop, length in sorted(groups, key=lambda of: (of[0] - of[1] + 1) * of[2]):
        most -= length
        if most < 0:
            break
        found.update((prompt, before[:length]) for before, prompt in cut[start:stop])
    return found


def _in_common(first: Ids, second: Ids) -> int:
    """Tokens that both begin with."""
    apart = (i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b)
    return next(apart, min(len(first), len(second)))


def _best(alike: list[int], start: int, stop: int) -> tuple[int, list[tuple[int, int, int]]]:
    """Tokens saved among the sorted prompts `start` to `stop`, and the groups that save them: from, to, shared tokens.

    `alike[i]` is what prompts i and i + 1 share.
    """
    if stop - start < 2:
        return 0, []
    length = min(alike[start : stop - 1])
    whole = length * (stop - start - 1) if length >= limits.BEGINNING else 0
    borders = [start, *(i + 1 for i in range(start, stop - 1) if alike[i] == length), stop]
    parts = [_best(alike, *border) for border in pairwise(borders)]
    apart = sum(saved for saved, _ in parts)
    if whole and whole >= apart:
        return whole, [(start, stop, length)]
    return apart, [group for _, groups in parts for group in groups]


@dataclass
class Shelf:
    """The beginnings that a model has read since its weights were last changed: of each what its layers keep."""

    weights: tuple[int, ...] = ()
    read: dict[tuple[Ids, str], list[Any]] = field(default_factory=dict)


def shelf_of(model: Any, version: int) -> Shelf:
    """Empty when the weights are not those that its beginnings were read with. torch counts what is written to a tensor;
    `version` tells of writers that torch does not see."""
    shelf = _SHELVES.setdefault(model, Shelf())
    weights = (version, *(weight._version for weight in model.parameters()))
    if shelf.weights != weights:
        shelf.weights = weights
        shelf.read.clear()
    return shelf


_SHELVES: WeakKeyDictionary[Any, Shelf] = WeakKeyDictionary()
