"""A guide's weaves come whole, the likeliest first, and each makes the sequence."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest

from kolmocli.language.guide.teacher import value_of
from kolmocli.language.interpreter import evaluate
from kolmocli.language.sampler import sample
from kolmocli.language.search.budget import Budget, Spent
from kolmocli.language.search.likely import LikelyWeaves, View
from kolmocli.language.search.solver import solve
from kolmocli.language.search.strands import plain
from kolmocli.language.search.weaves import first_guess

STEPS = 60_000


class Chances:
    """A guide that gives each way of a view, and none, a chance of its own."""

    def __init__(self, weigh: Callable[[View], list[float]]) -> None:
        self._weigh = weigh

    def log_probs(self, view: View) -> list[float]:
        weights = self._weigh(view)
        assert len(weights) == len(view.ways) + 1
        return [math.log(weight / sum(weights)) for weight in weights]


def weaves(sequence: tuple[int, ...], guide: Chances, count: int, budget: Budget | None = None) -> list[object]:
    budget = budget or Budget(None, math.inf)
    likely = LikelyWeaves(first_guess(plain(sequence), budget), guide, budget)
    return [weave for _ in range(count) if (weave := likely.next()) is not None]


@pytest.mark.parametrize("seed", range(8))
def test_every_weave_makes_the_sequence(seed: int) -> None:
    sequence = tuple(sample(random.Random(seed)).sequence)
    found = weaves(sequence, Chances(lambda view: [1.0] * (len(view.ways) + 1)), 30)
    assert len(set(found)) == len(found)
    assert all(value_of(weave) == sequence for weave in found)  # type: ignore[arg-type]


def test_the_likeliest_comes_first() -> None:
    sequence = tuple(range(12))
    whole = weaves(sequence, Chances(lambda view: [1.0] * len(view.ways) + [90.0]), 1)
    assert whole == [plain(sequence)]
    second = Chances(
        lambda view: [1.0, 500.0, *[1.0] * (len(view.ways) - 1)] if not view.depth else [1.0] * len(view.ways) + [500.0]
    )
    (first, *_) = weaves(sequence, second, 3)
    assert sum(strand.woven for strand in first) == 1  # type: ignore[attr-defined]


def test_hopeless_weaves_are_not_proposed() -> None:
    sure = Chances(lambda view: [1e-9] * len(view.ways) + [1.0])
    assert weaves(tuple(range(12)), sure, 5) == [plain(tuple(range(12)))]
    assert weaves((3, 1, 4), sure, 5) == [plain((3, 1, 4))]


def test_looking_takes_steps() -> None:
    with pytest.raises(Spent):
        weaves(tuple(range(40)), Chances(lambda view: [1.0] * (len(view.ways) + 1)), 50, Budget(3_000, math.inf))


@pytest.mark.parametrize("seed", range(6))
def test_a_bad_guide_costs_steps_and_nothing_else(seed: int) -> None:
    sequence = sample(random.Random(seed)).sequence
    turned = Chances(lambda view: [*range(1, len(view.ways) + 1), 1e-3])
    found = solve(sequence, seconds=math.inf, steps=STEPS, guide=turned)
    assert evaluate(found.program) == list(sequence)
    assert found.bits <= found.literal_bits
