from __future__ import annotations

import bz2
import gzip
import lzma
import random
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, strategies as st

from kolmocli.evaluation import baselines
from kolmocli.language.raw import item_width, pack, raw_bits


def unpack(data: bytes, width: int, signed: bool) -> list[int]:
    return [int.from_bytes(data[i : i + width], "little", signed=signed) for i in range(0, len(data), width)]


@given(st.lists(st.integers(-(1 << 70), 1 << 70)))
def test_packing_can_be_undone_and_is_as_narrow_as_it_can_be(sequence: list[int]) -> None:
    width, signed = item_width(sequence)
    packed = pack(sequence)
    assert unpack(packed, width, signed) == sequence
    assert 8 * len(packed) == raw_bits([sequence])
    if width > 1:
        with pytest.raises(OverflowError):
            b"".join(item.to_bytes(width - 1, "little", signed=signed) for item in sequence)


@pytest.mark.parametrize(
    ("sequence", "expected"),
    [
        ([0, 255], b"\x00\xff"),
        ([0, 256], b"\x00\x00\x00\x01"),
        ([-1, 127], b"\xff\x7f"),
        ([-1, 128], b"\xff\xff\x80\x00"),
        ([-129], b"\x7f\xff"),
        ([], b""),
    ],
)
def test_packing_by_hand(sequence: list[int], expected: bytes) -> None:
    assert pack(sequence) == expected


def test_one_wide_sequence_does_not_inflate_the_others() -> None:
    assert raw_bits([[1, 2, 3], [1000]]) == 8 * 3 + 16


def sequences(count: int) -> list[tuple[int, ...]]:
    """Of a seed; the last is the first once more, and one is of wide and negative items."""
    seed = 3
    print(f"seed {seed}")
    rng = random.Random(seed)
    found = [tuple(rng.choices(range(4), k=64)) for _ in range(count)]
    return [*found, (-5, 70_000), found[0]]


def plain_sizes(blocks: list[bytes]) -> dict[str, dict[str, int]]:
    """Every file made by itself, with the libraries' own calls."""
    zstandard, brotli = pytest.importorskip("zstandard"), pytest.importorskip("brotli")
    calls: dict[str, Callable[[bytes], bytes]] = {
        "gzip": lambda data: gzip.compress(data, 9),
        "bz2": lambda data: bz2.compress(data, 9),
        "xz": lambda data: lzma.compress(data, preset=9 | lzma.PRESET_EXTREME),
        "zstd": lambda data: zstandard.ZstdCompressor(level=19).compress(data),
        "brotli": lambda data: brotli.compress(data, quality=11),
    }
    return {
        name: {"per_block": 8 * sum(len(call(b)) for b in blocks), "solid": 8 * len(call(b"".join(blocks)))}
        for name, call in calls.items()
    }


def test_sizes_are_those_of_plain_calls() -> None:
    found = sequences(12)
    sizes = baselines.measure(found)
    assert sizes == plain_sizes([pack(s) for s in found])
    assert all(size["solid"] < size["per_block"] for size in sizes.values())
    assert baselines.best_solid_bits(found) == min(size["solid"] for size in sizes.values())
    assert baselines.solid_bits("xz", found) == sizes["xz"]["solid"]


def test_what_was_begun_is_counted_once_and_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the sequences that were begun, one is never asked for, and one more is asked for than were begun."""
    counted: list[bytes] = []
    count = baselines._block_bits
    monkeypatch.setattr(baselines, "_block_bits", lambda block: counted.append(block) or count(block))
    found = sequences(6)
    with baselines.Baselines() as begun:
        for sequence in found[:-3]:
            begun.begin(sequence)
        begun.begin_stream(found)
        sizes = begun.measure(found[1:])
    assert sizes == baselines.measure(found[1:])
    assert sorted(counted[: len(set(found))]) == sorted(map(pack, set(found)))


def test_what_nobody_asked_for_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    """After an error, and it can still be asked for again."""
    started: list[object] = []
    monkeypatch.setattr(baselines, "_block_bits", lambda block: started.append(block) or time.sleep(0.02))
    slow = {str(i): lambda data, i=i: started.append(i) or time.sleep(0.02) or data for i in range(64)}
    monkeypatch.setattr(baselines, "codecs", lambda: slow)
    with pytest.raises(KeyboardInterrupt), baselines.Baselines() as begun:
        for i in range(256):
            begun.begin([i])
        begun.begin_stream([[1, 2, 3]])
        raise KeyboardInterrupt
    assert len({x for x in started if isinstance(x, bytes)}) < 256
    assert len(started) < 256
    assert baselines.solid_bits("0", [[1, 2, 3]]) == 8 * 3


def test_a_stream_that_several_ask_for_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    slow = {name: lambda data, name=name: made.append(name) or time.sleep(0.05) or data for name in ("a", "b")}
    monkeypatch.setattr(baselines, "codecs", lambda: slow)
    data = b"that no other test packs"
    with ThreadPoolExecutor(4) as threads:
        assert set(threads.map(baselines.best_stream_bits, [data] * 4)) == {8 * len(data)}
    assert sorted(made) == ["a", "b"]


def test_zstd_and_brotli_can_be_read_back() -> None:
    zstandard = pytest.importorskip("zstandard")
    brotli = pytest.importorskip("brotli")
    data = bytes(range(256)) * 8
    codecs = baselines.codecs()
    assert zstandard.ZstdDecompressor().decompress(codecs["zstd"](data)) == data
    assert brotli.decompress(codecs["brotli"](data)) == data
    assert tuple(codecs) == baselines.CODEC_NAMES


def test_a_codec_that_is_not_installed_is_left_out_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(baselines.importlib.util, "find_spec", lambda name: None)
    assert set(baselines.measure([[1, 2]])) == {"gzip", "bz2", "xz"}


def test_noise_is_stored_and_nothing_costs_nothing() -> None:
    seed = 4
    print(f"seed {seed}")
    noise = list(random.Random(seed).randbytes(64))
    assert baselines.best_solid_bits([noise]) == 8 * 64
    assert baselines.best_solid_bits([]) == 0
    assert all(size == {"per_block": 0, "solid": 0} for size in baselines.measure([]).values())
