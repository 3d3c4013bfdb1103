"""The range coder: exact both ways, close to the entropy, and safe past its end."""

import math
import random

import pytest
from hypothesis import given, strategies as st

from kolmocli.archive.format.rangecoder import Decoder, Encoder, Integers, Model


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(-(2**63), 2**63)), max_size=200))
def test_integers_come_back(numbers):
    encoder, model = Encoder(), Integers(4)
    for context, value in numbers:
        assert model.code(encoder, context, value, signed=True) == value
    decoder, model = Decoder(encoder.finish()), Integers(4)
    assert [model.code(decoder, context, 0, signed=True) for context, _ in numbers] == [v for _, v in numbers]
    assert not decoder.exhausted


@given(st.lists(st.integers(0, 1), max_size=3000), st.lists(st.integers(0, 1), max_size=400))
def test_bits_come_back(plain, modelled):
    encoder, model = Encoder(), Model(1)
    for bit in plain:
        encoder.plain(bit)
    for bit in modelled:
        encoder.bit(model, 0, bit)
    decoder, model = Decoder(encoder.finish()), Model(1)
    assert [decoder.plain(0) for _ in plain] == plain
    assert [decoder.bit(model, 0) for _ in modelled] == modelled
    assert not decoder.exhausted


@pytest.mark.parametrize("share", [0.02, 0.3])
def test_long_streams_come_back(share):
    """Long enough for a carry to run back through bytes that are full."""
    rng = random.Random(11)
    bits = [int(rng.random() < share) for _ in range(20_000)]
    encoder, model = Encoder(), Model(1)
    for bit in bits:
        encoder.bit(model, 0, bit)
    decoder, model = Decoder(encoder.finish()), Model(1)
    assert [decoder.bit(model, 0) for _ in bits] == bits


def test_integers_have_64_bits():
    for value in (2**64 - 1, 1 - 2**64):
        encoder = Encoder()
        assert Integers(1).code(encoder, 0, value, signed=True) == value
        assert Integers(1).code(Decoder(encoder.finish()), 0, 0, signed=True) == value
    with pytest.raises(ValueError, match="more than 64 bits"):
        Integers(1).code(Encoder(), 0, 2**64)


def test_long_runs_of_zero_bytes_are_kept():
    encoder = Encoder()
    for _ in range(4000):
        encoder.plain(0)
    decoder = Decoder(encoder.finish())
    assert not any(decoder.plain(0) for _ in range(4000))
    assert not decoder.exhausted


@pytest.mark.parametrize("share", [0.02, 0.3, 0.5])
def test_size_is_close_to_the_entropy(share):
    rng = random.Random(7)
    encoder, model, count = Encoder(), Model(1), 40_000
    for _ in range(count):
        encoder.bit(model, 0, int(rng.random() < share))
    entropy = -share * math.log2(share) - (1 - share) * math.log2(1 - share)
    assert 8 * len(encoder.finish()) / count < 1.03 * entropy + 0.005


def test_reading_far_past_the_end_is_noticed():
    decoder = Decoder(b"\x12\x34")
    for _ in range(1000):
        decoder.plain(0)
    assert decoder.exhausted
