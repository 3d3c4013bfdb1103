"""`kolmo solve`: what it prints, and what it refuses in one line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kolmocli.cli.app import app
from kolmocli.cli.solve import read_integers
from kolmocli.errors import UsageError
from kolmocli.language.coder import coded_bits, literal_bits
from kolmocli.language.guide import NetworkGuide
from kolmocli.language.interpreter import evaluate
from kolmocli.language.program import parse
from tests.cli.conftest import Trained, refused
from tests.conftest import KOLMO, Run, command_environment

KEYS = {"program", "bits", "literal_bits", "raw_bits", "codecs", "checked", "seconds", "from"}


def test_a_sequence_as_json(kolmo: Run) -> None:
    done = kolmo("solve", 3, 4, 5, 3, 4, 5, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found.pop("schema_version") == 1
    assert set(found) == KEYS
    program = parse(found["program"])
    assert evaluate(program) == [3, 4, 5, 3, 4, 5]
    assert (found["bits"], found["literal_bits"]) == (coded_bits(program), literal_bits([3, 4, 5, 3, 4, 5]))
    assert (found["checked"], found["from"], found["raw_bits"]) == (True, "search", 48)
    assert found["codecs"]["gzip"] > 48


def test_a_sequence_as_a_table(kolmo: Run) -> None:
    done = kolmo("solve", "[7,7,7,7,", "7,7,7,7]")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("sequence_1 = repeat_num(8, 7)\n")
    for word in ("program", "literal", "gzip", "xz", "raw", "found by search", "run: it makes the sequence"):
        assert word in done.stdout


def test_negative_integers_need_no_mark(kolmo: Run) -> None:
    done = kolmo("solve", -3, -5, -7, -9, "--json")
    assert evaluate(parse(json.loads(done.stdout)["program"])) == [-3, -5, -7, -9]


def test_a_file_in_order(kolmo: Run, tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text(
        '{"sequence": [1, 2, 3, 4, 5, 6]}\nnot\n{"sequence": [9, 4]}\n{"sequence": [1000000000000000000]}\n'
    )
    done = kolmo("solve", "--data", "in.jsonl", "--seconds", 0.1, "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert [evaluate(parse(result["program"])) for result in report["results"]] == [[1, 2, 3, 4, 5, 6], [9, 4]]
    assert [result["from"] for result in report["results"]] == ["search", "literal"]
    assert report["total"]["bits"] == sum(result["bits"] for result in report["results"])
    assert report["total"]["from"] == {"literal": 1, "search": 1, "policy": 0, "both": 0}
    assert "in.jsonl:2: skipped" in done.stderr
    assert "in.jsonl:4: skipped: solve takes integers of up to 17 digits" in done.stderr


def test_a_file_from_standard_input_as_text() -> None:
    done = subprocess.run(
        [KOLMO, "solve", "--data", "-", "--seconds", "0.1"],
        env=command_environment(), input='{"sequence": [4, 4, 4, 4]}\n', capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("1: 4 4 4 4\n")
    assert "1 sequences (1 from search)" in done.stdout


def test_the_guide_joins_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, log_probs = [], NetworkGuide.log_probs
    monkeypatch.setattr(NetworkGuide, "log_probs", lambda guide, view: asked.append(view) or log_probs(guide, view))
    done = CliRunner().invoke(
        app,
        ["solve", *["1", "11", "2", "12", "3", "13", "4", "14"], "--model", "guide", "--json"],
        catch_exceptions=False,
    )
    assert done.exit_code == 0 and asked
    found = json.loads(done.stdout)
    assert evaluate(parse(found["program"])) == [1, 11, 2, 12, 3, 13, 4, 14]
    assert found["from"] == "search"


def test_programs_of_a_policy_join(kolmo: Run, trained: Trained) -> None:
    done = kolmo("solve", 5, 5, 5, 5, "--model", trained.folder, "--samples", 2, "--device", "cpu", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["checked"]
    assert evaluate(parse(found["program"])) == [5, 5, 5, 5]


def test_no_torch_without_a_model() -> None:
    code = (
        "import sys\nfrom kolmocli.cli.main import main\n"
        "assert main(['solve', '1', '2', '3', '--json']) == 0\nassert 'torch' not in sys.modules\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], env=command_environment(), capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "solve takes a sequence of integers, or --data with a file of them"),
        ([1, "--data", "in"], "solve takes a sequence of integers, or --data with a file of them"),
        ([3, "x"], "solve: x: item 2 is no integer"),
        ([3, 2.5], "solve: 2.5: item 2 is no integer"),
        (["--secnds", 3], "solve: --secnds: no such flag"),
        (["[]"], "solve takes at least one integer; the sequence is empty"),
        ([10**18], "solve takes integers of up to 17 digits and a sign"),
        (["9" * 5000], "solve: item 1 has 5000 digits"),
        ([1, "--model", "guide", "--samples", 3], "--samples means nothing"),
        ([1, "--seconds", "nan"], "--seconds"),
        ([1, "--seconds", -1], "Invalid value for '--seconds'"),
        ([1, "--samples", 2], "--samples means nothing without --model"),
        ([1, "--strict"], "--strict means nothing without --data"),
        (["--data", "none"], "none: cannot be read: No such file or directory"),
        (["--data", "empty"], "empty: no sequence in it"),
        ([1, "--model", "no/such-model"], "model 'no/such-model': "),
    ],
)
def test_what_cannot_be_solved_is_refused_in_one_line(
    kolmo: Run, tmp_path: Path, arguments: list[object], said: str
) -> None:
    (tmp_path / "empty").write_text("")
    assert said in refused(kolmo("solve", *arguments), 2)


@pytest.mark.parametrize(
    ("words", "items"),
    [(["3", "4"], (3, 4)), (["3,4", "5"], (3, 4, 5)), (["[3,", "-4]"], (3, -4)), (["+1"], (1,)), (["007"], (7,))],
)
def test_integers_in_every_usual_spelling(words: list[str], items: tuple[int, ...]) -> None:
    assert read_integers(words) == items


def test_text_is_no_sequence() -> None:
    with pytest.raises(UsageError, match="item 1 is no integer"):
        read_integers(["hello"])
