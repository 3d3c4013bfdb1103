"""Whether a program in free Python spells its sequence out."""

from __future__ import annotations

import pytest

from kolmocli.tasks.sequences.judge import spells_out


@pytest.mark.parametrize(
    ("program", "copied"),
    [
        ("output = [10, -2, 30]", True),
        ("a=[7,\n10,\n-2,30,\n8]\noutput=a[1:4]", True),
        ("output = [10, -2, 31]", False),
        ("output = list(range(10, 31, 10))", False),
        ("", False),
    ],
)
def test_a_program_that_spells_its_sequence_out(program: str, copied: bool) -> None:
    assert spells_out(program, (10, -2, 30)) == copied


def test_text_may_be_spelled_out_as_text() -> None:
    target = tuple(b"the cat\nsat")
    assert spells_out("output = list(b'the cat\\nsat')", target)
    assert spells_out("output = [ord(c) for c in 'the cat\\nsat']", target)
    assert not spells_out("output = [ord(c) for c in 'the dog\\nsat']", target)
