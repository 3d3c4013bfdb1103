"""One sampled program with everything that the trainer needs, so that nothing is tokenised twice."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Self


@dataclass(frozen=True, slots=True)
class Rollout:
    """`logprobs[t]` is the sampler's log-probability of `tokens[t]`, at the temperature of sampling, `temperature`.

    `lines[t]` is the line of the program, from 0, that token t belongs to; a line break ends its line. A given
    prefix is the end of the prompt and the beginning of the text.
    `finished` is False when the token limit cut the program short. A right answer that is taught has the same shape. It was
    not sampled, so it has no `logprobs` and no temperature, and neither has a greedy one.
    """

    prompt: tuple[int, ...]
    tokens: tuple[int, ...]
    logprobs: tuple[float, ...]
    lines: tuple[int, ...]
    text: str
    finished: bool
    temperature: float | None = field(default=None, kw_only=True)

    @property
    def is_answer(self) -> bool:
        return not self.logprobs

    @property
    def starts(self) -> list[int]:
        """Starts of its lines, as far as they have tokens."""
        return [t for t, line in enumerate(self.lines) if not t or line != self.lines[t - 1]]

    def cut(self, end: int) -> Self:
        """Its first `end` tokens, for learning: the text stays whole."""
        return replace(self, tokens=self.tokens[:end], logprobs=self.logprobs[:end], lines=self.lines[:end])


@dataclass(frozen=True, slots=True)
class ValuedRollout(Rollout):
    """`values[t]` is what the policy's value said of the state before token t, when that was sampled."""

    values: tuple[float, ...] = ()


def sampled_at(rollouts: Iterable[Rollout], otherwise: float) -> float:
    """The temperature of rollouts that have one in common, which is that to score them at; `otherwise` that of answers."""
    return next((r.temperature for r in rollouts if r.temperature is not None), otherwise)
