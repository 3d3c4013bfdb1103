"""Results and complaints, whoever wrote the words in them."""

from __future__ import annotations

import json

import pytest
from rich.table import Column, Table
from rich.text import Text

from kolmocli.cli.output import complain, print_json, show

HOSTILE = "x\x1b[2J\x9b1m\u202e\ud800[/red]é"
SHOWN = r"x\x1b[2J\x9b1m\u202e\ud800[/red]é"


def test_tables_and_text_show_control_characters(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table.grid()
    table.add_row(HOSTILE)
    show(table, Text(HOSTILE), HOSTILE)
    assert [line.rstrip() for line in capsys.readouterr().out.splitlines()] == [SHOWN] * 3


def test_a_complaint_shows_control_characters(capsys: pytest.CaptureFixture[str]) -> None:
    complain(f"one\n {HOSTILE}")
    assert capsys.readouterr().err == f"kolmo: error: one {SHOWN}\n"


def test_json_says_the_same_in_escapes(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"said": HOSTILE})
    out = capsys.readouterr().out
    assert json.loads(out)["said"] == HOSTILE
    assert "é" in out
    assert out.replace("\n", "").isprintable()


def test_on_a_narrow_terminal_figures_stay_whole_and_words_fold(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    figures = Table("codec", Column("rate", no_wrap=True), "of all", "n", box=None)
    figures.add_row("kolmo_archive", "1,234,567.8 %", "(0.123–0.456)", "2,000,000")
    words = Table(Column(), Column(overflow="fold"), show_header=False, box=None)
    words.add_row("folder", "/home/somebody/" + "x" * 40)
    show(figures, words)
    head, row, *folded = capsys.readouterr().out.splitlines()
    assert head.split() == ["codec", "rate", "of", "all", "n"]
    assert row.split() == ["kolmo_archive", "1,234,567.8", "%", "(0.123–0.456)", "2,000,000"]
    assert "".join("".join(folded).split()) == "folder/home/somebody/" + "x" * 40
    assert max(map(len, folded)) <= 40
