"""Frames survive any split of the stream, and nothing but frames gets through."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from kolmocli.sandbox.base import Job, Limits, Status
from kolmocli.sandbox.wire import frames, verdicts

FRAME = st.tuples(st.integers(0, 255), st.integers(0, 2**32 - 1), st.binary(max_size=300))


@given(st.lists(FRAME, max_size=8), st.data())
def test_any_split_gives_the_same_frames(sent: list[tuple[int, int, bytes]], data: st.DataObject) -> None:
    stream = b"".join(frames.encode(*frame) for frame in sent)
    reader, got, at = frames.Reader(), [], 0
    while at < len(stream):
        size = data.draw(st.integers(1, len(stream) - at))
        got += reader.feed(stream[at : at + size])
        at += size
    assert got == sent


@given(FRAME, st.integers(0, 10_000), st.integers(1, 255))
def test_a_changed_byte_is_never_another_payload(frame: tuple[int, int, bytes], where: int, change: int) -> None:
    stream = bytearray(frames.encode(*frame))
    stream[where % len(stream)] ^= change
    reader = frames.Reader()
    try:
        got = list(reader.feed(bytes(stream)))
    except frames.FrameError:
        return
    # Kind and number are not under the checksum: a wrong one is nobody's, which the pool takes for a fault.
    assert all(payload == frame[2] for _, _, payload in got)


@given(st.binary(min_size=16, max_size=200).filter(lambda b: not b.startswith(b"KF")))
def test_noise_is_refused(noise: bytes) -> None:
    with pytest.raises(frames.FrameError):
        list(frames.Reader().feed(noise))


def test_a_lying_length_is_refused_before_anything_is_kept() -> None:
    header = frames.HEADER.pack(frames.MAGIC, frames.RUN, 0, 1, 2**32 - 1, 0)
    with pytest.raises(frames.FrameError):
        list(frames.Reader().feed(header))


@given(st.binary(max_size=400), st.integers(0, 4), st.sampled_from([0, 9, 11, 24, 31, 256, 70 << 8]))
def test_no_output_of_a_program_breaks_the_host(output: bytes, reason: int, status: int) -> None:
    payload = frames.REPORT.pack(status, reason, 0, 1, 1, 1, 1) + output
    verdict = verdicts.read(payload, Job(""), Limits(), "c", 1)
    assert isinstance(verdict.status, Status)
    assert not verdict.status.is_fault
    if verdict.status is Status.OK:
        assert output.endswith(b"!OK\n") and status == 0 and reason == 0


@pytest.mark.parametrize(
    ("reason", "status", "said"),
    [
        (0, 0, Status.OK),
        (frames.CPU, 0, Status.TLE_CPU),
        (frames.WALL, 0, Status.TLE_WALL),
        (frames.OUTPUT, 0, Status.OLE),
        (frames.LATE, 0, Status.TLE_WALL),
        (0, 9, Status.SIGNAL),
        (0, 1 << 8, Status.RUNTIME),
    ],
)
def test_how_a_program_ended_outweighs_what_it_says(reason: int, status: int, said: Status) -> None:
    payload = frames.REPORT.pack(status, reason, 0, 1, 1, 1, 1) + b"1\n[7]\n!OK\n"
    assert verdicts.read(payload, Job(""), Limits(), "c", 1).status is said


LINE = st.one_of(st.none(), st.lists(st.integers(), max_size=20))


@given(st.lists(LINE, max_size=10))
def test_an_honest_report_is_read_back(values: list[list[int] | None]) -> None:
    lines = b"".join(b"null\n" if v is None else repr(v).encode() + b"\n" for v in values)
    payload = frames.REPORT.pack(0, 0, 0, 1, 1, 1, 1) + b"%d\n" % len(values) + lines + b"!OK\n"
    verdict = verdicts.read(payload, Job(""), Limits(), "c", 1)
    assert verdict.status is Status.OK
    assert verdict.trace == tuple(None if v is None else tuple(v) for v in values)


@pytest.mark.parametrize(
    "output",
    [
        b"2\n[1]\n!OK\n",  # fewer values than statements, and all is said to be well
        b"1\n[1]\n[2]\n!OK\n",  # more
        b"1\n[1],[2]\n!OK\n",  # two in one line
        b"1\n[true]\n!OK\n",
        b"1\n[1.0]\n!OK\n",
        b"1\n[[1]]\n!OK\n",
        b'1\n{"a":1}\n!OK\n',
        b"1\n[" + b"9" * 5000 + b"]\n!OK\n",
        b"1\n" + b"[" * 100_000 + b"\n!OK\n",
        b"-1\n!OK\n",
        b"!OK",
        b"",
    ],
)
def test_forged_reports_do_not_pass(output: bytes) -> None:
    verdict = verdicts.read(frames.REPORT.pack(0, 0, 0, 1, 1, 1, 1) + output, Job(""), Limits(), "c", 1)
    assert verdict.value is None


def test_terminal_escapes_do_not_reach_the_detail() -> None:
    output = b"1\n!RUNTIME \x1b[31mred\x07 in statement 1\n"
    verdict = verdicts.read(frames.REPORT.pack(0, 0, 0, 1, 1, 1, 1) + output, Job(""), Limits(), "c", 1)
    assert verdict.detail.isprintable()


def test_a_program_and_what_comes_after_it() -> None:
    assert frames.join(b"x\n", b'["2"]') == b"\x02\0\0\0x\n" + b'["2"]'
    assert frames.split(frames.join("é".encode(), b'[["f", []]]')) == ("é".encode(), [["f", []]])


@pytest.mark.parametrize("parts", [[], [b""], [b"a", b"", b"bc\0"]])
def test_parts_of_any_content(parts: list[bytes]) -> None:
    assert [bytes(part) for part in frames.unlisted(frames.listed(parts))] == parts


@pytest.mark.parametrize("cut", [b"\0", b"\x01\0\0\0", b"\xff\xff\xff\xffx", b"\0\0\0\0\x02\0\0\0a"])
def test_parts_that_are_cut_off(cut: bytes) -> None:
    with pytest.raises(frames.FrameError):
        list(frames.unlisted(cut))
