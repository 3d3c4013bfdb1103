"""One sampled program with everything that the trainer needs, so that nothing is tokenised twice."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rollout:
    """`logprobs[t]` is the sampler's log-probability of `tokens[t]`, at the temperature of sampling.

    `lines[t]` is the line of the program, from 0, that token t belongs to; a line break ends its line. What
    was given of it is the end of the prompt and the beginning of the text.
    `finished` is False when the token limit cut the program short. With a value head `values[t]` is what it said of the
    state before token t, when that was sampled; else there are none. `spared` are the tokens t that it might
    have been stopped at (`roulette.py`), `stopped` the line that it was not allowed to begin, and the value there.
    """

    prompt: tuple[int, ...]
    tokens: tuple[int, ...]
    logprobs: tuple[float, ...]
    lines: tuple[int, ...]
    text: str
    finished: bool
    values: tuple[float, ...] = ()
    spared: tuple[int, ...] = ()
    stopped: tuple[int, float] | None = None

    @property
    def starts(self) -> list[int]:
        """Where its lines begin, as far as they have tokens."""
        return [t for t, line in enumerate(self.lines) if not t or line != self.lines[t - 1]]
