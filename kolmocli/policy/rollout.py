"""One sampled program with everything that the trainer needs, so that nothing is tokenised twice."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rollout:
    """`logprobs[t]` is the sampler's log-probability of `tokens[t]`, at the temperature of sampling.

    `lines[t]` is the line of the program, from 0, that token t belongs to; a line break ends its line. What
    was given of it is the end of the prompt and the beginning of the text.
    `finished` is False when the token limit cut the program short.
    """

    prompt: tuple[int, ...]
    tokens: tuple[int, ...]
    logprobs: tuple[float, ...]
    lines: tuple[int, ...]
    text: str
    finished: bool
