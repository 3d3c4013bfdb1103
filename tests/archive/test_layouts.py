"""Numbers in bytes: their type, order, header and records are found in the data alone."""

import random
import struct

import numpy as np
import pytest

from kolmocli.archive.codecs.layouts import Stretch, layout_of, likely_layouts
from kolmocli.archive.codecs.numbers import TYPES, pack_numbers
from kolmocli.archive.opener import decompress
from kolmocli.archive.options import Options
from kolmocli.archive.packer import compress, compress_with_reports

from . import samples

WALK = np.array(list(samples.walk(6_000)), np.int64)


@pytest.mark.parametrize("name", ["i16", "i16be", "i32", "i32be", "i64", "i64be", "f32", "f32be", "f64", "f64be"])
@pytest.mark.parametrize("header", [0, 45])
def test_types_are_found(name, header):
    type_ = TYPES[name]
    numbers = (WALK * 0.37 if name[0] == "f" else WALK).astype(type_.dtype).tobytes()
    data = random.Random(3).randbytes(header) + numbers + b"end"[: header % 2 + 1]
    archive, (report,) = compress_with_reports(data)
    assert decompress(archive) == data
    assert len(archive) <= len(pack_numbers(numbers, type_)) + header + 48, report


def test_records_are_found():
    records = b"".join(
        struct.pack(">IfhB", 10**6 + 5 * i, x * 0.1, x, i % 7) for i, x in enumerate(samples.walk(4_000))
    )
    layout = likely_layouts(records)[0]
    assert layout[-1].records == 4_000
    assert [t.width for t in layout[-1].types] == [4, 4, 2, 1]
    assert all(t.big for t in layout[-1].types[:3])
    archive = compress(records)
    assert decompress(archive) == records
    assert len(archive) < 0.75 * len(compress(records, level=0))


def test_a_compressible_header_is_kept_apart():
    header = b"\0\0\x12\x34" * 158
    numbers = (WALK * 0.37).astype("<f4").tobytes()
    assert len(compress(header + numbers)) < len(compress(numbers)) + 100


@pytest.mark.parametrize("data", [b"", b"x" * 63, b"only text, and numbers such as 12, 13, 14\n" * 90, bytes(500)])
def test_what_is_no_numbers(data):
    assert decompress(compress(data)) == data
    assert len(likely_layouts(data)) <= 1


def test_noise_stays_what_it_is():
    noise = samples.noise(20_000)
    assert len(compress(noise)) <= len(noise) + 16


def test_a_layout_covers_all_bytes():
    for size in range(40):
        layout = layout_of((TYPES["i16"], TYPES["f32"]), 5, size)
        assert sum(stretch.size for stretch in layout) == size
    assert layout_of((TYPES["i16"],), 0, 6) == (Stretch(3, (TYPES["i16"],)),)


def test_what_the_user_says_is_taken():
    rng = random.Random(4)
    data = b"abc" + struct.pack(">900h", *(rng.randrange(500) for _ in range(900)))
    archive, (report,) = compress_with_reports(data, Options(types=(TYPES["i16be"],), header=3))
    assert decompress(archive) == data
    assert report.codec == "split"
    assert len(archive) < 900 * 9 / 8 + 60
