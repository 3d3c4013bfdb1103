"""`kolmo data label`: references by search, in the order of the file, and gone on with after a stop."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kolmocli.errors import KolmoError, UsageError
from kolmocli.language.interpreter import evaluate
from kolmocli.language.program import parse
from kolmocli.language.search.solver import solve
from kolmocli.tasks.files.labelling import Labelled, Labelling, label

LONG = "sequence_1 = set_list([2, 2, 2, 2, 2, 2, 2, 2])"
SOURCE: list[dict[str, Any]] = [
    {"sequence": [1, 2, 3, 4, 5, 6, 7], "bucket": "ramps/1"},
    {"sequence": [9, 4]},
    {"sequence": [2] * 8, "program": LONG, "modality": "flat"},
]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in SOURCE))
    return path


def labelled(source: Path, force: bool = False, **wanted: Any) -> Labelled:
    target = source.with_name("out.jsonl")
    return label(str(source), str(target), Labelling(0.2, **wanted), force=force, warn=lambda line: None)


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_programs_are_found_checked_and_in_order(source: Path) -> None:
    done = labelled(source)
    found = lines(source.with_name("out.jsonl"))
    assert [line["sequence"] for line in found] == [line["sequence"] for line in SOURCE]
    assert evaluate(parse(found[0]["program"])) == [1, 2, 3, 4, 5, 6, 7]
    assert found[0]["bucket"] == "ramps/1"
    assert "program" not in found[1]  # nothing shorter than the literal: nothing to imitate
    assert found[2] == SOURCE[2]
    assert (done.sequences, done.found, done.kept, done.literals, done.resumed) == (3, 1, 1, 1, 0)
    assert done.bits < done.literal_bits
    assert not source.with_name("out.jsonl.partial").exists()


def test_programs_of_the_file_are_shortened_on_demand(source: Path) -> None:
    done = labelled(source, shorten=True)
    assert (done.found, done.shortened, done.kept) == (1, 1, 0)
    assert lines(source.with_name("out.jsonl"))[2]["program"] == "sequence_1 = repeat_num(8, 2)"


def test_a_stopped_run_goes_on_where_it_was(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    labelled(source)
    target = source.with_name("out.jsonl")
    whole = target.read_bytes()
    target.unlink()
    first, rest = whole.split(b"\n", 1)
    partial = source.with_name("out.jsonl.partial")
    partial.write_bytes(first + b"\n" + rest[:5])  # the second line was being written
    with pytest.raises(KolmoError, match="--resume goes on with it"):
        labelled(source)
    searched: list[tuple[int, ...]] = []

    def watched(sequence: tuple[int, ...], **how: Any) -> Any:
        searched.append(sequence)
        return solve(sequence, **how)

    monkeypatch.setattr("kolmocli.tasks.files.labelling.solve", watched)
    done = labelled(source, resume=True)
    assert target.read_bytes() == whole
    assert searched == [(9, 4)]
    assert (done.resumed, done.sequences) == (1, 3)


@pytest.mark.parametrize(
    ("earlier", "said"),
    [
        (b'{"sequence":[1]}\n', "another sequence than the file has there"),
        (b'{"sequence":[1,2,3,4,5,6,7],"program":"x"}\n', "begin again with --force"),
        (b'{"sequence":[1,2,3,4,5,6,7]}\n{"sequence":[9,4]}\n{"sequence":[2,2,2,2,2,2,2,2]}\n{"sequence":[1]}\n', "more lines"),
    ],
    ids=["another", "broken", "more"],
)  # fmt: skip
def test_what_is_of_another_file_is_refused(source: Path, earlier: bytes, said: str) -> None:
    source.with_name("out.jsonl.partial").write_bytes(earlier)
    with pytest.raises(UsageError, match=said):
        labelled(source, resume=True)
    assert labelled(source, force=True).sequences == 3


def test_what_the_language_cannot_write_is_left_out(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text('{"sequence": [1000000000000000000]}\n{"sequence": [3, 3, 3, 3, 3]}\n')
    said: list[str] = []
    done = label(str(source), str(tmp_path / "out.jsonl"), Labelling(0.1), force=False, warn=said.append)
    assert done.sequences == 1
    assert "integers of up to 17 digits" in said[0]
    with pytest.raises(UsageError, match="integers of up to 17 digits"):
        label(str(source), "-", Labelling(0.1, strict=True), force=False, warn=said.append)
