"""Bytes in parts: what is split comes together again, and a header that lies ends in an error."""

import pytest
from hypothesis import given, strategies as st

from kolmocli.archive.codecs.codecs import SPLIT, unpack
from kolmocli.archive.codecs.split import Field, Run, parts_of, write_split
from kolmocli.archive.errors import ArchiveError
from kolmocli.archive.format.container import varint

fields = st.lists(st.builds(Field, st.integers(1, 9), st.integers(0, 3)), min_size=1, max_size=4).map(tuple)
runs = st.lists(st.builds(Run, st.integers(0, 20), fields), max_size=4).map(tuple)


def stored(runs, data):
    return write_split(runs, [(0, part) for part in parts_of(data, runs)])


@given(runs, st.randoms(use_true_random=False))
def test_parts_come_together(runs, rng):
    data = rng.randbytes(sum(run.records * run.width for run in runs))
    payload = stored(runs, data)
    assert unpack(SPLIT, payload, len(data)) == data
    with pytest.raises(ArchiveError):
        unpack(SPLIT, payload + b"x", len(data))
    if data:
        with pytest.raises(ArchiveError, match="more than"):
            unpack(SPLIT, payload, len(data) - 1)


def test_parts_of_records():
    records = Run(3, (Field(1, 0), Field(2, 1), Field(1, 0)))
    assert parts_of(b"aBBbcDDdeFFf", (records,)) == [b"ace" + b"bdf", b"BBDDFF"]


def test_every_truncation_is_an_error():
    data = bytes(range(60))
    payload = stored((Run(5, (Field(2, 1), Field(1, 0))), Run(45, (Field(1, 0),))), data)
    for end in range(len(payload)):
        with pytest.raises(ArchiveError):
            unpack(SPLIT, payload[:end], 60)


@pytest.mark.parametrize(
    "payload",
    [
        varint(1) + varint(1 << 62) + varint(1) + varint(1 << 62) + varint(0),
        varint(1) + varint(5) + varint(0),
        varint(1) + varint(5) + varint(1) + varint(0) + varint(0),
        varint(1) + varint(0) + varint(1) + varint(1) + varint(60_000),
        varint(1) + varint(5) + varint(1) + varint(1) + varint(0) + varint(1) + bytes([SPLIT]) + b"12345",
        varint(1) + varint(5) + varint(1) + varint(1) + varint(0) + varint(1) + bytes([99]) + b"12345",
        varint(1) + varint(5) + varint(1) + varint(1) + varint(0) + varint(1) + bytes([0]) + b"1234",
        varint(1 << 60),
    ],
    ids=["huge", "no fields", "no width", "missing parts", "nested", "unknown codec", "short part", "many runs"],
)
def test_headers_that_lie(payload):
    with pytest.raises(ArchiveError):
        unpack(SPLIT, payload, 1000)


def test_a_run_without_records_may_be_of_any_width():
    runs = (Run(0, (Field((1 << 63) - 1, 0), Field(1 << 40, 1))), Run(4, (Field(1, 0),)))
    assert unpack(SPLIT, write_split(runs, [(0, b"abcd"), (0, b"")]), 4) == b"abcd"
