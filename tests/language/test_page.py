"""docs/language.md says what the code does: its examples, its code table and its bits are run."""

import re
from pathlib import Path

from kolmocli.language import functions
from kolmocli.language.coder import encode
from kolmocli.language.opcodes import LENGTHS, SYMBOLS, canonical_code
from kolmocli.language.program import FUNCTION_NAMES, parse

PAGE = (Path(__file__).parents[2] / "docs" / "language.md").read_text()
ROWS = [[c.strip() for c in line.strip("|").split("|")] for line in PAGE.splitlines() if line.startswith("|")]


def test_every_function_has_a_true_example():
    namespace = {n: getattr(functions, n) for n in FUNCTION_NAMES}
    shown = set()
    for row in ROWS:
        if len(row) == 4 and row[2].startswith("`"):
            shown.add(re.match(r"\w+", row[0].strip("`")).group())
            assert eval(row[2].strip("`"), namespace) == eval(row[3].strip("`")), row
    assert shown == set(FUNCTION_NAMES)
    assert len(shown) == 24


def test_the_code_table_is_the_code():
    words = [canonical_code(lengths) for lengths in LENGTHS]
    table = {row[0]: row[1:] for row in ROWS if row[0] in SYMBOLS}
    assert table == {s: [w[i] or "-" for w in words] for i, s in enumerate(SYMBOLS)}


def test_the_example_has_these_bits():
    text, bits = re.search(r"`(sequence_1 = .*?)` is `([01 ]+)`", PAGE).groups()
    assert encode(parse(text)) == bits.replace(" ", "")
