"""Data that are one repeat, and long runs in others: small, at once, at every level, and read by the independent decoder."""

from __future__ import annotations

import random

import pytest

from kolmocli.archive.opener import decompress, members
from kolmocli.archive.options import Options
from kolmocli.archive.packer import compress, compress_with_reports
from kolmocli.archive.repeats import LEAST, MOST_PERIOD, Span, period, spans

from .independent import decode

NOISE = random.Random(0).randbytes(MOST_PERIOD)
REPEATS = {
    "zeros": (bytes(3_000_000), 1),
    "one byte": (b"\xff" * (1 << 20), 1),
    "a short period": (b"abcdefg" * 150_000 + b"abc", 7),
    "a period of zeros and a one": ((bytes(4095) + b"\1") * 300, 4096),
    "noise that repeats": (NOISE[:5_000] * 60, 5_000),
    "the longest period": (NOISE * 3, MOST_PERIOD),
    "least": (bytes(LEAST), 1),
}
NONE = {
    "noise": random.Random(1).randbytes(1 << 17),
    "zeros and one byte at the end": bytes(1 << 17) + b"\1",
    "a period that breaks": b"abc" * 50_000 + b"x" + b"abc" * 50_000,
    "short": bytes(LEAST - 1),
    "empty": b"",
}


@pytest.mark.parametrize("name", REPEATS)
@pytest.mark.parametrize("level", [0, 1, 6, 9])
def test_one_repeat_is_packed_at_once(name: str, level: int) -> None:
    data, found = REPEATS[name]
    assert period(data) == found
    archive = compress(data, level)
    assert len(archive) < found + 80
    assert decompress(archive) == decode(archive) == data


@pytest.mark.parametrize("name", NONE)
def test_what_is_no_repeat(name: str) -> None:
    data = NONE[name]
    assert len(data) < LEAST or period(data) == 0
    assert spans(data) == [Span(0, len(data), False)] or name.startswith("zeros")


def test_long_runs_are_members_of_their_own() -> None:
    noise = [NOISE[i * 3_000 : (i + 1) * 3_000].strip(b"\0") for i in range(3)]
    data = noise[0] + bytes(1_500_001) + noise[1] + b"\7" * 700_003 + noise[2]
    found = spans(data)
    assert [(span.end - span.start, span.repeats) for span in found] == [
        (len(noise[0]), False), (1_500_001, True), (len(noise[1]), False), (700_003, True), (len(noise[2]), False)
    ]  # fmt: skip
    archive, reports = compress_with_reports(data, Options(6))
    assert len(members(archive)) == len(reports) == 5
    assert len(archive) < sum(map(len, noise)) + 200
    assert decompress(archive) == decode(archive) == data


def test_short_runs_stay_where_they_are() -> None:
    data = b"".join(NOISE[i * 1_000 : (i + 1) * 1_000] + bytes(50_000) for i in range(8))
    assert spans(data) == [Span(0, len(data), False)]


def test_a_budget_of_no_time_ends_no_larger_than_level_one() -> None:
    """Of each piece: little data between runs have as little of the time."""
    rng = random.Random(2)
    data = b"".join(bytes(rng.choice([30_000, 400_000])) + rng.randbytes(8) for _ in range(20))
    quick, hurried = compress(data, 1), compress(data, 6, 0.0)
    assert len(members(quick)) > 10 and len(hurried) <= len(quick)
    assert decompress(hurried) == decode(hurried) == data


def test_more_than_a_member_holds() -> None:
    data = bytes((64 << 20) + 5)
    archive = compress(data)
    assert len(members(archive)) == 2 and len(archive) < 120
    assert decompress(archive) == data


def test_a_view_that_was_asked_for_is_searched() -> None:
    data = bytes(1 << 12) * 16
    _, [report] = compress_with_reports(data, Options(2, view="i64le"))
    assert any(way.startswith("programs") for way in report.attempts)


@pytest.mark.parametrize("seconds", [0.5, 3.0])
def test_a_time_budget_never_ends_larger_than_level_1(seconds: float) -> None:
    words = b"the quick brown fox jumps over a lazy dog and runs".split()
    text = b" ".join(random.Random(2).choices(words, k=40_000))
    numbers = b"".join((i * i % 9_973).to_bytes(4, "little") for i in range(50_000))
    for data in (text, numbers, bytes(2_000_000)):
        assert len(compress(data, 6, seconds)) <= len(compress(data, 1))
