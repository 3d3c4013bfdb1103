"""How much of a target is explained, by hand."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from kolmocli.language.progress import explained

TARGET = (3, 4, 5, 3, 4, 5, 7, 7)
small = st.lists(st.integers(0, 2), max_size=6).map(tuple)


@pytest.mark.parametrize(
    ("values", "shares"),
    [
        ([(3, 4, 5)], [3 / 8]),  # one place of the two where it stands
        ([(3, 4, 5), (3, 4, 5)], [3 / 8, 6 / 8]),
        ([(3, 4, 5), (3, 4, 5, 3, 4, 5)], [3 / 8, 6 / 8]),
        ([(3, 4, 5), (7, 7), (3, 4, 5, 7, 7)], [3 / 8, 5 / 8, 1.0]),
        ([(7, 7), (7,), (9,), None, ()], [2 / 8] * 5),
        ([TARGET], [1.0]),
        ([(*TARGET, 7)], [0.0]),
        ([(5, 3)], [2 / 8]),
        ([], []),
    ],
)
def test_a_value_explains_one_block(values: list[tuple[int, ...] | None], shares: list[float]) -> None:
    assert explained(values, TARGET) == pytest.approx(shares)


def test_nothing_of_an_empty_target_is_explained() -> None:
    assert explained([(1,), ()], ()) == [0.0, 0.0]


@given(st.lists(st.one_of(st.none(), small), max_size=5), small.filter(len))
def test_it_never_falls_and_is_all_with_the_target(
    values: list[tuple[int, ...] | None], target: tuple[int, ...]
) -> None:
    shares = explained([*values, target], target)
    assert shares == sorted(shares)
    assert all(0 <= share <= 1 for share in shares)
    assert explained([target, *values], target)[-1] == 1
