"""Tables: text is taken apart into columns and comes back byte for byte, or is not taken at all."""

import math
import random

import pytest
from hypothesis import given, strategies as st

from kolmocli.archive.errors import ArchiveError
from kolmocli.archive.format.cells import (
    ALIGNED,
    BARE,
    FIXED,
    LISTED,
    MIXED,
    PADDED,
    PLAIN,
    SHORT,
    TIME,
    TRIMMED,
    WORD,
    Column,
)
from kolmocli.archive.format.container import PROGRAMS, Section, digest, read_varint, varint, write_member
from kolmocli.archive.format.rangecoder import Encoder
from kolmocli.archive.format.tables import Template, read_template, view_of_table
from kolmocli.archive.opener import decompress
from kolmocli.archive.packer import compress
from kolmocli.archive.search.tables import find_table

from . import samples


def kinds(text):
    found = find_table(text)
    return None if found is None else [c.kind | c.flags for c in found[0].template.columns]


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        (b"t,v,s\n1,2.50,ok\n2,2.25,off\n3,0.05,ok\n", [PLAIN, FIXED, WORD]),
        (b'{"a": 1, "b": -0.5}\n{"a": 2, "b": 1.25}\n{"a": 30, "b": 2.0}\n', [PLAIN, SHORT]),
        (b"08:05 x\n08:06 x\n08:07 x\n", [TIME]),
        (b"a05.b\na06.b\na17.b\n", [PADDED]),
        (b"a\tb\n" + b"5\tx\n6\ty\n" * 4, [PLAIN, LISTED]),
        (b'1,"a, b"\r\n2,"c, ""d"""\r\n3,""\r\n', [PLAIN, WORD]),
        (b"1,2.5\n2,\n3,NA\n4,3.5\n5,4.0\n6,4.5\n7,5.5\n8,6.5\n", [PLAIN, FIXED | MIXED]),
        (b"   1  2.50\n  12  3.25\n 123 -4.00\n", [PLAIN | ALIGNED, FIXED | ALIGNED]),
        (b".5,1\n-.25,2\n1.5,3\n", [SHORT | BARE, PLAIN]),
        (b"30.41\n29\n-147.2\n", [TRIMMED]),
        (b"2024-02-28T23:59:30Z,1\n2024-02-29T00:00:00Z,2\n2024-03-01T00:00:30Z,4\n", [TIME, PLAIN]),
        (b"12/31/1999 x\n01/01/2000 x\n01/02/2000 x\n", [TIME]),
        (b"31.12.1999;1\n01.01.2000;2\n02.01.2000;4\n", [TIME, PLAIN]),
        (b'{"a": "x y", "b": 1}\n{"a": "z", "b": null}\n{"a": "q", "b": 3}\n', [WORD, PLAIN | MIXED]),
        (b"1, 1, 2, 3, 5, 8\n", [PLAIN]),
        (b"1 2\n3 4\n5 6", [PLAIN, PLAIN]),
        (b"1,2\n3,-0.00\n4,1.50\n5,2\n", [PLAIN, WORD]),
        (b"no numbers at all\nhere either\n\n", None),
        (b"", None),
    ],
)
def test_columns(text, columns):
    assert kinds(text) == columns


@pytest.mark.parametrize("number", [b"007", b"-0", b"+1", b"1e5", b"-0.0", b"1.", b"9" * 40, b"-", b"00.5"])
def test_odd_numbers_come_back(number):
    for text in (b"5\n6\n" + number + b"\n7\n", b"a,5\nb," + number + b"\nc,6\n", (number + b", ") * 5):
        assert decompress(compress(text)) == text
        found = find_table(text)
        assert found is None or found[0].join(found[1], found[2], len(text)) == text


@pytest.mark.parametrize("odd", [b"NA", b"0.25"])
def test_decimals_of_many_sizes_come_back(odd):
    """As one column's items they do not fit 64 bits."""
    numbers = [b"0.12345678901234", b"123456.78901234", b"98765432.1", odd] * 5
    text = b"".join(b"%d,%b\n" % (i * i, number) for i, number in enumerate(numbers))
    assert decompress(compress(text)) == text
    assert find_table(text) is not None


cells = st.one_of(
    st.floats().map(repr),
    st.integers(-(10**19), 10**19).map(str),
    st.decimals(-1000, 1000, places=2).map(str),
    st.from_regex(r"[a-z]{0,3}", fullmatch=True),
    st.from_regex(r"[-+]?[0-9]{1,3}(\.[0-9]{0,2})?", fullmatch=True),
)


@given(
    st.lists(st.lists(cells, min_size=2, max_size=2), min_size=3, max_size=12), st.sampled_from([",", ", ", "-", ""])
)
def test_any_rows_come_back_or_are_no_table(rows, separator):
    text = "".join(separator.join(row) + "\n" for row in rows).encode()
    found = find_table(text)
    if found is not None:
        view, items, rest = found
        assert view.join(items, rest, len(text)) == text


def test_columns_have_the_words_that_they_need():
    text = samples.readings(200)
    view, _, _ = find_table(text)
    narrowed = view.narrowed([(0, [1 << 40]), (200, [-128, 127])])
    assert [c.word for c in narrowed.template.numbers()] == ["q", "b", "b"]


def hostile(template, stream, size=100):
    payload = bytes([9]) + template.header() + varint(template.rows) + stream
    return write_member(size, (Section(PROGRAMS, payload),), digest(size, bytes([PROGRAMS]), bytes(size)))


@pytest.mark.parametrize(
    "template",
    [
        Template(1 << 40, (Column(PLAIN),), (b"x" * 1000, b"")),
        Template(1 << 40, (), (b"",)),
        Template(90, (Column(PADDED, 255),), (b"", b"")),
        Template(90, (Column(WORD),), (b"", b"")),
        Template(1, (Column(PLAIN),) * 1025, (b"",) * 1026),
        Template(9, (Column(TIME, pattern="mm"),), (b"", b"")),
        Template(9, (Column(TIME, pattern="Y" * 65),), (b"", b"")),
        Template(9, (Column(LISTED, 3),), (b"", b"")),
        Template(9, (Column(PLAIN, flags=MIXED, numbers=10),), (b"", b"")),
        Template(9, (Column(LISTED, 3, flags=BARE),), (b"", b"")),
    ],
    ids=[
        "long rows",
        "no columns",
        "wide cells",
        "no words",
        "many columns",
        "a month alone",
        "long pattern",
        "no list",
        "more numbers than rows",
        "a flag that means nothing",
    ],
)
def test_hostile_tables(template):
    with pytest.raises(ArchiveError):
        decompress(hostile(template, Encoder().finish()))


def test_a_template_comes_back():
    columns = (
        Column(PLAIN),
        Column(WORD),
        Column(FIXED, 3, "h", BARE | ALIGNED, 9),
        Column(TRIMMED, 2, "i", MIXED, numbers=5),
        Column(TIME, pattern="YYYY-mm-dd HH:MM:SS.fff"),
    )
    template = Template(7, columns, (b"a", b"", b"b\n", b"c", b"", b""), b"head", 2, b"tail")
    header = template.header()
    position = 0

    def take(length):
        nonlocal position
        position += length
        return header[position - length : position]

    def number():
        value, position_ = read_varint(header, position)
        take(position_ - position)
        return value

    assert read_template(take, number) == template
    assert view_of_table(template).ends == (7, 14, 19, 26)


@pytest.mark.parametrize(
    "cell",
    [
        b"2023-02-29",
        b"2024-13-01",
        b"0000-01-01",
        b"0001-01-00",
        b"2024-01-00",
        b"9999-12-31",
        b"9999-12-32",
        b"1969-12-31",
        b"24:00:00",
    ],
)
def test_odd_moments_come_back(cell):
    text = b"t,v\n" + b"".join(b"2024-01-%02d,%d\n" % (i + 1, i) for i in range(12)) + cell + b",13\n"
    assert decompress(compress(text, level=2)) == text


@pytest.mark.parametrize("cells", [[b"99:58", b"99:59", b"99:60"], [b"9999-12-31T%d:00" % h for h in (22, 23, 24)]])
def test_moments_past_what_their_pattern_can_write(cells):
    text = b"".join(cell + b",x\n" for cell in cells)
    assert decompress(compress(text, level=2)) == text


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("last", [True, False])
def test_line_ends_come_back(end, last):
    text = end.join(b"%d,%.2f,%s" % (i, i / 4, [b"on", b"off"][i % 2]) for i in range(40)) + (end if last else b"")
    assert kinds(text) == [PLAIN, FIXED, LISTED]
    assert decompress(compress(text)) == text


def test_each_column_goes_the_way_of_its_type():
    """A table of noise takes about what the noise has, and not what a codec makes of its digits."""
    rng = random.Random(9)
    rows = (
        f"2024-05-{1 + i // 96:02} {i // 4 % 24:02}:{i % 4 * 15:02}:00\t{rng.gauss(20, 1):.1f}\t" for i in range(2000)
    )
    text = "".join(row + rng.choice(["ok", "ok", "off", ""]) + "\n" for row in rows).encode()
    bits = 2000 * (math.log2(10 * 4.13) + 1.5)
    assert len(compress(text)) < 1.06 * bits / 8 + 150
