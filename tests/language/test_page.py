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
    """The words are made from the lengths of the page by its rule."""
    block = re.search(r"^symbol .*?\n(.*?)^```", PAGE, re.M | re.S)[1]
    rows = [re.split(r" {2,}|[ /](?=[-\d])", line) for line in block.splitlines()]
    table = {row[0]: [int(length.replace("-", "0")) for length in row[1:]] for row in rows}
    assert tuple(table) == SYMBOLS
    for context, lengths in enumerate(zip(*table.values(), strict=True)):
        assert lengths == LENGTHS[context]
        words, word = [""] * len(lengths), ""
        for length, place in sorted((length, place) for place, length in enumerate(lengths) if length):
            after = int(word, 2) + 1 if word else 0
            words[place] = word = f"{after:0{len(word)}b}".ljust(length, "0")
        assert words == canonical_code(LENGTHS[context])


def test_the_example_has_these_bits():
    text, bits = re.search(r"`(sequence_1 = .*?)` is `([01 ]+)`", PAGE).groups()
    assert encode(parse(text)) == bits.replace(" ", "")
