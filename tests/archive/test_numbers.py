"""Numbers of one type: packed and back bit for bit, and hostile payloads that end in an error."""

import math
import random
import struct
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, strategies as st

from kolmocli.archive.codecs.numbers import CHUNK_ITEMS, TYPES, pack_numbers, unpack_numbers
from kolmocli.archive.errors import ArchiveError
from kolmocli.archive.format.container import varint

from . import samples


@pytest.mark.parametrize("strong", [True, False])
@pytest.mark.parametrize("name", TYPES)
def test_numbers_come_back(name, strong):
    type_ = TYPES[name]
    for count in (0, 1, 255, 256, 257, 3000):
        data = np.array(list(samples.walk(count)), np.int64).astype(type_.dtype).tobytes()
        payload = pack_numbers(data, type_, strong)
        assert unpack_numbers(payload, len(data)) == data


@pytest.mark.parametrize("name", TYPES)
@given(st.binary(max_size=400))
def test_any_bits_come_back(name, data):
    """Also those that are no numbers, or several times zero."""
    type_ = TYPES[name]
    data = data[: len(data) - len(data) % type_.width]
    assert unpack_numbers(pack_numbers(data, type_), len(data)) == data


def test_floats_without_an_equal_come_back():
    odd = struct.pack("<8d", math.nan, -math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324, -1e308)
    signalling = bytes.fromhex("010000000000f07f")
    data = (odd + signalling) * 50
    assert unpack_numbers(pack_numbers(data, TYPES["f64"]), len(data)) == data


def test_several_chunks():
    data = np.arange(2 * CHUNK_ITEMS + 5, dtype="<i4").tobytes()
    payload = pack_numbers(data, TYPES["i32"])
    assert len(payload) < 200
    assert unpack_numbers(payload, len(data)) == data
    for end in range(len(payload)):
        with pytest.raises(ArchiveError):
            unpack_numbers(payload[:end], len(data))


@pytest.mark.parametrize("count", [1024 + 7, 1024 + 31, 1024 + 256, 5000])
def test_linear_prediction_of_any_number_of_items(count):
    """Where the last batch is shorter than the order pcodec would panic."""
    tone = [round(9000 * math.sin(i / 5) + 7000 * math.sin(i / 3.3)) for i in range(count)]
    data = struct.pack(f"<{count}h", *tone)
    assert unpack_numbers(pack_numbers(data, TYPES["i16"]), len(data)) == data


def bits(*fields):
    """Numbers of so many bits, the first one lowest."""
    value = at = 0
    for number, width in fields:
        value |= number << at
        at += width
    return value.to_bytes((at + 7) // 8, "little")


HOSTILE = {
    "dictionary": bits((4, 4), ((1 << 25) - 1, 25), (0, 3)) + bytes(1000),
    "window": bits((0, 4), (2, 4), (31, 5), (15, 4), (0, 1)) + bytes(1000),
    "long window": bits((0, 4), (2, 4), (23, 5), (0, 4), (0, 5), (1, 15), (1, 32), (0, 6), (0, 4), (1, 15)) + bytes(99),
    "bins": bits((0, 4), (0, 4), (14, 4), ((1 << 15) - 1, 15)) + bytes(1000),
    "no bins": bits((0, 4), (0, 4), (0, 4), (0, 15)) + bytes(100),
    "weights": bits((0, 4), (3, 4), (31, 5), ((1 << 64) - 1, 64), (31, 5)) + b"\xff" * 200,
}
_MEASURED = """
import resource, sys
from kolmocli.archive.codecs.numbers import unpack_numbers
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    unpack_numbers(bytes.fromhex(sys.stdin.read()), 1 << 21)
except Exception as error:
    print(type(error).__name__)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def payload_of(chunk, count=CHUNK_ITEMS):
    return bytes([TYPES["u64"].number]) + varint(count) + b"\x04\x01" + chunk


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_chunks_take_no_memory(name):
    done = subprocess.run(
        [sys.executable, "-c", _MEASURED],
        input=payload_of(HOSTILE[name]).hex(),
        capture_output=True,
        text=True,
        check=True,
    )
    *error, grown = done.stdout.split()
    assert error == ["ArchiveError"]
    assert int(grown) * (1 if sys.platform == "darwin" else 1024) < 64 << 20


def test_a_dictionary_longer_than_its_bytes_is_refused_before_there_is_room_for_it():
    with pytest.raises(ArchiveError, match="dictionary"):
        unpack_numbers(payload_of(HOSTILE["dictionary"]), 1 << 21)


def test_more_numbers_than_there_may_be_are_refused():
    payload = pack_numbers(bytes(8000), TYPES["i64"])
    with pytest.raises(ArchiveError, match="more than"):
        unpack_numbers(payload, 7999)
    with pytest.raises(ArchiveError):
        unpack_numbers(payload_of(b"", 1 << 60), 1 << 62)


def test_damaged_payloads():
    """No decoder is asked whether the bytes are right: an archive's digest is. They end, in numbers or in an error."""
    rng = random.Random(5)
    walk = np.array(list(samples.walk(900)), np.int64)
    payloads = [pack_numbers(walk.astype(t.dtype).tobytes(), t) for t in TYPES.values()]
    for _ in range(3000):
        payload = bytearray(rng.choice(payloads))
        for _ in range(rng.randrange(1, 4)):
            payload[rng.randrange(min(len(payload), rng.choice([8, 40, 4000])))] ^= 1 << rng.randrange(8)
        try:
            data = unpack_numbers(bytes(payload), 8000)
        except ArchiveError:
            continue
        assert len(data) <= 8000
