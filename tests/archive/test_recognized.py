"""Headers that say what the numbers are, and headers that lie."""

import io
import random
import struct
import wave
import zipfile

import numpy as np
import pytest

from kolmocli.archive.codecs.codecs import STRONG
from kolmocli.archive.codecs.layouts import likely_layouts
from kolmocli.archive.codecs.packing import pack
from kolmocli.archive.codecs.recognized import recognized_layouts
from kolmocli.archive.opener import decompress
from kolmocli.archive.options import Options
from kolmocli.archive.packer import compress_with_reports

RNG = np.random.default_rng(0)
WALK = np.cumsum(RNG.integers(-9, 10, 600))


def npy(array, **how):
    file = io.BytesIO()
    np.save(file, array, **how)
    return file.getvalue()


def npz(**arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def wav(frames, width, channels):
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(channels)
        sound.setsampwidth(width)
        sound.setframerate(8000)
        sound.writeframes(frames)
    return file.getvalue()


def shapes(data):
    """Of each layout, its stretches: bytes without a meaning by their number, records by theirs and the types."""
    layouts = list(recognized_layouts(data))
    assert all(sum(s.size for s in layout) == len(data) for layout in layouts)
    return [[(s.records, " ".join(map(str, s.types))) if s.typed else s.records for s in layout] for layout in layouts]


def test_arrays():
    assert shapes(npy(WALK.astype("<i4"))) == [[128, (600, "i32")]]
    assert shapes(npy(WALK.astype(">f8"))) == [[128, (600, "f64be")]]
    assert shapes(npy(WALK.reshape(200, 3).astype("i2"))) == [[128, (600, "i16")], [128, (200, "i16 i16 i16")]]
    assert shapes(npy(np.asfortranarray(WALK.reshape(3, 200).astype("u2"))))[1] == [128, (200, "u16 u16 u16")]
    assert shapes(npy(WALK.astype("c8"))) == [[128, (600, "f32 f32")], [128, (1200, "f32")]]
    assert shapes(npy(WALK > 0)) == [[128, (600, "u8")]]
    assert shapes(npy(WALK.astype("M8[s]"))) == [[128, (600, "i64")]]
    records = np.zeros(9, [("a", ">i4"), ("b", "<f4", (2,)), ("c", "u1")])
    assert shapes(npy(records)) == [[192, (9, "i32be f32 f32 u8")]]
    assert (
        shapes(npy(np.zeros(5, np.dtype([("a", "i2"), ("b", "i8")], align=True))))[0][1][1]
        == "i16" + 6 * " u8" + " i64"
    )
    assert shapes(npy(np.array(["ab", "c"]))) == []
    assert shapes(npy(np.array([]))) == []
    assert shapes(npy(np.array(5))) == [[128, (1, "i64")]]


def test_stored_arrays_in_a_zip():
    one, other = WALK.astype("f4"), WALK[:7]
    parts = shapes(npz(one=one, other=other))[0]
    assert [part for part in parts if isinstance(part, tuple)] == [(600, "f32"), (7, "i64")]
    deflated = io.BytesIO()
    np.savez_compressed(deflated, one=one)
    assert shapes(deflated.getvalue()) == []
    plain = io.BytesIO()
    with zipfile.ZipFile(plain, "w") as archive:
        archive.writestr("a.txt", "text")
    assert shapes(plain.getvalue()) == []


def test_sounds():
    assert shapes(wav(WALK.astype("<i2").tobytes(), 2, 1)) == [[44, (600, "i16")]]
    assert shapes(wav(WALK.astype("<i2").tobytes(), 2, 2)) == [[44, (300, "i16 i16")]]
    assert shapes(wav(bytes(60), 3, 2)) == [[44, (10, "u8 i16 u8 i16")]]
    assert shapes(wav(bytes(60), 4, 1)) == [[44, (15, "i32")]]
    assert shapes(wav(bytes(61), 1, 1)) == [[44, (61, "u8")]]
    floats = struct.pack("<4sI4s4sIHHIIHH", b"RIFF", 0, b"WAVE", b"fmt ", 16, 3, 1, 8000, 32000, 4, 32)
    listed = b"LIST" + struct.pack("<I", 3) + b"abc\0"
    assert shapes(floats + listed + b"data" + struct.pack("<I", 8) + bytes(8) + b"tail") == [[56, (2, "f32"), 4]]
    unknown = floats[:20] + struct.pack("<H", 85) + floats[22:]
    assert shapes(unknown + b"data" + struct.pack("<I", 8) + bytes(8)) == []


def parquet(**how):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet as files

    file = io.BytesIO()
    columns = {"t": 60 * np.arange(600) + WALK, "x": WALK / 8, "k": WALK.astype("i4"), "s": ["word"] * 600}
    files.write_table(pyarrow.table(columns), file, **how)
    return file.getvalue()


@pytest.mark.parquet
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_parquet_without_a_codec(version):
    plain = parquet(compression="none", use_dictionary=False, data_page_version=version)
    assert [s for s in shapes(plain)[0] if isinstance(s, tuple)] == [(600, "i64"), (600, "f64"), (600, "i32")]
    start = plain.index((60 * np.arange(600) + WALK).tobytes())
    assert shapes(plain)[0][0] == start
    listed = parquet(compression="none", data_page_version=version)
    assert [s[1] for s in shapes(listed)[0] if isinstance(s, tuple)] == ["i64", "f64", "i32"]
    assert shapes(parquet(compression="zstd")) == []
    assert shapes(b"PAR1" + bytes(20) + b"PAR1") == []
    found = pack(plain, 1, layouts=likely_layouts(plain))[1]
    assert len(pack(plain, 1, layouts=recognized_layouts(plain))[1]) < 0.9 * len(found)
    rng = random.Random(0)
    for _ in range(300):
        damaged = bytearray(plain)
        damaged[rng.choice((rng.randrange(len(plain)), len(plain) - rng.randrange(1, 400)))] = rng.randrange(256)
        shapes(bytes(damaged))


@pytest.mark.parametrize(
    "data",
    [
        npy((np.cumsum(RNG.integers(-3, 4, (120, 100)), axis=0)).astype("i4")),
        wav((3000 * np.sin(np.arange(4000) / 9) + RNG.normal(0, 40, 4000)).astype("<i2").tobytes(), 2, 1),
        npz(a=WALK / 8, b=np.cumsum(RNG.normal(0, 1, 600)).astype("f4")),
    ],
    ids=["wide matrix", "sound", "two arrays"],
)
def test_it_is_smaller_than_what_samples_find(data):
    found = pack(data, STRONG, layouts=likely_layouts(data))[1]
    told = pack(data, STRONG, layouts=recognized_layouts(data))[1]
    assert len(told) < 0.97 * len(found)


@pytest.mark.parametrize("data", [npy(WALK.astype("i4").reshape(60, 10)), npz(a=WALK, b=WALK), wav(bytes(300), 3, 1)])
def test_no_header_is_believed(data):
    """Damaged ones are layouts that fit, or none; and what comes back is the file."""
    rng = random.Random(0)
    for _ in range(300):
        damaged = bytearray(data)
        for _ in range(rng.randrange(1, 4)):
            damaged[rng.randrange(min(len(data), 130))] = (
                rng.choice(b"\0\1\xff(){}'[],9") if rng.random() < 0.5 else rng.randrange(256)
            )
        shapes(bytes(damaged))
        shapes(bytes(damaged[: rng.randrange(len(damaged))]))
    assert decompress(compress_with_reports(bytes(damaged), Options(1))[0]) == bytes(damaged)


def test_large_files_are_numbers_too(monkeypatch):
    from kolmocli.archive import packer

    monkeypatch.setattr(packer, "PART_BYTES", 1024)
    data = npy(RNG.normal(0, 1, 600).astype(">f4"))
    _, reports = compress_with_reports(data, Options(3))
    assert [(r.size, r.codec) for r in reports] == [(len(data), "split")]
