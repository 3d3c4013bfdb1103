"""Tables: text is taken apart into columns and comes back byte for byte, or is not taken at all."""

import pytest
from hypothesis import given, strategies as st

from kolmocli.archive.errors import ArchiveError
from kolmocli.archive.format.container import PROGRAMS, Section, digest, varint, write_member
from kolmocli.archive.format.rangecoder import Encoder
from kolmocli.archive.format.tables import FIXED, PADDED, PLAIN, SHORT, WORD, Column, TableView, Template, find_table
from kolmocli.archive.opener import decompress
from kolmocli.archive.packer import compress

from . import samples


def kinds(text):
    found = find_table(text)
    return None if found is None else [c.kind for c in found[0].template.columns]


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        (b"t,v,s\n1,2.50,ok\n2,2.25,off\n3,0.05,ok\n", [PLAIN, FIXED, WORD]),
        (b'{"a": 1, "b": -0.5}\n{"a": 2, "b": 1.25}\n{"a": 30, "b": 2.0}\n', [PLAIN, SHORT]),
        (b"08:05 x\n08:06 x\n08:07 x\n", [PADDED]),
        (b"1, 1, 2, 3, 5, 8\n", [PLAIN]),
        (b"1 2\n3 4\n5 6", [PLAIN, PLAIN]),
        (b"1,2\n3,-0.00\n4,1.50\n5,2\n", [PLAIN, WORD]),
        (b"no numbers at all\nhere either\n\n", None),
        (b"1,2\n3;4\n5,6\n", None),
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


cells = st.one_of(
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
    assert [c.word for c in narrowed.template.numbers()] == ["q", "b"]


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
        Template(1, (Column(PLAIN),) * 65, (b"",) * 66),
    ],
    ids=["long rows", "no columns", "wide cells", "no words", "many columns"],
)
def test_hostile_tables(template):
    with pytest.raises(ArchiveError):
        decompress(hostile(template, Encoder().finish()))


def test_a_template_comes_back():
    columns = (Column(PLAIN), Column(WORD), Column(FIXED, 3, "h"))
    template = Template(7, columns, (b"a", b"", b"b\n", b"c"), b"head", 2, b"tail")
    assert TableView(9, "table", "q", template).header == template.header()
