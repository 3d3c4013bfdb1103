"""What `--explain` prints: programs, and in words where their items come from."""

import pytest

from kolmocli.archive.explanation import explain
from kolmocli.archive.options import Options
from kolmocli.archive.packer import compress_with_reports

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
