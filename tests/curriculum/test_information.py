"""The formulas are checked against enumeration of every outcome of a group, not against samples."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, strategies as st

from kolmocli.curriculum import information as info

probabilities = st.floats(0.0, 1.0, allow_nan=False)


def binomial(n: int, p: float) -> list[float]:
    return [math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]


@given(probabilities)
def test_entropy_is_symmetric_bounded_and_largest_in_the_middle(p: float) -> None:
    assert 0.0 <= info.entropy_bits(p) <= info.entropy_bits(0.5) == 1.0
    assert info.entropy_bits(p) == pytest.approx(info.entropy_bits(1 - p), abs=1e-9)


def test_entropy_of_known_rates() -> None:
    assert info.entropy_bits(0.25) == pytest.approx(2 - 0.75 * math.log2(3))
    assert info.entropy_bits(0.0) == info.entropy_bits(1.0) == 0.0


@pytest.mark.parametrize("p", [-0.1, 1.1, math.nan])
def test_what_is_no_probability_is_refused(p: float) -> None:
    with pytest.raises(ValueError, match="not a probability"):
        info.entropy_bits(p)
    with pytest.raises(ValueError, match="not a probability"):
        info.supervised_bits(p)


@given(st.integers(2, 24), probabilities)
def test_signal_is_unbiased_for_the_variance_of_an_outcome(n: int, p: float) -> None:
    expected = sum(w * info.signal(k, n) for k, w in enumerate(binomial(n, p)))
    assert expected == pytest.approx(p * (1 - p), abs=1e-9)


@given(st.integers(2, 64))
def test_signal_is_zero_exactly_for_dead_groups(n: int) -> None:
    for k in range(n + 1):
        assert (info.signal(k, n) == 0) == info.dead(k, n) == (k in (0, n))


@pytest.mark.parametrize("p", [0.1, 0.2, 0.3, 0.5, 0.8])
@pytest.mark.parametrize("n", [8, 16, 32])
def test_the_correction_takes_most_of_the_bias_away(n: int, p: float) -> None:
    truth, weights = info.entropy_bits(p), binomial(n, p)
    plug_in = sum(w * info.entropy_bits(k / n) for k, w in enumerate(weights)) - truth
    many = 200  # groups in the proportions that are expected, so that the mean is what is clipped
    groups = [(k, n) for k, w in enumerate(weights) for _ in range(round(many * 100 * w))]
    mean = info.mean_entropy(groups)
    assert mean is not None
    assert abs(mean - truth) < 0.6 * abs(plug_in)


@given(st.integers(1, 100), st.data())
def test_bits_of_a_group_stay_in_range_and_are_zero_when_dead(n: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, n))
    value = info.mean_entropy([(k, n)])
    assert value is not None and 0.0 <= value <= 1.0
    assert (value == 0.0) == info.dead(k, n)


def test_half_hopeless_and_half_trivial_is_worth_nothing() -> None:
    bimodal = [(0, 8), (8, 8)] * 10
    assert info.mean_entropy(bimodal) == 0.0
    assert info.signal_fraction(bimodal) == 0.0
    assert info.mean_signal(bimodal) == 0.0


def test_signal_fraction_of_equal_groups_is_one_and_of_dead_ones_unknown() -> None:
    assert info.signal_fraction([(3, 8)]) == 1.0
    assert info.signal_fraction([(4, 8)] * 5) == 1.0
    assert info.signal_fraction([(0, 8)] * 3) is None
    assert info.signal_fraction([(1, 1)]) is None
    mixed = info.signal_fraction([(0, 8), (4, 8)])
    assert mixed == pytest.approx((16 / 56 / 2) / (4 * 12 / (16 * 15)))


@given(st.integers(2, 6), st.lists(st.floats(0.05, 0.95), min_size=2, max_size=2))
def test_signal_fraction_separates_mixed_from_equal_tasks(n: int, rates: list[float]) -> None:
    """In expectation: E[mean U] / E[pooled U] is below 1 as soon as the two tasks differ."""
    a, b = rates
    inside = (a * (1 - a) + b * (1 - b)) / 2
    joint = [(wa * wb, ka + kb) for ka, wa in enumerate(binomial(n, a)) for kb, wb in enumerate(binomial(n, b))]
    pooled = sum(w * info.signal(k, 2 * n) for w, k in joint)
    assert inside / pooled <= 1.0 + 1e-9
    if abs(a - b) > 0.2:
        assert inside / pooled < 0.99


def test_supervised_bits() -> None:
    assert info.supervised_bits(1.0) == 0.0
    assert math.copysign(1.0, info.supervised_bits(1.0)) == 1.0
    assert info.supervised_bits(0.25) == 2.0
    assert info.supervised_bits(0.0) == math.inf


@pytest.mark.parametrize(("k", "n"), [(-1, 8), (9, 8), (0, 0)])
def test_impossible_counts_are_refused(k: int, n: int) -> None:
    for function in (info.signal, info.dead):
        with pytest.raises(ValueError, match="is not a group"):
            function(k, n)
    if n:
        with pytest.raises(ValueError, match="is not a group"):
            info.mean_entropy([(k, n)])
    with pytest.raises(ValueError, match="at least 2"):
        info.signal(1, 1)


def test_nothing_gives_no_number() -> None:
    assert info.mean_entropy([]) is None
    assert info.mean_signal([(1, 1)]) is None
