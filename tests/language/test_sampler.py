"""The sampler: the published statistics, the knobs, and the invariants of every pair."""

import random
from collections import Counter

import pytest
from pydantic import ValidationError

from kolmocli.language.coder import coded_bits, uniform_prior_bits
from kolmocli.language.interpreter import evaluate
from kolmocli.language.program import canonical
from kolmocli.language.sampler import SamplingError, sample
from kolmocli.language.sampler_settings import SamplerConfig

PUBLISHED_SHARES = {  # per cent of all calls, of 20,000 samples
    "concatenate": 38.7,
    "interleave": 9.7,
    "range_func_up": 9.7,
    "range_func_interval": 9.7,
    "repeat_num": 9.7,
    "set_list": 9.7,
    "substitute": 2.4,
    "repeat_list": 2.1,
    "modulo_item_list": 1.9,
    "reverse_list": 1.2,
    "get_subsequence_with_jumps": 1.0,
    "get_subsequence_between_indices": 0.9,
    "add_item_list": 0.9,
    "subtract_item_list": 0.8,
    "filter": 0.6,
    "modulo_two_lists": 0.3,
    "max_n": 0.2,
    "min_n": 0.2,
    "scan_add": 0.2,
    "add_two_lists": 0.06,
    "subtract_two_lists": 0.03,
}


@pytest.fixture(scope="module")
def pairs():
    rng = random.Random(0)
    return [sample(rng) for _ in range(20_000)]


def test_lengths_are_as_published(pairs):
    lengths = sorted(len(p.sequence) for p in pairs)
    mean = sum(lengths) / len(lengths)
    assert mean == pytest.approx(76.1, abs=2.0)  # heavy tail: the standard error is about 0.5 on each side
    wanted = {0.05: (12, 1), 0.25: (34, 1), 0.5: (61, 2), 0.75: (94, 4), 0.95: (185, 8)}
    for quantile, (value, margin) in wanted.items():
        assert abs(lengths[int(quantile * len(lengths))] - value) <= margin, quantile
    assert sum(n <= 128 for n in lengths) / len(lengths) == pytest.approx(0.879, abs=0.01)
    assert sum(n < 64 for n in lengths) / len(lengths) == pytest.approx(0.520, abs=0.015)
    assert lengths[-1] > 500


def test_calls_are_as_published(pairs):
    counts = Counter(s.function for p in pairs for s in p.program.statements)
    total = sum(counts.values())
    assert total / len(pairs) == pytest.approx(7.68, abs=0.12)
    for name, share in PUBLISHED_SHARES.items():
        assert 100 * counts[name] / total == pytest.approx(share, abs=0.06 + 0.05 * share), name
    assert set(counts) == set(PUBLISHED_SHARES)


def test_program_bits_are_as_published(pairs):
    raw = sum(8 * len(p.sequence) for p in pairs)
    assert sum(uniform_prior_bits(p.program) for p in pairs) / raw == pytest.approx(0.324, abs=0.012)
    assert sum(coded_bits(p.program) for p in pairs) / raw < 0.28


def test_every_pair_is_canonical_and_true(pairs):
    for pair in pairs[:3_000]:
        assert canonical(pair.program) == pair.program
        assert tuple(evaluate(pair.program)) == pair.sequence
        assert min(pair.sequence) >= 0 and max(pair.sequence) <= 255


def test_a_seed_gives_one_stream():
    first, second = ([sample(rng) for _ in range(50)] for rng in (random.Random(9), random.Random(9)))
    assert first == second


def test_knobs_hold():
    config = SamplerConfig(calls=(2, 5), length=(6, 40), require=("reverse_list", "filter"), reuse=0, bases=(1, 2))
    rng = random.Random(3)
    for _ in range(50):
        pair = sample(rng, config)
        assert 2 <= len(pair.program) <= 5
        assert 6 <= len(pair.sequence) <= 40
        assert {s.function for s in pair.program.statements} & {"reverse_list", "filter"}


@pytest.mark.parametrize("name", sorted(set(PUBLISHED_SHARES) - {"concatenate", "interleave"}))
def test_one_operator_on_one_base_is_built_directly(name):
    initiators = ("range_func_up", "range_func_interval", "set_list", "repeat_num")
    if name in initiators:
        config = SamplerConfig(bases=(1, 1), initiators={name: 1}, modifiers=(0, 0), reuse=0)
        calls = 1
    else:
        bases = (2, 2) if "two_lists" in name else (1, 1)
        config = SamplerConfig(
            bases=bases,
            base_length=(6, 7),
            initiators={"range_func_up": 1, "set_list": 1},
            operators={name: 1},
            modifiers=(1, 1),
            drop_origin=1,
            reuse=0,
        )
        calls = bases[0] + 1
    rng = random.Random(5)
    for _ in range(30):
        pair = sample(rng, config, attempts=500)
        assert len(pair.program) == calls
        assert pair.program.statements[-1].function == name


def test_accept_is_the_last_word():
    rng = random.Random(11)
    assert all(len(sample(rng, accept=lambda p: len(p.sequence) % 2 == 0).sequence) % 2 == 0 for _ in range(50))


def test_what_cannot_be_met_is_an_error_that_names_the_knobs():
    config = SamplerConfig(bases=(1, 1), modifiers=(0, 0), reuse=0, calls=(4, 6))
    with pytest.raises(SamplingError, match=r"modifiers.*calls=\(4, 6\)"):
        sample(random.Random(0), config, attempts=50)


@pytest.mark.parametrize(
    "values",
    [
        {"bases": (3, 1)},
        {"bases": (0, 1)},
        {"operators": {"reverse": 1}},
        {"initiators": {"reverse_list": 1}},
        {"initiators": {"set_list": 0}},
        {"require": ("nothing",)},
        {"values": (0, 9)},
        {"no_such_knob": 1},
    ],
)
def test_a_bad_configuration_is_refused(values):
    with pytest.raises(ValidationError):
        SamplerConfig(**values)
