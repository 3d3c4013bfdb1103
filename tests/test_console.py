"""What reaches a terminal: words of strangers with their control characters written out."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from kolmocli.console import printable, warn


@given(st.text())
def test_printable_is_one_line_without_control_characters(text: str) -> None:
    assert printable(text).isprintable()
    assert printable(printable(text)) == printable(text)


@given(st.text(st.characters(exclude_categories=("C", "Z"))))
def test_what_can_be_printed_stays_as_it_is(text: str) -> None:
    assert printable(text) == text


def test_what_a_terminal_obeys_is_written_out() -> None:
    assert printable("a\x1b[2Jb\n\x9b1m\u202e\ud800\t.") == r"a\x1b[2Jb \x9b1m\u202e\ud800 ."
    assert printable("a\nb\r\n", "\n") == "a\nb\\r\n"


def test_a_warning_is_one_line_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    warn("a [bold]\x1b]0;title\x07\nb")
    assert capsys.readouterr() == ("", "a [bold]\\x1b]0;title\\x07 b\n")
