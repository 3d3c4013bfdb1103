"""Polynomials are made as running sums, and what is none is not taken for one."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, strategies as st

from kolmocli.language.interpreter import evaluate
from kolmocli.language.search.solver import solve
from kolmocli.language.search.sums import differences, summed


@given(st.lists(st.integers(-9, 9), min_size=3, max_size=5), st.integers(8, 14))
def test_a_polynomial_is_found_by_its_differences(factors: list[int], count: int) -> None:
    value = tuple(sum(f * n**i for i, f in enumerate(factors)) for n in range(count))
    degree = max((i for i, f in enumerate(factors) if f), default=0)
    table = differences(value)
    if degree < 2:
        assert table is None
        return
    assert table is not None
    assert len(table) == degree + 1
    making = summed(value)
    assert making is not None
    (source,) = making.sources
    if making.function == "scan_add":
        assert [sum(source[: i + 1]) for i in range(count)] == list(value)
    else:
        sign = 1 if making.function == "add_item_list" else -1
        assert tuple(item + sign * int(making.constants[0]) for item in source) == value  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "value", [(1, 2, 4, 8, 16, 32, 64, 128), (0, 1, 4), (3, 3, 3, 3, 3, 3), (1, 2, 3, 4, 5, 6), (7,)]
)
def test_what_is_no_polynomial_of_a_higher_degree(value: tuple[int, ...]) -> None:
    assert summed(value) is None


@pytest.mark.parametrize(
    "sequence",
    [
        [n * n for n in range(16)],
        [n * (n + 1) // 2 for n in range(1, 23)],
        [7, *(n * n + 3 for n in range(12)), 4, 4, 9],
        [5 - n**3 for n in range(12)],
    ],
)
def test_the_search_takes_them(sequence: list[int]) -> None:
    solution = solve(sequence, seconds=math.inf, steps=50_000)
    assert evaluate(solution.program) == sequence
    assert "scan_add" in str(solution)
    assert solution.bits < 0.8 * solution.literal_bits
