"""Choose prompts of a finite set by what each is expected to teach, one posterior for every prompt.

    prompts = Prompts(7473, level=levels, target=0.5, seed=0)
    index = prompts.draw()
    prompts.observe([index], passes=[3], rollouts=[8])

`integrations/torch.py` makes a sampler of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypedDict

import numpy as np

from kolmocli.curriculum.finite.cells import Cells, Column
from kolmocli.curriculum.finite.posterior import Posterior, expected_rate
from kolmocli.curriculum.finite.seen import SeenPrompts
from kolmocli.curriculum.finite.weights import Weights
from kolmocli.errors import UsageError

_SHARPEST = 100.0
"""At which the weight of the least closeness is a float still."""
_PATIENCE = 100
"""Versions of the policy after which a result that did not come is no longer waited for."""


class Options(TypedDict, total=False):
    """Options of `Prompts`, apart from the prompts."""

    target: float
    seed: int
    probes: float
    memory: float
    sharpness: float


class Prompts:
    """A finite set of prompts and what is believed of each.

    A draw takes O(log n) time and memory grows with the prompts that were seen. A prompt that was drawn is not drawn again before
    its result is known, or has been waited for in vain.

    Args:
        size: how many prompts there are; they are numbered from 0.
        family, level, pass_rate: columns with an entry for each prompt, or None. Prompts of one family and level share what is
            learned from them; a pass rate that was measured before is the first belief.
        target: the pass rate to hold.
        seed: of the draws.
        probes: share of the draws that are of any prompt, each as likely as the other.
        memory: versions of the policy after which 1/e of what was seen of a prompt counts.
        sharpness: the power of a prompt's closeness to the target that it is drawn in proportion to. 0 draws evenly; the higher,
            the more the same few are asked again.

    Raises:
        UsageError: a column does not fit, or a number is out of its range.
    """

    def __init__(
        self,
        size: int,
        *,
        family: Column | None = None,
        level: Column | None = None,
        pass_rate: Column | None = None,
        target: float = 0.5,
        seed: int = 0,
        probes: float = 0.05,
        memory: float = 100.0,
        sharpness: float = 8.0,
    ) -> None:
        if not 0.0 < target < 1.0:
            raise UsageError(f"a target lies between 0 and 1, got {target!r}")
        if not 0.0 <= probes <= 1.0:
            raise UsageError(f"probes is a share, from 0 to 1, got {probes!r}")
        if not memory > 0.0:
            raise UsageError(f"memory is a number of versions above 0, got {memory!r}")
        if not 0.0 <= sharpness <= _SHARPEST:
            raise UsageError(f"sharpness is a power from 0 to {_SHARPEST:g}, got {sharpness!r}")
        if seed < 0:
            raise UsageError(f"a seed is a whole number of at least 0, got {seed!r}")
        self.size = size
        self.cells = Cells(size, family, level, pass_rate)
        self.posterior = Posterior(len(self.cells.buckets), memory)
        for ability, measured in zip(self.posterior.ability, self.cells.abilities, strict=True):
            ability.mean = measured
        self.seen = SeenPrompts(self.cells, self.posterior)
        self._waiting: dict[int, int] = {}
        """Prompts without a result since they were drawn, and the version that they were drawn at; oldest first."""
        self._rng = np.random.Generator(np.random.PCG64(seed))
        self.weights = Weights(
            self.cells, self.posterior, self.seen,
            target=math.log(target / (1.0 - target)), probes=probes, sharpness=sharpness,
        )  # fmt: skip

    def draw(self) -> int:
        """The number of the next prompt, which is out from now on."""
        if len(self._waiting) == self.size:
            self._release(self._waiting)  # all are out: ask again
        prompt, _ = self.weights.find(*self._rng.random(3).tolist())
        self.include(prompt)
        self._waiting[prompt] = self.posterior.version
        self.weights.put_out(prompt)
        self.weights.since += 1
        return prompt

    def include(self, prompt: int) -> None:
        """Keep a belief of its own about this prompt. It can be chosen again when its result is known."""
        if prompt not in self.seen.place:
            self.cells.take(prompt)
            self.seen.add(prompt)
            self.weights.weigh_cell(int(self.cells.cell[prompt]))

    @property
    def waiting(self) -> list[int]:
        """Prompts that were drawn and have no result yet, oldest first."""
        return list(self._waiting)

    def observe(
        self,
        indices: Sequence[int],
        passes: Sequence[float],
        rollouts: Sequence[int],
        *,
        age: int | Sequence[int] = 0,
    ) -> None:
        """Take in the results that came in at one version of the policy, `age` versions old, all or each. A prompt with no
        rollouts, because all were lost, can be drawn again.

        Raises:
            UsageError: a prompt was never drawn, or its passes are no part of its rollouts; then nothing is taken in.
        """
        ages = list(age) if isinstance(age, Sequence) else [age] * len(indices)
        if wrong := [each for each in ages if not 0 <= each < math.inf]:
            raise UsageError(f"age is a number of updates from 0 on, got {wrong[0]!r}")
        if not len(indices) == len(passes) == len(rollouts) == len(ages):
            raise UsageError(
                f"{len(indices)} prompts, {len(passes)} passes, {len(rollouts)} rollouts: one of each a prompt"
            )
        # plain numbers: those of torch would end in the state
        results = list(zip(map(int, indices), map(float, passes), map(float, rollouts), ages, strict=True))
        for prompt, k, n, _ in results:
            if prompt not in self.seen.place:
                raise UsageError(f"prompt {prompt} was never drawn; observe() takes numbers that draw() gave")
            if not 0 <= k <= n < math.inf:
                raise UsageError(f"prompt {prompt}: {k:g} passes of {n:g} rollouts")
        self.posterior.advance()
        self.weights.advance()
        for prompt, k, n, late in results:
            self.weights.since += prompt not in self._waiting
            if n:
                self.seen.learn(prompt, k, n, late)
            self._release([prompt])
        lost = self.posterior.version - _PATIENCE
        self._release([prompt for prompt, version in self._waiting.items() if version < lost])
        if self.weights.is_stale:
            self.weights.refresh(self._waiting)

    def pass_rate(self, prompt: int) -> float:
        """The pass rate that is expected of the prompt now."""
        x = self.weights.logit(prompt)
        return float(expected_rate(x.mean, x.variance))

    def metrics(self) -> dict[str, float]:
        """`seen`, the share of the prompts with a result; `hard`, `in_reach` and `easy`, the shares of those whose pass rate is
        expected below .1, between, and above .9; and the pass rate that is expected of a new prompt of
        every bucket, which can be off by .2 where the same prompts come again and again: what fades of them looks like news of it."""
        rates = expected_rate(*self.seen.logits(judged=True))
        count = max(len(rates), 1)
        hard, easy = int((rates < 0.1).sum()), int((rates > 0.9).sum())
        found = {
            "seen": len(rates) / self.size, "hard": hard / count,
            "in_reach": (len(rates) - hard - easy) / count, "easy": easy / count,
        }  # fmt: skip
        for number, bucket in enumerate(self.cells.buckets):
            ability = self.posterior.ability[number]
            both = ability.variance + self.posterior.spread[number]
            found[f"{bucket}/pass_rate"] = float(expected_rate(ability.mean, both))
        return found

    def state_dict(self) -> dict[str, Any]:
        """Plain JSON, as long as the prompts that were drawn are many."""
        return {
            "size": self.size,
            "buckets": [str(bucket) for bucket in self.cells.buckets],
            "posterior": self.posterior.state_dict(),
            "cells": self.cells.state_dict(),
            "seen": self.seen.state_dict(),
            "waiting": [list(each) for each in self._waiting.items()],
            **self.weights.state_dict(),
            "rng": self._rng.bit_generator.state["state"],
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on exactly where the state was taken.

        Raises:
            UsageError: it is the state of other prompts, or of something else.
        """
        try:
            mine, its = (self.size, [str(b) for b in self.cells.buckets]), (state["size"], list(state["buckets"]))
            if mine != its or len(state["cells"]["left"]) != len(self.cells):
                raise UsageError(
                    f"the state is of {its[0]:,} prompts in {len(its[1])} buckets, and these are {mine[0]:,} in {len(mine[1])}:"
                    " go on with the data and columns that it was saved for"
                )
            if not self.cells.fits(state["cells"], state["seen"]["prompts"]):
                raise UsageError(
                    "the state names prompts that are not there, or that had another family, level or pass rate:"
                    " go on with the data and columns that it was saved for"
                )
            self.posterior.load_state_dict(state["posterior"])
            self.cells.load_state_dict(state["cells"])
            self.seen.load_state_dict(state["seen"])
            self._waiting = {int(prompt): int(version) for prompt, version in state["waiting"]}
            self.weights.load_state_dict(state)
            self._rng.bit_generator.state = {**self._rng.bit_generator.state, "state": state["rng"]}
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            missing = f"it has no {error}" if isinstance(error, KeyError) else str(error)
            raise UsageError(f"this is no state of a set of prompts: {missing}") from None

    def _release(self, prompts: Iterable[int]) -> None:
        """Let these be drawn again."""
        for prompt in list(prompts):
            self._waiting.pop(prompt, None)
            self.weights.put_back(prompt)
