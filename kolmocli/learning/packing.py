"""Cut a batch of weighted rollouts into parts that fit in memory. The gradient does not depend on the cut."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

from kolmocli.learning.batches import Weighted
from kolmocli.learning.limits import KEYS_PER_MICRO_BATCH, TOKENS_PER_MICRO_BATCH
from kolmocli.policy.lean.beginnings import Ids
from kolmocli.policy.rollout import Rollout


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
