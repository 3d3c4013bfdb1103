"""What `--explain` prints: programs, and in words where their items come from."""

import itertools

import pytest

from kolmocli.archive.explanation import explain
from kolmocli.archive.format.container import PROGRAMS, Section, digest, varint, write_member
from kolmocli.archive.format.programs import ProgramCoder
from kolmocli.archive.format.rangecoder import Encoder
from kolmocli.archive.format.stored import stored
from kolmocli.archive.opener import decompress
from kolmocli.archive.options import Options
from kolmocli.archive.packer import compress_with_reports
from kolmocli.language.program import parse

from . import samples

WAVE = bytes([*range(0, 200, 4), *range(200, 0, -4)]) * 3


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (WAVE, "again and again for "),
        (WAVE[:100] + samples.noise(30) + WAVE[:80], "# items 0..79, again"),
        (b"one line of plain text, " + WAVE, "from the residual: 'one"),
        (samples.lines(60), "range_func_interval(1000, 1420, 7)"),
        (samples.noise(40), "# no program: the whole member is in the residual"),
        (b"", "# nothing"),
    ],
)
def test_words_at_the_programs(data, wanted):
    archive, _ = compress_with_reports(data, Options(level=4, view="lines" if data[:1].isdigit() else "u8"))
    shown = str(explain(archive))
    assert wanted in shown
    assert f"{len(data)} bytes in {len(archive)}" in shown.splitlines()[0]


def test_cells_that_are_words_are_not_counted_as_rows():
    data = b"".join(b"%d,%b\n" % (i, b"%d" % (3 * i) if i % 5 else b"NA") for i in range(60))
    shown = str(explain(compress_with_reports(data, Options(level=6))[0]))
    assert "column 2 has 48 numbers" in shown
    assert "column 1, rows 0..59" in shown
    assert "column 2, numbers 0..47" in shown


def test_items_beyond_bytes_are_no_text():
    """A list from which a program makes bytes may hold any integers."""
    items = [80, -20, 7, 100, -90, -50, 33, 10, 90, -150]
    program = parse(f"sequence_1 = set_list({items})\nsequence_2 = scan_add(sequence_1)")
    coder, data = Encoder(), bytes(itertools.accumulate(items))
    ProgramCoder().code(coder, stored(program))
    sections = (Section(PROGRAMS, bytes([0]) + varint(len(data)) + coder.finish()),)
    archive = write_member(len(data), sections, digest(len(data), bytes([PROGRAMS]), data))
    assert decompress(archive) == data
    assert "# 10 items" in str(explain(archive))
