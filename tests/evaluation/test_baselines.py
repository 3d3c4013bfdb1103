from __future__ import annotations

import bz2
import gzip
import lzma
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kolmocli.evaluation import baselines


def unpack(data: bytes, width: int, signed: bool) -> list[int]:
    return [int.from_bytes(data[i : i + width], "little", signed=signed) for i in range(0, len(data), width)]


@given(st.lists(st.integers(-(1 << 70), 1 << 70)))
def test_packing_can_be_undone_and_is_as_narrow_as_it_can_be(sequence: list[int]) -> None:
    width, signed = baselines.item_width(sequence)
    packed = baselines.pack(sequence)
    assert unpack(packed, width, signed) == sequence
    assert 8 * len(packed) == baselines.raw_bits([sequence])
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
    assert baselines.pack(sequence) == expected


def test_one_wide_sequence_does_not_inflate_the_others() -> None:
    assert baselines.raw_bits([[1, 2, 3], [1000]]) == 8 * 3 + 16


def test_sizes_are_those_of_real_files() -> None:
    seed = 3
    print(f"seed {seed}")
    rng = random.Random(seed)
    sequences = [[rng.randrange(4) for _ in range(64)] for _ in range(20)]
    solid = b"".join(map(bytes, sequences))
    sizes = baselines.measure(sequences)
    assert sizes["gzip"]["solid"] == 8 * len(gzip.compress(solid, 9))
    assert sizes["bz2"] == {
        "solid": 8 * len(bz2.compress(solid, 9)),
        "per_block": 8 * sum(len(bz2.compress(bytes(s), 9)) for s in sequences),
    }
    assert sizes["xz"]["solid"] == 8 * len(lzma.compress(solid, preset=9 | lzma.PRESET_EXTREME))
    assert all(size["solid"] < size["per_block"] for size in sizes.values())
    assert baselines.best_solid_bits(sequences) == min(size["solid"] for size in sizes.values())
    assert baselines.solid_bits("xz", sequences) == sizes["xz"]["solid"]


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
