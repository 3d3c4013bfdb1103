"""The report of an evaluation, computed by hand on a few tasks."""

from __future__ import annotations

import gzip
import json
import lzma
from collections.abc import Callable
from itertools import combinations

import pytest
from hypothesis import given, strategies as st

from kolmocli.curriculum.base import Bucket
from kolmocli.evaluation import baselines, rates
from kolmocli.evaluation.coding import CODED, Pair
from kolmocli.evaluation.metrics import summarise
from kolmocli.evaluation.samples import best_of, pass_at_k
from kolmocli.language.coder import literal_bits
from kolmocli.sandbox.base import Status
from kolmocli.tasks.outcome import Outcome
from kolmocli.tasks.sequences.task import SequenceTask, sequence_task

RAMP = tuple(range(64))
FLAT = (7,) * 32
NOISE = (201, 3, 77, 150, 9, 254, 31, 88)


def task(target: tuple[int, ...], family: str = "ramps", level: int = 1) -> SequenceTask:
    return sequence_task(Bucket(family, level), 0, target)


def passed(bits: int, reward: float = 1.0, copied: bool = False) -> Outcome:
    return Outcome("…", 1, True, Status.OK, reward, True, None, bits, copied)


def failed(status: Status = Status.OK, formatted: bool = True, reward: float = 0.0) -> Outcome:
    return Outcome("…", 1, False, status, reward, formatted)


LOST = Outcome("…", 1, False, Status.INFRA, None)


def compression_rate(pairs: list[Pair]) -> float | None:
    return rates.compression(pairs, CODED).value


def test_a_report_by_hand() -> None:
    pairs = [
        (task(RAMP), passed(30, 1.2)),
        (task(FLAT, level=2), passed(20, 1.1)),
        (task(NOISE, "digits"), passed(literal_bits(NOISE), 1.0, copied=True)),
        (task(FLAT, "digits"), failed(Status.RUNTIME)),
        (task(RAMP, level=2), failed(Status.SYNTAX, formatted=False, reward=-0.3)),
        (task(RAMP), LOST),
    ]
    report = summarise(pairs)
    raw = 8 * (64 + 32 + 8 + 32 + 64)
    assert (report["n"], report["masked"], report["raw_bits"]) == (5, 1, raw)
    assert report["accuracy"] == 3 / 5
    assert report["accuracy_ci"] == pytest.approx([0.2307, 0.8824], abs=1e-4)
    assert report["executable"] == 3 / 5
    assert report["format_rate"] == 4 / 5
    assert report["copy_rate"] == 1 / 3
    assert report["average_reward"] == pytest.approx((1.2 + 1.1 + 1.0 + 0.0 - 0.3) / 5)
    # The copy is correct but saves nothing, so the noise is stored with the failures; five flags are paid.
    left_over = baselines.best_solid_bits([NOISE, FLAT, RAMP])
    assert report["compression_rate"] == (30 + 20 + left_over + 5) / raw
    correct = bytes(RAMP + FLAT + NOISE)
    bits = 30 + 20 + literal_bits(NOISE)
    assert report["precision"] == bits / (8 * len(gzip.compress(correct, 9)))
    assert report["precision_xz"] == bits / (8 * len(lzma.compress(correct, preset=9 | lzma.PRESET_EXTREME)))
    assert list(report["buckets"]) == ["ramps/1", "ramps/2", "digits/1"]
    assert report["buckets"]["ramps/2"] == {
        "accuracy": 0.5,
        "n": 2,
        "ci": pytest.approx([0.0945, 0.9055], abs=1e-4),
    }
    everything = [RAMP, FLAT, NOISE, FLAT, RAMP]
    assert report["baselines"]["gzip"]["solid"] == baselines.measure(everything)["gzip"]["solid"] / raw
    assert report["baselines"]["bz2"]["per_block"] == baselines.measure(everything)["bz2"]["per_block"] / raw
    assert json.loads(json.dumps(report)) == report


def test_a_wrong_program_never_counts_as_compressed() -> None:
    wrong = Outcome("…", 1, False, Status.OK, 0.0, True, None, 1)
    assert compression_rate([(task(NOISE), wrong)]) == (8 * len(NOISE) + 1) / (8 * len(NOISE))


def test_the_rate_is_never_much_above_one() -> None:
    long = passed(10_000)
    assert compression_rate([(task(NOISE), long)] * 3) == compression_rate([(task(NOISE), failed())] * 3)


def test_all_lost_is_no_evidence() -> None:
    report = summarise([(task(RAMP), LOST)])
    assert (report["n"], report["masked"]) == (0, 1)
    assert report["accuracy_ci"] == [0.0, 1.0]
    for key in ("accuracy", "executable", "precision", "compression_rate", "average_reward", "copy_rate"):
        assert report[key] is None
    assert report["buckets"] == {}
    json.dumps(report, allow_nan=False)


def test_precision_without_a_correct_program_is_unknown() -> None:
    assert rates.precision([(task(RAMP), failed())], "gzip", CODED).value is None
    assert summarise([(task(RAMP), failed())])["copy_rate"] is None


def test_integers_beyond_a_byte() -> None:
    wide = (1000, 2000, 3000)
    assert summarise([(task(wide), passed(20))])["raw_bits"] == 48


ORDER: list[tuple[str, Callable[[], Outcome]]] = [
    ("lost", lambda: LOST),
    ("not of the language", lambda: failed(Status.SYNTAX, formatted=False)),
    ("of the language", lambda: failed(Status.RUNTIME)),
    ("ran", lambda: failed(Status.OK)),
    ("long", lambda: passed(90)),
    ("short", lambda: passed(40)),
]


@pytest.mark.parametrize("better", range(1, len(ORDER)))
def test_best_of_prefers_the_shortest_correct_one(better: int) -> None:
    best = ORDER[better][1]()
    others = [make() for _, make in ORDER[:better]]
    assert best_of([*others, best]) is best
    assert best_of([best, *others]) is best


def test_best_of_keeps_the_earlier_of_equals_and_needs_one() -> None:
    first, second = passed(40), passed(40)
    assert best_of([first, second]) is first
    with pytest.raises(ValueError, match="no sample"):
        best_of([])


@given(st.integers(1, 9), st.data())
def test_pass_at_k_is_the_share_of_subsets_that_hold_a_pass(n: int, data: st.DataObject) -> None:
    correct, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    subsets = list(combinations(range(n), k))
    share = sum(min(subset) < correct for subset in subsets) / len(subsets)
    assert pass_at_k(n, correct, k) == pytest.approx(share)


@pytest.mark.parametrize(("n", "correct", "k"), [(4, 5, 1), (4, 1, 5), (4, 1, 0), (4, -1, 1)])
def test_pass_at_k_refuses_what_it_cannot_tell(n: int, correct: int, k: int) -> None:
    with pytest.raises(ValueError, match="cannot be told"):
        pass_at_k(n, correct, k)
