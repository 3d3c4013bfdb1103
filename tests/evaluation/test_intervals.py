"""Intervals against published values, and their coverage by simulation with printed seeds."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, strategies as st

from kolmocli.evaluation.intervals import mean_interval, paired_difference, student_quantile, wilson


def test_wilson_against_a_published_value() -> None:
    # Newcombe (1998), table I: 81 of 263 and 15 of 148, method 3.
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert wilson(15, 148) == pytest.approx((0.0624, 0.1605), abs=5e-5)
    assert wilson(0, 20) == pytest.approx((0.0, 0.1611), abs=5e-5)


@given(st.integers(0, 500), st.data())
def test_wilson_holds_the_share_and_mirrors(n: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, n))
    low, high = wilson(k, n)
    assert 0.0 <= low <= high <= 1.0
    if n:
        assert low <= k / n <= high
    assert wilson(n - k, n) == pytest.approx((1 - high, 1 - low), abs=1e-12)


def test_wilson_narrows_with_n_and_widens_with_confidence() -> None:
    widths = [high - low for low, high in (wilson(n // 2, n) for n in (10, 100, 1000))]
    assert widths == sorted(widths, reverse=True)
    low, high = wilson(50, 100, 0.9)
    assert high - low < widths[1]
    assert wilson(0, 0) == (0.0, 1.0)


def test_impossible_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="not a share"):
        wilson(3, 2)
    with pytest.raises(ValueError, match="confidence"):
        wilson(1, 2, 1.0)
    with pytest.raises(ValueError, match="cannot be paired"):
        paired_difference([1], [1, 0])
    with pytest.raises(ValueError, match="cannot be paired"):
        paired_difference([], [])
    with pytest.raises(ValueError, match="no spread"):
        mean_interval([1.0])


@pytest.mark.parametrize(
    ("freedom", "expected"),
    [(1, 12.7062), (2, 4.3027), (3, 3.1824), (4, 2.7764), (29, 2.0452), (300, 1.9679)],
)
def test_student_quantiles_against_tables(freedom: int, expected: float) -> None:
    assert student_quantile(0.95, freedom) == pytest.approx(expected, abs=2e-4)


def test_mean_interval_by_hand() -> None:
    # mean 3, s = 1.5811, t(4) = 2.7764: half width 1.9632
    assert mean_interval([1.0, 2.0, 3.0, 4.0, 5.0]) == pytest.approx((1.0368, 4.9632), abs=1e-4)


def test_paired_difference_by_hand() -> None:
    # n = 18, 2 lost, 7 won: p = .15, q = .4, half = 1.96 * sqrt((.55 - .0625) / 20)
    before = [1] * 2 + [0] * 7 + [1] * 5 + [0] * 4
    after = [0] * 2 + [1] * 7 + [1] * 5 + [0] * 4
    assert paired_difference(before, after) == pytest.approx((0.25 - 0.30600, 0.25 + 0.30600), abs=1e-4)
    low, high = paired_difference(after, before)
    assert (-high, -low) == pytest.approx(paired_difference(before, after))


def test_pairing_is_narrower_than_two_separate_intervals() -> None:
    before = [1] * 50 + [0] * 50
    after = [1] * 60 + [0] * 40
    low, high = paired_difference(before, after)
    assert low > 0
    assert high - low < (wilson(60, 100)[1] - wilson(60, 100)[0])


@pytest.mark.parametrize(("p", "n"), [(0.5, 30), (0.1, 60), (0.9, 600)])
def test_coverage_of_wilson(p: float, n: int) -> None:
    seed, trials = 11, 2000
    rng = random.Random(seed)
    hits = 0
    for _ in range(trials):
        low, high = wilson(sum(rng.random() < p for _ in range(n)), n)
        hits += low <= p <= high
    print(f"seed {seed}: wilson covers {hits / trials:.3f} at p={p}, n={n}")
    assert 0.93 <= hits / trials <= 0.975


@pytest.mark.parametrize(("lost", "won", "n"), [(0.05, 0.15, 100), (0.1, 0.1, 60), (0.01, 0.04, 500)])
def test_coverage_of_the_paired_difference(lost: float, won: float, n: int) -> None:
    seed, trials = 12, 1500
    rng = random.Random(seed)
    hits = 0
    for _ in range(trials):
        draws = [rng.random() for _ in range(n)]
        before = [x < lost or 0.5 <= x < 0.8 for x in draws]
        after = [lost <= x < lost + won or 0.5 <= x < 0.8 for x in draws]
        low, high = paired_difference(before, after)
        hits += low <= won - lost <= high
    print(f"seed {seed}: paired difference covers {hits / trials:.3f}")
    assert 0.93 <= hits / trials <= 0.98


def test_coverage_of_the_mean_of_five_seeds() -> None:
    seed, trials = 13, 2000
    rng = random.Random(seed)
    hits = 0
    for _ in range(trials):
        low, high = mean_interval([rng.gauss(2.0, 3.0) for _ in range(5)])
        hits += low <= 2.0 <= high
    print(f"seed {seed}: mean interval covers {hits / trials:.3f}")
    assert 0.935 <= hits / trials <= 0.965
