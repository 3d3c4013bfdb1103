from __future__ import annotations

import random
from collections import Counter

import pytest

from kolmocli.curriculum.base import GroupResult
from kolmocli.curriculum.uniform import UniformController
from kolmocli.tasks.base import Bucket


def test_every_bucket_is_proposed_equally_often_whatever_happened() -> None:
    controller, rng = UniformController({"a": 3, "b": 1}), random.Random(0)
    controller.observe([GroupResult(Bucket("a", 1), 8, 8)] * 100)
    drawn = Counter(controller.propose(4_000, rng))
    assert set(drawn) == {Bucket("a", 1), Bucket("a", 2), Bucket("a", 3), Bucket("b", 1)}
    assert all(n == pytest.approx(1_000, abs=120) for n in drawn.values())


def test_weights_are_shares_of_the_buckets() -> None:
    metrics = UniformController({"a": 3, "b": 1}).metrics()
    assert (metrics["a"].weight, metrics["b"].weight, metrics["a"].level) == (0.75, 0.25, 2)


def test_only_the_state_of_the_same_ladders_is_taken_up() -> None:
    controller = UniformController({"a": 3})
    controller.load_state_dict(controller.state_dict())
    with pytest.raises(ValueError, match="cannot take up"):
        controller.load_state_dict(UniformController({"a": 4}).state_dict())
