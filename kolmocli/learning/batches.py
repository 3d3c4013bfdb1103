"""Cut a batch of weighted rollouts into parts that fit in memory. The gradient does not depend on the cut."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Protocol, Self

from kolmocli.learning.limits import KEYS_PER_MICRO_BATCH, TOKENS_PER_MICRO_BATCH
from kolmocli.policy.lean.beginnings import Ids
from kolmocli.policy.rollout import Rollout, sampled_at


@dataclass(frozen=True, slots=True)
class Weighted:
    """A rollout and one weight per token: the advantage that its log-probability is multiplied with."""

    rollout: Rollout
    weights: Sequence[float]

    @property
    def end(self) -> int:
        """The number of tokens up to the last that teaches something."""
        return next((i for i in range(len(self.weights), 0, -1) if self.weights[i - 1]), 0)

    def scaled(self, factor: float) -> Self:
        return replace(self, weights=[factor * w for w in self.weights])

    def cut(self, end: int) -> Self:
        """Its first `end` tokens."""
        return replace(self, rollout=self.rollout.cut(end), weights=self.weights[:end])


@dataclass(frozen=True, slots=True)
class Batch:
    """Rollouts that one step learns from: those of each group with their weights, none for a group without
    an advantage, and `lessons` that belong to no group."""

    groups: Sequence[Sequence[Weighted]] = ()
    lessons: Sequence[Weighted] = ()

    def __iter__(self) -> Iterator[Weighted]:
        return chain(*self.groups, self.lessons)

    def __len__(self) -> int:
        return sum(map(len, self.groups)) + len(self.lessons)

    def __add__(self, lessons: Sequence[Weighted]) -> Batch:
        return Batch(self.groups, [*self.lessons, *lessons])

    def parts(self, count: int) -> list[Batch]:
        """As many batches, with every so-manyth group and lesson each."""
        return [Batch(self.groups[i::count], self.lessons[i::count]) for i in range(count)]

    def map(self, change: Callable[[Weighted], Weighted]) -> Batch:
        return Batch([[change(item) for item in group] for group in self.groups], [change(x) for x in self.lessons])


def per_token(item: Weighted) -> Weighted:
    """The sum of a rollout's log-probabilities replaced by their mean over its tokens.

    A long answer then moves the policy no further than a short one. That is a bias (Liu et al. 2025, arXiv 2503.20783, 3.1):
    of two right answers the shorter is pulled harder, and of two wrong ones the longer is pushed less.
    """
    return replace(item, weights=[w / len(item.weights) for w in item.weights])


def by_temperature(batch: Iterable[Weighted], otherwise: float) -> list[list[Weighted]]:
    """Parts whose rollouts were sampled at one temperature each; `otherwise` is that of answers, which were not."""
    found: dict[float, list[Weighted]] = {}
    for item in batch:
        found.setdefault(sampled_at([item.rollout], otherwise), []).append(item)
    return [*found.values()]


class Begun(Protocol):
    """Beginnings of prompts, where they are read before the prompts (`policy/lean/scoring.py`)."""

    room: int | None
    """Tokens of a micro-batch; None for those of `_Room`."""

    def of(self, prompt: Ids) -> Ids: ...


@dataclass
class _Tokens:
    """Size of a micro-batch so far where nothing is padded and no key is copied: tokens, without those read before."""

    room: int
    begun: Begun
    tokens: int = 0

    def with_one(self, rollout: Rollout, new_prompt: bool) -> _Tokens:
        of_prompt = len(rollout.prompt) - len(self.begun.of(rollout.prompt)) if new_prompt else 0
        return replace(self, tokens=self.tokens + of_prompt + len(rollout.tokens))

    def is_too_large(self, shared: bool) -> bool:
        return self.tokens > self.room


@dataclass
class _Room:
    """Size of a micro-batch so far, padding included: P prompts of up to T tokens, N rollouts of up to C."""

    times: float
    prompts: int = 0
    prompt_tokens: int = 0
    rollouts: int = 0
    program_tokens: int = 0

    def with_one(self, rollout: Rollout, new_prompt: bool) -> _Room:
        return _Room(
            self.times, self.prompts + new_prompt, max(self.prompt_tokens, len(rollout.prompt)),
            self.rollouts + 1, max(self.program_tokens, len(rollout.tokens)),
        )  # fmt: skip

    def is_too_large(self, shared: bool) -> bool:
        keys = self.rollouts * (self.prompt_tokens + self.program_tokens)
        tokens = self.prompts * self.prompt_tokens + self.rollouts * self.program_tokens if shared else keys
        return tokens > self.times * TOKENS_PER_MICRO_BATCH or keys > self.times * KEYS_PER_MICRO_BATCH


def micro_batches(
    batch: Iterable[Weighted], *, shared: bool = True, begun: Begun | None = None, times: float = 1.0
) -> Iterator[list[Weighted]]:
    """Rollouts of one prompt together, as it is read once for all (if `shared`); prompts of like length side by side.

    Tokens beyond the last that teaches something are cut off, and rollouts without any are left out. A part is `times` as large
    as the limits say.
    """
    groups: dict[tuple[int, ...], list[Weighted]] = {}
    for item in filter(None, map(_cut, batch)):
        groups.setdefault(item.rollout.prompt, []).append(item)
    part: list[Weighted] = []
    empty = _Room(times) if begun is None or begun.room is None else _Tokens(begun.room, begun)
    room: Any = empty
    for group in sorted(groups.values(), key=lambda g: (len(g[0].rollout.prompt), max(map(_length, g)))):
        for i, item in enumerate(sorted(group, key=_length)):
            larger = room.with_one(item.rollout, new_prompt=not i)
            if part and larger.is_too_large(shared):
                yield part
                part, larger = [], empty.with_one(item.rollout, new_prompt=True)
            part.append(item)
            room = larger
    if part:
        yield part


def _length(item: Weighted) -> int:
    return len(item.weights)


def _cut(item: Weighted) -> Weighted | None:
    end = item.end
    return item if end == len(item.weights) else item.cut(end) if end else None
