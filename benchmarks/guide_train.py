"""Makes the guide that ships: it learns from the sampler's programs, and then by REINFORCE from what its own weaves save.

    python benchmarks/guide_train.py --updates 0 --out taught.npz                         # the first half
    python benchmarks/guide_train.py --start taught.npz --out reinforced.npz              # the second half
    python benchmarks/guide_train.py --check 4000 --start kolmocli/language/guide/weights.npz

First half: pairs of the published sampler, of whose programs with fewer than two interleavings most are left out. At each
interleaving that a program undoes, the guide learns which of the ways it is, by cross-entropy; at the end, that nothing is.

Second half: REINFORCE with a leave-one-out baseline. A task is a sequence. At level 1 the program that made it has five
interleavings or more, at level 5 one: the fewer there are, the harder the search alone is to beat. A rollout is a weave,
drawn way by way from the guide, for which the search names values. Its reward is the share of bits that it saves against
the search alone; it passes if it is strictly shorter. kolmo's controller holds the pass rate near one half by the level.

`--check N` prints of N fresh pairs how often the outermost interleaving is undone as its program made it: in the way that the
guide thinks likeliest, and in the cheapest.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from paired import positive
from torch import Tensor, nn

import kolmocli as kolmo
from kolmocli.language.guide.features import Matrix, features
from kolmocli.language.guide.network import NetworkGuide, rows
from kolmocli.language.guide.teacher import unzippings
from kolmocli.language.sampler import sample
from kolmocli.language.sampler_settings import PUBLISHED
from kolmocli.language.search.budget import Budget, Spent
from kolmocli.language.search.likely import look
from kolmocli.language.search.names import Naming
from kolmocli.language.search.nodes import Value
from kolmocli.language.search.strands import plain
from kolmocli.language.search.weaves import child, first_guess

HIDDEN, MOST_WAYS = 64, 40
LEVELS = 5
"""Of interleavings; the last of them stands for more too."""
SHALLOW = 0.15
"""Share of the pairs with fewer than two interleavings that the first half keeps."""
GROUPS, SAMPLES = 16, 8
NAMING = 100_000
"""Steps for naming the values of one weave."""


@dataclass(frozen=True)
class Choice:
    """One decision: the features of the ways, and which was taken; the number of ways stands for none."""

    ways: Matrix
    taken: int


def free() -> Budget:
    return Budget(None, math.inf)


def taught(sequence: Value, path: list[tuple[int, int]]) -> Iterator[Choice]:
    """The decisions of a program, as far as the search proposes them."""
    guess = first_guess(plain(sequence), free())
    for depth in range(len(path) + 1):
        if (view := look(guess, depth, free())) is None:
            return
        ways = [(way.pairs, way.end) for way in view.ways]
        if depth == len(path):
            yield Choice(features(view), len(ways))
        elif path[depth] in ways:
            taken = ways.index(path[depth])
            yield Choice(features(view), taken)
            guess = child(guess, view.ways[taken])
        else:
            return


def lessons(pairs: int, rng: random.Random) -> Iterator[Choice]:
    for _ in range(pairs):
        pair = sample(rng, PUBLISHED)
        path = unzippings(pair.program, tuple(pair.sequence))
        if path is not None and (len(path) > 1 or rng.random() < SHALLOW):
            yield from taught(tuple(pair.sequence), path)


class Ranker(nn.Module):
    """The network that `NetworkGuide` reads."""

    def __init__(self, mean: Any, scale: Any) -> None:
        """`mean`, `scale`: of the features."""
        super().__init__()
        self.mean, self.scale = mean, scale
        self.layers = nn.ModuleList([nn.Linear(len(mean) + 1, HIDDEN), nn.Linear(HIDDEN, HIDDEN), nn.Linear(HIDDEN, 1)])

    def forward(self, x: Tensor) -> Tensor:
        for i, layer in enumerate(self.layers):
            x = layer(torch.relu(x) if i else x)
        return x.squeeze(-1)

    def pack(self, choices: list[Choice]) -> tuple[Tensor, Tensor, Tensor]:
        """(B, ways, features), a mask of what is a way, and (B,) which was taken; the last place is that of none."""
        x = np.zeros((len(choices), MOST_WAYS + 1, len(self.mean) + 1), np.float32)
        mask = np.zeros(x.shape[:2], bool)
        for i, choice in enumerate(choices):
            packed, count = rows(choice.ways, self.mean, self.scale), len(choice.ways)
            x[i, :count], x[i, -1] = packed[:-1], packed[-1]
            mask[i, :count] = mask[i, -1] = True
        taken = [c.taken if c.taken < len(c.ways) else MOST_WAYS for c in choices]
        return torch.from_numpy(x), torch.from_numpy(mask), torch.tensor(taken)

    def log_prob(self, x: Tensor, mask: Tensor, taken: Tensor) -> Tensor:
        scores = self(x).masked_fill(~mask, -math.inf)
        return scores.log_softmax(-1).gather(-1, taken[:, None])[:, 0]

    def load(self, weights: Mapping[str, Any]) -> None:
        for i, layer in enumerate(self.layers):
            layer.weight.data = torch.from_numpy(weights[f"weight.{i}"])
            layer.bias.data = torch.from_numpy(weights[f"bias.{i}"])

    def weights(self) -> dict[str, Any]:
        found: dict[str, Any] = {"mean": self.mean, "scale": self.scale}
        for i, layer in enumerate(self.layers):
            found |= {
                f"weight.{i}": layer.weight.detach().numpy().copy(),
                f"bias.{i}": layer.bias.detach().numpy().copy(),
            }
        return found


def teach(ranker: Ranker, choices: list[Choice], epochs: int) -> None:
    x, mask, taken = ranker.pack(choices)
    size = min(256, len(choices))
    optimiser = torch.optim.AdamW(ranker.parameters(), 2e-3, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, epochs * (len(choices) // size))
    for epoch in range(epochs):
        order, total = torch.randperm(len(choices)), 0.0
        for part in order[: len(order) // size * size].split(size):
            loss = -ranker.log_prob(x[part], mask[part], taken[part]).mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
            total += loss.item() * size
        print(f"epoch {epoch + 1}: {total / len(choices):.4f} nats a decision", file=sys.stderr)


@dataclass(frozen=True)
class Task:
    sequence: Value
    alone: int
    """Bits of the search alone."""
    literal: int


@dataclass(frozen=True)
class Rollout:
    choices: list[Choice]
    bits: int


def drawn(level: int, steps: int, rng: random.Random) -> Task:
    """A sequence of this level, with what the search finds for it."""
    while True:
        pair = sample(rng, PUBLISHED)
        path = unzippings(pair.program, tuple(pair.sequence))
        if path and min(len(path), LEVELS) == LEVELS + 1 - level:
            found = kolmo.solve(pair.sequence, seconds=math.inf, steps=steps)
            return Task(tuple(pair.sequence), found.bits, found.literal_bits)


def rollouts(task: Task, guide: NetworkGuide, rng: random.Random) -> list[Rollout]:
    """Weaves drawn from the guide; a view that two of them share is looked at once."""
    first = first_guess(plain(task.sequence), free())
    views: dict[Any, Any] = {}
    bits: dict[Any, int] = {}
    found = []
    for _ in range(SAMPLES):
        guess, choices = first, list[Choice]()
        while True:
            if guess.weave not in views:
                view = look(guess, len(choices), free())
                views[guess.weave] = view and (view, features(view), np.exp(guide.log_probs(view)))
            if views[guess.weave] is None:
                break
            view, seen, chances = views[guess.weave]
            taken = rng.choices(range(len(chances)), chances)[0]
            choices.append(Choice(seen, taken))
            if taken == len(view.ways):
                break
            guess = child(guess, view.ways[taken])
        if guess.weave not in bits:
            bits[guess.weave] = named(guess.weave)
        found.append(Rollout(choices, bits[guess.weave]))
    return found


def named(weave: Any) -> int:
    """Bits of the weave with the values that the search names in it."""
    naming = Naming(weave, Budget(NAMING, math.inf))
    with suppress(Spent):
        naming.begin()
        naming.improve()
    return naming.bits


def reinforce(ranker: Ranker, updates: int, steps: int, rate: float, seed: int) -> None:
    controller = kolmo.controller("rasch", {"woven": LEVELS}, target=0.5)
    optimiser = torch.optim.AdamW(ranker.parameters(), rate, weight_decay=0.0)
    rng = random.Random(seed)
    for update in range(1, updates + 1):
        began, guide = time.monotonic(), NetworkGuide(ranker.weights())
        losses, results, saved = [], [], []
        for bucket in controller.propose(GROUPS, rng):
            task = drawn(bucket.level, steps, rng)
            group = rollouts(task, guide, rng)
            rewards = [max(-1.0, (task.alone - each.bits) / task.alone) for each in group]
            results.append(kolmo.Result(bucket, passes=sum(r.bits < task.alone for r in group), rollouts=SAMPLES))
            saved.append(sum(rewards) / SAMPLES)
            for each, reward in zip(group, rewards, strict=True):
                advantage = (reward - saved[-1]) * SAMPLES / (SAMPLES - 1)
                if advantage and each.choices:
                    losses.append(-advantage * ranker.log_prob(*ranker.pack(each.choices)).sum())
        controller.observe(results)
        if losses:
            optimiser.zero_grad()
            (sum(losses) / (GROUPS * SAMPLES)).backward()
            nn.utils.clip_grad_norm_(ranker.parameters(), 1.0)
            optimiser.step()
        passed = sum(r.passes for r in results) / (GROUPS * SAMPLES)
        dead = sum(r.passes in (0, SAMPLES) for r in results) / GROUPS
        level = sum(r.bucket.level for r in results) / GROUPS
        print(
            f"update {update}: pass rate {passed:.2f}, level {level:.1f}, dead groups {dead:.2f}, "
            f"saved {sum(saved) / GROUPS:+.3f}, {time.monotonic() - began:.0f} s",
            file=sys.stderr,
        )  # fmt: skip


def taught_by(pairs: int, epochs: int, seed: int) -> Ranker:
    choices = list(lessons(pairs, random.Random(seed)))
    print(f"{len(choices):,} decisions of {pairs:,} pairs", file=sys.stderr)
    ways = np.concatenate([choice.ways for choice in choices])
    ranker = Ranker(ways.mean(0), ways.std(0) + np.float32(1e-3))
    teach(ranker, choices, epochs)
    return ranker


def started(path: Path) -> Ranker:
    with np.load(path) as weights:
        ranker = Ranker(weights["mean"], weights["scale"])
        ranker.load(weights)
    return ranker


def check(guide: NetworkGuide, pairs: int, rng: random.Random) -> None:
    right: dict[int, list[tuple[bool, bool]]] = {}
    for _ in range(pairs):
        pair = sample(rng, PUBLISHED)
        path = unzippings(pair.program, tuple(pair.sequence))
        view = look(first_guess(plain(tuple(pair.sequence)), free()), 0, free())
        if path and view is not None:
            likeliest = view.ways[int(np.argmax(guide.log_probs(view)[:-1]))]
            both = tuple((way.pairs, way.end) == path[0] for way in (likeliest, view.ways[0]))
            right.setdefault(min(len(path), LEVELS), []).append((both[0], both[1]))
    for woven, found in sorted(right.items()):
        shares = [sum(each) / len(found) for each in zip(*found, strict=True)]
        print(f"{woven} interleavings: {len(found)} pairs, likeliest {shares[0]:.0%}, cheapest {shares[1]:.0%}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=positive, default=40_000, help="of the first half (default: %(default)s)")
    parser.add_argument("--epochs", type=positive, default=30)
    parser.add_argument("--updates", type=int, default=60, help="of the second half (default: %(default)s)")
    parser.add_argument("--steps", type=positive, default=300_000, help="of the search alone, in the second half")
    parser.add_argument("--rate", type=float, default=3e-4, help="learning rate of the second half")
    parser.add_argument("--start", type=Path, help="weights to go on from, without the first half")
    parser.add_argument("--seed", type=int, default=1000)
    parser.add_argument("--check", type=positive, metavar="PAIRS", help="train nothing")
    parser.add_argument("--out", type=Path)
    o = parser.parse_args()
    if (o.out is None) == (o.check is None) or (o.check and not o.start):
        parser.error("give --out, or --check with --start")
    if o.check:
        return check(NetworkGuide(started(o.start).weights()), o.check, random.Random(o.seed + 2))
    torch.manual_seed(o.seed)
    ranker = started(o.start) if o.start else taught_by(o.pairs, o.epochs, o.seed)
    reinforce(ranker, o.updates, o.steps, o.rate, o.seed + 1)
    np.savez(o.out, **ranker.weights())


if __name__ == "__main__":
    main()
