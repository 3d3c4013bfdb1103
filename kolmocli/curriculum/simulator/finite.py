"""Finite sets of prompts under a learner whose ability is known: `kolmo curriculum simulate --prompts N`.

A rollout of prompt i passes with probability sigma(ability + ease_i), ease_i ~ N(0, 2²). The ability begins at −3 and grows by 0.03
logits an update times the mean of 4p(1−p) over the groups of the update, of which there are 16 of 8 rollouts.

A player of one's own is a class in `PLAYERS`, made with a `World`; a plugin may put it there.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np

from kolmocli.curriculum.base import Bucket, Result
from kolmocli.curriculum.build import controller
from kolmocli.curriculum.finite.prompts import Prompts

GROUPS, GROUP_SIZE, UPDATES = 16, 8, 300
_SPREAD, _START, _GROWTH = 2.0, -3.0, 0.03
_REFERENCES = (-4.0, 2.0)
"""Abilities of the weak and the strong model whose pass rates BOTS is told."""


@dataclass(frozen=True, slots=True)
class World:
    """A player's information: the number of prompts, its seed, the pass rate to hold, and the pass rates of two reference models,
    measured by 8 rollouts of every prompt, [size, 2], which most rules have no use for."""

    size: int
    seed: int
    target: float
    references: np.ndarray


class Player(Protocol):
    """`draw` says which prompts an update asks, [16]; `observe` hears how many of 8 rollouts each passed."""

    def draw(self) -> Sequence[int]: ...

    def observe(self, prompts: Sequence[int], passes: Sequence[int]) -> None: ...


class Uniform:
    """Draws evenly."""

    def __init__(self, world: World) -> None:
        self.rng, self.size = np.random.default_rng(world.seed), world.size

    def draw(self) -> Sequence[int]:
        return [int(n) for n in self.rng.integers(self.size, size=GROUPS)]

    def observe(self, prompts: Sequence[int], passes: Sequence[int]) -> None:
        return None


class Refill(Uniform):
    """Draws evenly, and an update waits until 16 of its groups have a pass and a failure (DAPO, arXiv 2503.14476). Groups that are thrown
    away are paid for, so there are fewer updates."""

    refills = True


class Posterior:
    """kolmo's own: `PassRateSampler`."""

    def __init__(self, world: World) -> None:
        self.prompts = Prompts(world.size, seed=world.seed, target=world.target)

    def draw(self) -> Sequence[int]:
        return [self.prompts.draw() for _ in range(GROUPS)]

    def observe(self, prompts: Sequence[int], passes: Sequence[int]) -> None:
        self.prompts.observe(prompts, passes, [GROUP_SIZE] * len(prompts))


class Profiled(Posterior):
    """The same, told the mean pass rate of the reference models of every prompt."""

    def __init__(self, world: World) -> None:
        known = world.references.mean(axis=1)
        self.prompts = Prompts(world.size, seed=world.seed, target=world.target, pass_rate=known)


class Buckets:
    """kolmo's control of levels, `rasch`: of eight levels of equal size by the mean pass rate of the reference models, easy to hard, as
    `kolmo curriculum calibrate -o` makes them."""

    def __init__(self, world: World) -> None:
        self.rng, order = random.Random(world.seed), np.argsort(-world.references.mean(axis=1), kind="stable")
        self.levels = [part.tolist() for part in np.array_split(order, 8)]
        self.controller = controller("rasch", {"prompts": len(self.levels)}, target=world.target)
        self.drawn: list[Bucket] = []

    def draw(self) -> Sequence[int]:
        self.drawn = self.controller.propose(GROUPS, self.rng)
        return [self.rng.choice(self.levels[bucket.level - 1]) for bucket in self.drawn]

    def observe(self, prompts: Sequence[int], passes: Sequence[int]) -> None:
        self.controller.observe([Result(b, k, GROUP_SIZE) for b, k in zip(self.drawn, passes, strict=True)])


class Pool:
    """prime-rl: weight 1 for prompts that last passed between a quarter and three quarters or were not seen, 0.2 for others."""

    def __init__(self, world: World) -> None:
        self.rng, self.weights = np.random.default_rng(world.seed), np.ones(world.size)

    def draw(self) -> Sequence[int]:
        edges = np.cumsum(self.weights)
        return [int(n) for n in np.searchsorted(edges, self.rng.random(GROUPS) * edges[-1], side="right")]

    def observe(self, prompts: Sequence[int], passes: Sequence[int]) -> None:
        for prompt, k in zip(prompts, passes, strict=True):
            self.weights[prompt] = 1.0 if 0.25 < k / GROUP_SIZE <= 0.75 else 0.2


class Bots:
    """BOTS of Trinity-RFT: a Beta of every prompt, which forgets by λ and takes in, with weight ρ, what two reference models and the
    latest pass rates make likely of it; those are asked whose drawn pass rate is nearest to the target. λ = ρ = 0.2, as published."""

    forgets, guesses = 0.2, 0.2

    def __init__(self, world: World) -> None:
        self.rng, self.target, self.references = np.random.default_rng(world.seed), world.target, world.references
        self.counts = np.ones((2, world.size))
        self.ability: float | None = None

    def draw(self) -> Sequence[int]:
        off = np.abs(self.rng.beta(*self.counts) - self.target)
        return [int(n) for n in np.argpartition(off, GROUPS - 1)[:GROUPS]]

    def observe(self, prompts: Sequence[int], passes: Sequence[int]) -> None:
        weak, strong = self.references[list(prompts)].mean(axis=0)
        found = (float(np.mean(passes)) / GROUP_SIZE - weak) / (strong - weak + 1e-6)
        self.ability = found if self.ability is None else 0.9 * self.ability + 0.1 * found
        guessed = np.clip(self.references @ (1.0 - self.ability, self.ability), 0.0, 1.0)
        self.counts *= 1.0 - self.forgets
        self.counts += self.forgets + self.guesses * GROUP_SIZE * np.stack([guessed, 1.0 - guessed])
        rollouts = np.stack([passes, GROUP_SIZE - np.array(passes)])
        self.counts[:, list(prompts)] += (1.0 - self.guesses) * rollouts


class Mopps(Bots):
    """MoPPS (arXiv 2507.04632): the same without reference models, and only what is asked forgets, by half."""

    def observe(self, prompts: Sequence[int], passes: Sequence[int]) -> None:
        asked = list(prompts)
        self.counts[:, asked] = 0.5 * self.counts[:, asked] + 0.5 + np.stack([passes, GROUP_SIZE - np.array(passes)])


PLAYERS: dict[str, Callable[[World], Player]] = {
    "posterior": Posterior,
    "profiled": Profiled,
    "bots": Bots,
    "mopps": Mopps,
    "buckets": Buckets,
    "pool": Pool,
    "refill": Refill,
    "uniform": Uniform,
}


@dataclass(frozen=True, slots=True)
class Figures:
    """Means over the seeds. information: 4p(1−p) of the groups that were asked. dead: share of groups that all passed or all failed.
    growth: logits that the learner gained. updates: how often it learnt. asked: different prompts."""

    information: float
    dead: float
    growth: float
    updates: float
    asked: float


def compare_finite(
    names: Sequence[str],
    sizes: Sequence[int],
    seeds: int,
    *,
    target: float = 0.5,
    progress: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """The figures by size and player, at equal rollouts. Deterministic."""

    def figures(name: str, size: int) -> dict[str, Any]:
        progress(f"{name} on {size:,} prompts")
        rows = np.array([play(PLAYERS[name], size, seed, target) for seed in range(seeds)])
        return asdict(Figures(*map(float, rows.mean(axis=0))))

    prompts: Mapping[str, Any] = {str(size): {name: figures(name, size) for name in names} for size in sizes}
    return {
        "target": target, "group_size": GROUP_SIZE, "groups": GROUPS, "seeds": seeds, "steps": UPDATES, "prompts": prompts,
    }  # fmt: skip


def play(
    make: Callable[[World], Player], size: int, seed: int, target: float
) -> tuple[float, float, float, float, float]:
    """One run, in the order of `Figures`. For a player that `refills`, a learner learns from groups that are not dead, when there are
    16 of them."""
    luck = np.random.default_rng([seed, size])
    ease, ability = luck.normal(0.0, _SPREAD, size), _START
    told = [luck.binomial(GROUP_SIZE, _passes(reference + ease)) / GROUP_SIZE for reference in _REFERENCES]
    player = make(World(size, seed, target, np.stack(told, axis=1)))
    refills = getattr(player, "refills", False)
    information, dead, updates, asked, kept = 0.0, 0, 0, set[int](), list[float]()
    for _ in range(UPDATES):
        drawn = list(player.draw())
        rates = _passes(ability + ease[drawn])
        passes = luck.binomial(GROUP_SIZE, rates)
        player.observe(drawn, [int(k) for k in passes])
        signals, dull = 4.0 * rates * (1.0 - rates), (passes == 0) | (passes == GROUP_SIZE)
        information += float(signals.mean()) / UPDATES
        dead += int(dull.sum())
        asked |= set(drawn)
        kept += signals[~dull].tolist() if refills else signals.tolist()
        if len(kept) >= GROUPS:
            ability += _GROWTH * float(np.mean(kept[:GROUPS]))
            updates, kept = updates + 1, kept[GROUPS:]
    return information, dead / (UPDATES * GROUPS), ability - _START, float(updates), float(len(asked))


def _passes(logits: np.ndarray) -> np.ndarray:
    rates: np.ndarray = 0.5 + 0.5 * np.tanh(0.5 * logits)
    return rates
