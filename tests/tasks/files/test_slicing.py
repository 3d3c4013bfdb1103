"""Cutting files: every value comes out once and in order, whatever the chunks, the lengths and the modality."""

from __future__ import annotations

import codecs
import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, strategies as st

from kolmocli.errors import KolmoError, UsageError
from kolmocli.tasks.files import plain
from kolmocli.tasks.files.blocks import Cutter, LineWriter
from kolmocli.tasks.files.plain import CHUNK
from kolmocli.tasks.files.problems import Problems
from kolmocli.tasks.files.slicing import Sliced, Slicing, slice_files

Slice = Callable[..., tuple[list[list[int]], Sliced, list[str]]]


@pytest.fixture
def cut(tmp_path: Path) -> Slice:
    """`cut(content, modality, lengths=(4,))`: the sequences, the summary, the warnings."""

    def cut(*contents: bytes, modality: str = "bytes", lengths: tuple[int, ...] = (4,), **wanted: Any) -> Any:
        names, warnings = [], list[str]()
        for number, content in enumerate(contents):
            names.append(str(tmp_path / f"in{number}"))
            Path(names[-1]).write_bytes(content)
        target = tmp_path / "out.jsonl"
        slicing = Slicing(modality, lengths, **wanted)  # type: ignore[arg-type]
        done = slice_files(
            names, str(target), slicing, force=True, warn=lambda t: warnings.append(t.replace(f"{tmp_path}/", ""))
        )
        lines = [json.loads(line) for line in target.read_text().splitlines()]
        assert all(line["modality"] == modality for line in lines)
        assert len(lines) == done.sequences
        assert sum(len(line["sequence"]) for line in lines) == done.values
        return [line["sequence"] for line in lines], done, warnings

    return cut


def test_every_byte_value_and_every_pair_of_neighbours_is_written_right(cut: Slice) -> None:
    data = np.arange(1 << 16, dtype="<u2").tobytes()
    for lengths in ((128,), (7,), (4, 6, 9), (1,)):
        found, _, _ = cut(data, lengths=lengths, rest=True)
        assert bytes(x for sequence in found for x in sequence) == data


def test_a_base_takes_one_digit(cut: Slice, tmp_path: Path) -> None:
    found, _, _ = cut(b"ACGTacgt" * 999 + b"A", modality="dna", lengths=(5, 3))
    assert [x for sequence in found for x in sequence] == list(range(8)) * 999
    assert (tmp_path / "out.jsonl").read_text().startswith('{"sequence":[0,1,2,3,4],"modality":"dna"}\n')


@given(
    st.lists(st.one_of(st.none(), st.binary(max_size=40)), max_size=8),
    st.lists(st.integers(1, 9), min_size=1, max_size=4),
    st.booleans(),
)
def test_chunks_do_not_matter_and_breaks_are_kept(runs: list[bytes | None], lengths: list[int], rest: bool) -> None:
    """Against the plain way: join what lies between two breaks, and cut it."""
    cutter, writer = Cutter(lengths, rest=rest), LineWriter(lengths, "bytes")
    arrays = (None if r is None else np.frombuffer(r, np.uint8) for r in runs)
    text = b"".join(bytes(writer.lines(blocks)[1]) for blocks in cutter.cut(arrays))
    expected, left = [], 0
    stretch = b""
    for run in [*runs, None]:
        if run is not None:
            stretch += run
            continue
        at, turn = 0, 0
        while at + lengths[turn % len(lengths)] <= len(stretch):
            expected.append(list(stretch[at : at + lengths[turn % len(lengths)]]))
            at += lengths[turn % len(lengths)]
            turn += 1
        if rest and stretch[at:]:
            expected.append(list(stretch[at:]))
        else:
            left += len(stretch[at:])
        stretch = b""
    assert [json.loads(line)["sequence"] for line in text.splitlines()] == expected
    assert cutter.left_over == left


def test_a_file_larger_than_a_chunk(cut: Slice) -> None:
    data = np.random.default_rng(0).integers(0, 256, 300_001, dtype=np.uint8).tobytes()
    found, done, _ = cut(data, lengths=(128,))
    assert b"".join(map(bytes, found)) == data[: len(data) // 128 * 128]
    assert done.left_over == len(data) % 128


def test_sequences_stop_at_the_limit(cut: Slice) -> None:
    data = bytes(range(256)) * 4
    for limit in (1, 2, 3, 7):
        found, done, _ = cut(data, data, lengths=(3, 5), limit=limit)
        assert len(found) == limit
        assert b"".join(map(bytes, found)) == data[: done.values]
    found, done, _ = cut(b"abcd", b"efgh", b"ijkl", limit=2)
    assert [bytes(s) for s in found] == [b"abcd", b"efgh"]
    assert [f["sequences"] for f in done.files] == [1, 1]


def test_no_sequence_reaches_from_one_file_into_the_next(cut: Slice) -> None:
    found, done, _ = cut(b"abcdef", b"ghijk")
    assert [bytes(s) for s in found] == [b"abcd", b"ghij"]
    assert done.left_over == 3


def test_bytes_are_taken_as_they_are_and_everything_else_is_unpacked(cut: Slice) -> None:
    packed = gzip.compress(b"abcdefgh")
    assert [bytes(s) for s in cut(packed, modality="text")[0]] == [b"abcd", b"efgh"]
    assert b"".join(bytes(s) for s in cut(packed, rest=True)[0]) == packed


# --- text


def test_text_is_utf_8_in_bytes(cut: Slice) -> None:
    text = "\ufeffKolmogorov — колмогоров, 柯尔莫哥洛夫\r\n" * 9_000
    found, done, warnings = cut(text.encode(), modality="text", lengths=(50,), rest=True)
    assert b"".join(map(bytes, found)) == text.encode().removeprefix(b"\xef\xbb\xbf")
    assert (done.bad, warnings) == (0, [])


def test_text_whose_lines_end_with_the_chunks_is_read_to_its_end(cut: Slice) -> None:
    for text in (b"x" * (5 * CHUNK), (b"x" * (CHUNK - 1) + b"\n") * 5, b"x" * CHUNK + b"\n" * (4 * CHUNK)):
        assert cut(text, modality="text", lengths=(CHUNK,))[1].values == 5 * CHUNK


def test_text_without_a_line_end_is_cut_between_characters(cut: Slice) -> None:
    text = ("a" + "柯é𝄞" * 40_000).encode()
    found, done, _ = cut(text, modality="text", lengths=(64,), rest=True)
    assert b"".join(map(bytes, found)) == text
    assert done.bad == 0


def test_a_line_that_is_not_utf_8_is_named_and_left_out(cut: Slice) -> None:
    lines = [b"0123456\n"] * 40_000
    lines[30_000] = b"caf\xe9....\n"
    found, _, warnings = cut(b"".join(lines), modality="text", lengths=(8,))
    assert len(found) == 39_999
    assert {bytes(s) for s in found} == {b"0123456\n"}
    assert warnings == [
        "in0:30001: skipped: not UTF-8 (invalid continuation byte at byte 4)",
        "in0: 1 bad line(s) skipped, 39,999 sequences kept",
    ]
    with pytest.raises(UsageError, match=r"in0:30001: not UTF-8"):
        cut(b"".join(lines), modality="text", strict=True)


@given(st.binary(max_size=40))
def test_any_bytes_as_text_are_good_lines_or_named(data: bytes) -> None:
    """In chunks of a few bytes; what is UTF-8 comes out whole. What begins as a packed file does is refused."""
    problems = Problems("t", lambda text: None)
    with patch.object(plain, "CHUNK", 4):
        try:
            runs = [*plain.read_text(io.BytesIO(data), problems)]
        except UsageError as error:
            assert "first: " in str(error)
            return
    found = b"".join(b"" if run is None else run.tobytes() for run in runs)
    found.decode("utf-8")
    try:
        data.decode("utf-8")
        assert found == data.removeprefix(codecs.BOM_UTF8)
    except UnicodeDecodeError:
        assert problems.count


def test_text_in_another_encoding_is_refused(cut: Slice) -> None:
    with pytest.raises(UsageError, match=r"in0: UTF-16, not UTF-8; convert it first: iconv"):
        cut("abcd".encode("utf-16"), modality="text")


# --- outputs


def test_nothing_is_written_when_nothing_comes_out(cut: Slice, tmp_path: Path) -> None:
    for content in (b"", b"abc"):
        with pytest.raises(
            UsageError, match=r"in0: (no bytes in it|3 values are in it, too few in a row for --length 4)"
        ):
            cut(content)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in0"]


def test_an_output_is_there_whole_or_not_at_all(cut: Slice, tmp_path: Path) -> None:
    cut(b"abcdefgh")
    before = (tmp_path / "out.jsonl").read_bytes()
    with pytest.raises(UsageError, match="not UTF-8"):
        cut(b"fine" * 100 + b"\n\xff\n", modality="text", strict=True)
    assert (tmp_path / "out.jsonl").read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in0", "out.jsonl"]


def test_an_output_is_never_overwritten_silently(tmp_path: Path) -> None:
    source, target = tmp_path / "in", tmp_path / "out"
    source.write_bytes(b"abcd")
    target.write_bytes(b"precious")
    with pytest.raises(KolmoError, match="out: exists already; use -f"):
        slice_files([str(source)], str(target), Slicing("bytes", (4,)), force=False, warn=print)
    with pytest.raises(UsageError, match="in: is the input"):
        slice_files([str(source)], str(source), Slicing("bytes", (4,)), force=True, warn=print)
    assert target.read_bytes() == b"precious"


def test_a_full_disk_is_the_outputs_fault() -> None:
    with pytest.raises(KolmoError, match="/dev/full: cannot be written: No space left"):
        slice_files([__file__], "/dev/full", Slicing("bytes", (4,)), force=True, warn=print)


def test_a_column_of_decimals_is_called_that(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("height,weight\n1.75,70\n-1e3,80\n")
    said = (
        r"d\.csv: no integers in it; 2 bad line\(s\), such as this: '1\.75' is not an integer; only integers are taken: "
        r"multiply decimals by a power of ten first$"
    )
    wanted = Slicing("numbers", (1,), column="height")
    with pytest.raises(UsageError, match=said):
        slice_files([str(tmp_path / "d.csv")], str(tmp_path / "out"), wanted, force=False, warn=lambda line: None)
