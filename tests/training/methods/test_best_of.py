"""Of more rollouts than are learnt from, those that are kept stand for all."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given, strategies as st

from kolmocli.training.methods.best_of import choose

groups = st.lists(st.sampled_from([True, False, None]), max_size=32)


@given(groups, st.integers(2, 16), st.integers(0, 9))
def test_each_kind_keeps_its_weight(passed: list[bool | None], count: int, seed: int) -> None:
    kept = choose(passed, count, random.Random(seed))
    judged = sum(p is not None for p in passed)
    assert len({i for i, _ in kept}) == len(kept) == min(count, judged)
    for kind in (True, False):
        weight = sum(w for i, w in kept if passed[i] is kind)
        assert weight == pytest.approx(passed.count(kind) * min(1, count / max(judged, 1)))


def test_passes_and_failures_are_kept_evenly_as_far_as_there_are_so_many() -> None:
    def kinds(passes: int, failures: int) -> tuple[int, int]:
        passed = [True] * passes + [False] * failures
        kept = [passed[i] for i, _ in choose(passed, 8, random.Random(0))]
        return kept.count(True), kept.count(False)

    assert kinds(16, 16) == (4, 4)
    assert kinds(2, 30) == (2, 6)
    assert kinds(30, 1) == (7, 1)
    assert kinds(0, 32) == (0, 8)
    assert kinds(32, 0) == (8, 0)
    assert kinds(3, 5) == (3, 5)


def test_every_rollout_of_a_kind_is_kept_equally_often() -> None:
    passed = [True] * 6 + [False] * 10
    often = Counter(i for seed in range(2000) for i, _ in choose(passed, 8, random.Random(seed)))
    assert [often[i] / 2000 for i in range(6)] == pytest.approx([4 / 6] * 6, abs=0.05)
    assert [often[i] / 2000 for i in range(6, 16)] == pytest.approx([4 / 10] * 10, abs=0.05)


def test_as_many_as_are_learnt_from_are_kept_as_they_are() -> None:
    assert choose([True, None, False], 8, random.Random(0)) == [(0, 1.0), (2, 1.0)]
    assert choose([], 8, random.Random(0)) == []
