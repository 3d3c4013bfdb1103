"""Which prompts go into one table."""

from __future__ import annotations

import random

import pytest

from kolmocli.policy.lengths import tables

STEP = 32
"""Tokens of padding for which a further table pays, for each token that is written."""


def padding(lengths: list[int], parts: list[list[int]]) -> int:
    return sum(max(lengths[i] for i in part) * len(part) for part in parts) - sum(lengths)


def test_prompts_of_one_length_stay_together() -> None:
    assert tables([7] * 500, 1) == [list(range(500))]


@pytest.mark.parametrize("count", [0, 1])
def test_few_prompts_need_one_table(count: int) -> None:
    assert tables([5] * count, 10) == [list(range(count))]


def test_a_few_long_ones_have_a_table_of_their_own_and_come_first() -> None:
    assert tables([10, 500, 11, 480, 10] + [12] * 95, 40) == [[1, 3], [0, 2, 4, *range(5, 100)]]


def test_a_table_is_split_only_where_that_saves_more_than_it_costs() -> None:
    lengths = [64] + [0] * 10  # 640 tokens of padding
    assert len(tables(lengths, 640 // STEP)) == 1
    assert len(tables(lengths, 640 // STEP - 1)) == 2


@pytest.mark.parametrize("seed", range(20))
def test_every_prompt_is_in_one_table_and_padding_pays(seed: int) -> None:
    rng = random.Random(seed)
    lengths, steps = [rng.choice([rng.randint(1, 40), rng.randint(1, 600)]) for _ in range(rng.randint(1, 200))], 40
    parts = tables(lengths, steps)
    assert sorted(i for part in parts for i in part) == list(range(len(lengths))), f"seed {seed}"
    assert all(part == sorted(part) for part in parts), f"seed {seed}"
    whole = [list(range(len(lengths)))]
    assert padding(lengths, parts) + (len(parts) - 1) * steps * STEP <= padding(lengths, whole), f"seed {seed}"
