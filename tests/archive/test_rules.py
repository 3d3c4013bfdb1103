"""Recurrences: what is found in sequences, how far it reaches, and that it is coded and read back."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from kolmocli.archive.format.programs import ProgramCoder
from kolmocli.archive.format.rangecoder import Decoder, Encoder
from kolmocli.archive.format.recurrences import MOST_ORDER, Recurrence, binomial_recurrence
from kolmocli.archive.format.stored import StoredCall
from kolmocli.archive.search.rules import find_rules

from . import samples

integers = st.integers(-(1 << 40), 1 << 40)


def found(items, **options):
    return find_rules(np.array(items, dtype=np.int64), **options)


@pytest.mark.parametrize(
    ("items", "rule"),
    [
        (samples.fibonacci(40), "x[n] = x[n-1] + x[n-2]"),
        ([i * i for i in range(30)], "x[n] = 2·x[n-1] - x[n-2] + 2"),
        ([3 * 2**i - 1 for i in range(20)], "x[n] = 2·x[n-1] + 1"),
        (samples.congruential(60), "x[n] = (1103515245·x[n-1] + 12345) mod 2147483648"),
        ([7 * i % 251 for i in range(100)], "x[n] = (x[n-1] + 7) mod 251"),
    ],
)
def test_a_rule_is_found_and_reaches_to_the_end(items, rule):
    assert rule in {str(r.recurrence) for r in found(items) if (r.start, r.recurrence.count) == (0, len(items))}


def test_rules_are_found_in_the_middle_and_end_where_they_fail():
    noise = list(samples.noise(40))
    items = noise + samples.fibonacci(30)[5:] + noise
    exact = [r for r in found(items) if r.recurrence.coefficients == (1, 1)]
    assert any(r.start <= 41 and r.start + r.recurrence.count == 65 for r in exact)
    for rule in found(items):
        end = rule.start + rule.recurrence.count
        assert list(rule.recurrence.items()) == items[rule.start : end]


def test_noise_has_no_rules():
    assert found(list(samples.noise(5000)), wrap=256) == []


@given(st.integers(1, 6), integers, st.lists(st.integers(-50, 50), min_size=6, max_size=6))
def test_a_polynomial_follows_its_differences(degree, difference, seeds):
    coefficients, constant = binomial_recurrence(degree, difference)
    items = np.array(Recurrence(coefficients, constant, 0, tuple(seeds[:degree]), degree + 5).items(), dtype=object)
    assert set(np.diff(items, degree)) == {difference}


@given(
    st.lists(integers, min_size=1, max_size=MOST_ORDER),
    integers,
    st.integers(0, 1 << 40),
    st.integers(0, 1 << 20),
    st.data(),
)
def test_recurrences_come_back(coefficients, constant, modulus, count, data):
    seeds = data.draw(st.lists(integers, min_size=len(coefficients), max_size=len(coefficients)))
    program = (StoredCall("set_list", (Recurrence(tuple(coefficients), constant, modulus, tuple(seeds), count),)),)
    coder = Encoder()
    ProgramCoder().code(coder, program)
    assert ProgramCoder().code(Decoder(coder.finish())) == program


def test_an_item_of_more_than_64_bits_is_refused():
    with pytest.raises(ValueError, match="too large"):
        Recurrence((2,), 0, 0, (1,), 64).items()


def test_version_1_has_no_recurrences():
    coder = Encoder()
    ProgramCoder().code(coder, (StoredCall("set_list", (Recurrence((1,), 0, 0, (1,), 3),)),))
    with pytest.raises(ValueError, match="unknown symbol"):
        ProgramCoder(version=1).code(Decoder(coder.finish()))
