"""How a batch of weighted rollouts is cut into what fits in memory at once. The gradient does not depend on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from kolmocli.learning.limits import KEYS_PER_MICRO_BATCH, TOKENS_PER_MICRO_BATCH
from kolmocli.policy.rollout import Rollout


@dataclass(frozen=True, slots=True)
class Weighted:
    """A rollout and one weight per token: the advantage that its log-probability is multiplied with."""

    rollout: Rollout
    weights: Sequence[float]
    group: int | None = None
    """Which group of the step it was sampled in; None for what is no rollout of a task."""
    answer: bool = False
    """A right answer that is taught, and not a program that was sampled."""
    returns: Sequence[float] = ()
    """What each line of its episode came to, where a value head learns that."""
    stands_for: float = 1.0
    """How many rollouts of its kind there were for each that is kept."""


def per_token(batch: Sequence[Weighted]) -> list[Weighted]:
    """The same batch with each rollout's sum of log-probabilities replaced by their mean over its tokens.

    A long answer then moves the policy no further than a short one. That is a bias (Liu et al. 2025, arXiv 2503.20783, 3.1):
    of two right answers the shorter is pulled harder, and of two wrong ones the longer is pushed less.
    """
    return [replace(item, weights=[w / len(item.weights) for w in item.weights]) for item in batch]


@dataclass
class _Room:
    """What a micro-batch takes so far, padding included: P prompts of up to T tokens, N rollouts of up to C."""

    prompts: int = 0
    prompt_tokens: int = 0
    rollouts: int = 0
    program_tokens: int = 0

    def with_one(self, rollout: Rollout, new_prompt: bool) -> _Room:
        return _Room(
            self.prompts + new_prompt, max(self.prompt_tokens, len(rollout.prompt)),
            self.rollouts + 1, max(self.program_tokens, len(rollout.tokens)),
        )  # fmt: skip

    def is_too_large(self, shared: bool) -> bool:
        keys = self.rollouts * (self.prompt_tokens + self.program_tokens)
        tokens = self.prompts * self.prompt_tokens + self.rollouts * self.program_tokens if shared else keys
        return tokens > TOKENS_PER_MICRO_BATCH or keys > KEYS_PER_MICRO_BATCH


def micro_batches(batch: Sequence[Weighted], *, shared: bool = True) -> Iterator[list[Weighted]]:
    """Rollouts of one prompt together, as it is read once for all (if `shared`); prompts of like length side by side.

    Tokens beyond the last that teaches something are cut off, and rollouts without any are left out.
    """
    groups: dict[tuple[int, ...], list[Weighted]] = {}
    for item in filter(None, map(_cut, batch)):
        groups.setdefault(item.rollout.prompt, []).append(item)
    part: list[Weighted] = []
    room = _Room()
    for group in sorted(groups.values(), key=lambda g: (len(g[0].rollout.prompt), max(map(_length, g)))):
        for i, item in enumerate(sorted(group, key=_length)):
            larger = room.with_one(item.rollout, new_prompt=not i)
            if part and larger.is_too_large(shared):
                yield part
                part, larger = [], _Room().with_one(item.rollout, new_prompt=True)
            part.append(item)
            room = larger
    if part:
        yield part


def _length(item: Weighted) -> int:
    return len(item.weights)


def _cut(item: Weighted) -> Weighted | None:
    lines = item.rollout.lines
    end = next((i for i in range(len(lines), 0, -1) if item.weights[i - 1] or lines[i - 1] < len(item.returns)), 0)
    if end in (0, len(item.weights)):
        return item if end else None
    rollout = item.rollout
    kept = replace(
        rollout, tokens=rollout.tokens[:end], logprobs=rollout.logprobs[:end], lines=rollout.lines[:end],
        values=rollout.values[:end],
    )  # fmt: skip
    return replace(item, rollout=kept, weights=item.weights[:end])
