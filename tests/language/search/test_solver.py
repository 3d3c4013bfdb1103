"""The solver finds programs that make their sequence, never dearer than the literal list, and says what it cannot take."""

from __future__ import annotations

import gc
import random
from itertools import chain

import pytest
from hypothesis import given, settings, strategies as st

import kolmocli as kolmo
from kolmocli.errors import UsageError
from kolmocli.language.coder import coded_bits, literal_bits
from kolmocli.language.interpreter import DEFAULT_BOUNDS, evaluate
from kolmocli.language.program import parse
from kolmocli.language.sampler import sample
from kolmocli.language.search.solver import Solution, solve

STEPS = 4_000
PLENTY = 600.0
"""Seconds that no example needs, so that the steps alone end it."""

items = st.one_of(
    st.integers(0, 6), st.integers(0, 255), st.integers(-300, 300), st.integers(-(10**17) + 1, 10**17 - 1)
)
runs = st.builds(
    lambda first, step, count: [first + step * i for i in range(count)],
    st.integers(-5, 40),
    st.integers(-3, 5),
    st.integers(1, 9),
)
sequences = st.one_of(
    st.lists(items, min_size=1, max_size=24),
    st.lists(runs, min_size=1, max_size=5).map(lambda parts: list(chain.from_iterable(parts))),
    st.builds(lambda part, times: part * times, st.lists(items, min_size=1, max_size=6), st.integers(1, 5)),
    st.integers(0, 10_000).map(lambda seed: list(sample(random.Random(seed)).sequence[:60])),
)


def solved(sequence: list[int], steps: int = STEPS) -> Solution:
    return solve(sequence, seconds=PLENTY, steps=steps)


@settings(max_examples=80, deadline=None)
@given(sequences)
def test_the_program_makes_the_sequence_and_is_no_dearer_than_the_literal(sequence: list[int]) -> None:
    solution = solved(sequence)
    assert solution.value == tuple(sequence)
    assert tuple(evaluate(parse(str(solution)))) == tuple(sequence)
    assert solution.bits == coded_bits(solution.program)
    assert solution.literal_bits == literal_bits(sequence)
    assert solution.bits <= solution.literal_bits
    assert (solution.source == "literal") == (solution.bits == solution.literal_bits)


@settings(max_examples=20, deadline=None)
@given(sequences)
def test_equal_steps_give_equal_programs(sequence: list[int]) -> None:
    assert str(solved(sequence)) == str(solved(sequence))


@settings(max_examples=30, deadline=None)
@given(sequences, st.integers(0, STEPS), st.integers(0, STEPS))
def test_more_steps_never_give_more_bits(sequence: list[int], fewer: int, extra: int) -> None:
    assert solved(sequence, fewer + extra).bits <= solved(sequence, fewer).bits


@pytest.mark.parametrize(
    ("sequence", "text"),
    [
        pytest.param(
            [3, 4, 5, 3, 4, 5], "sequence_1 = range_func_up(3, 5)\nsequence_2 = repeat_list(2, sequence_1)", id="repeat"
        ),
        pytest.param([7] * 20, "sequence_1 = repeat_num(20, 7)", id="one number"),
        pytest.param(list(range(10, 60)), "sequence_1 = range_func_up(10, 59)", id="ramp"),
        pytest.param(
            [x for pair in zip(range(1, 13), range(100, 148, 4), strict=True) for x in pair],
            "sequence_1 = range_func_up(1, 12)\nsequence_2 = range_func_interval(100, 148, 4)\n"
            "sequence_3 = interleave(sequence_1, sequence_2)",
            id="interleaving",
        ),
    ],
)
def test_what_a_person_would_write_is_found(sequence: list[int], text: str) -> None:
    solution = solved(sequence, 100_000)
    assert solution.value == tuple(sequence)
    assert solution.bits <= coded_bits(parse(text)) < solution.literal_bits


def test_the_text_is_the_program() -> None:
    solution = kolmo.solve([3, 4, 5, 3, 4, 5], seconds=0.5)
    assert str(solution) == str(solution.program)
    assert solution.bits < solution.literal_bits


def test_a_sampled_program_of_some_length_is_nearly_reached() -> None:
    pair = sample(random.Random("b3"))
    assert solved(list(pair.sequence), 60_000).bits <= 1.2 * coded_bits(pair.program)


@pytest.mark.parametrize("item", [0, 255, -1, 10**17 - 1])
def test_one_item_has_an_answer(item: int) -> None:
    assert solved([item]).value == (item,)


def test_no_seconds_and_no_steps_give_the_literal() -> None:
    for solution in (solve([3, 4, 5] * 4, seconds=0.0), solved([3, 4, 5] * 4, 0)):
        assert solution.source == "literal"
        assert str(solution) == "sequence_1 = set_list([3, 4, 5, 3, 4, 5, 3, 4, 5, 3, 4, 5])"


def test_a_long_sequence_is_answered_at_once() -> None:
    rng = random.Random(1)
    noise = [rng.randrange(256) for _ in range(5_000)]
    assert solve(noise, seconds=0.1).source == "literal"
    repeated = solve([3, 4, 5, 9] * 1_500, seconds=0.2)
    assert repeated.value == (3, 4, 5, 9) * 1_500
    assert repeated.bits < 100


@pytest.mark.parametrize("sequence", [[], [1, 2.5], ["1"], "123", [None], 7, [10**17]], ids=repr)
def test_what_is_no_sequence_of_integers_is_refused_in_one_line(sequence: object) -> None:
    with pytest.raises(UsageError) as told:
        kolmo.solve(sequence)  # type: ignore[arg-type]
    assert "solve takes" in str(told.value)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    "sequence",
    [
        [s * (9 * 10**16) + x for s in (-1, 1) for x in (0, 7, 3, 11, 2, 5)],
        [10**17 - 1 - 2 * i for i in range(9, -1, -1)],
        [9 * 10**16, -9 * 10**16] * 6,
    ],
    ids=["shifted too far", "a ramp to the end", "interleaved"],
)
def test_constants_of_large_items_can_be_written(sequence: list[int]) -> None:
    solution = solved(sequence, 50_000)
    assert parse(str(solution)) == solution.program
    assert solution.value == tuple(sequence)


def test_more_items_than_a_program_makes_are_refused() -> None:
    with pytest.raises(UsageError, match="solve takes fewer than"):
        solve([0] * DEFAULT_BOUNDS.items)


def test_the_search_makes_no_cycles_and_leaves_the_collector_as_it_was() -> None:
    sequence = sample(random.Random(7)).sequence
    gc.collect()
    gc.disable()
    try:
        solve(sequence, seconds=PLENTY, steps=20 * STEPS)
        assert gc.collect() == 0
        assert not gc.isenabled()
    finally:
        gc.enable()
    solve(sequence, seconds=PLENTY, steps=STEPS)
    assert gc.isenabled()
