"""Files of predictions: which layouts are read, what is named as bad, and what the command makes of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kolmocli.errors import UsageError
from kolmocli.evaluation.baselines import Baselines, _submitted, best_solid_bits, measure
from kolmocli.evaluation.foreign import Programs, counting, evaluate_predictions
from kolmocli.evaluation.predictions import read_predictions
from kolmocli.evaluation.report import Reporting
from kolmocli.evaluation.rescoring import Candidate

EMBEDDED = Programs("python", 0.5, "embedded")


def write(tmp_path: Path, *lines: object) -> str:
    path = tmp_path / "p.jsonl"
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return str(path)


def read(name: str, strict: bool = False) -> tuple[list[Candidate], list[str]]:
    warnings: list[str] = []
    return list(read_predictions(name, warnings.append, strict=strict)), warnings


PROMPT = "Make it short.\n### Input Sequence:\n[7, 7]\n### Expected Output:"
ANSWER = "output = [7] * 2\n###"


@pytest.mark.parametrize(
    "line",
    [
        {"prompt": PROMPT, "generation": ANSWER, "num_output_tokens": 9},
        json.dumps({"prompt": PROMPT, "generation": ANSWER}),
        {"task_id": 3, "sequence_input": [7, 7], "program": ANSWER, "program_output": [7, 7]},
        {"sequence": [7, 7], "generation": ANSWER},
        {"sequence": [7, 7], "program": ANSWER},
        {"sequence": [7, 7], "program": "set_list([7, 7])", "generation": ANSWER},
    ],
)
def test_every_layout(tmp_path: Path, line: object) -> None:
    found, warnings = read(write(tmp_path, line), strict=True)
    assert warnings == []
    assert [(c.task.target, c.program) for c in found] == [((7, 7), "output = [7] * 2")]


def test_bad_lines_are_named(tmp_path: Path) -> None:
    good = {"sequence": [7, 7], "generation": ANSWER}
    name = write(tmp_path, good, "{", {"sequence": [7]}, {"sequence": [7.5], "generation": "x"}, good)
    found, warnings = read(name)
    assert len(found) == 2
    assert [w.removeprefix(name) for w in warnings] == [
        ":2: skipped: broken JSON: Expecting property name enclosed in double quotes at character 2",
        ":3: skipped: no `generation` or `program` in it",
        ":4: skipped: `sequence` must be a list of integers; item 1 is 7.5",
        ": 3 bad line(s) skipped, 2 kept",
    ]
    with pytest.raises(UsageError, match=r"p\.jsonl:2: "):
        read(name, strict=True)


def test_a_sequence_that_is_too_long_is_named(tmp_path: Path) -> None:
    found, warnings = read(
        write(tmp_path, {"sequence": [1] * 70_000, "generation": "x"}, {"sequence": [1], "program": "x"})
    )
    assert len(found) == 1
    assert "1: skipped: 70,000 items; at most 65,536 are taken" in warnings[0]


def test_nothing_to_run(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no prediction in it"):
        read(write(tmp_path, {"sequence": [1, 2]}))
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        read(str(tmp_path / "none.jsonl"))


def test_buckets_and_samples(tmp_path: Path) -> None:
    lines = [
        {"task_id": 1, "sequence": [7, 7], "generation": "a", "bucket": "f/2"},
        {"sequence": [7, 7], "generation": "b", "modality": "text"},
        {"task_id": 1, "sequence": [7, 7], "generation": "c", "bucket": "f/2"},
        {"task_id": 1, "sequence": [7, 8], "generation": "d"},
    ]
    found, _ = read(write(tmp_path, *lines), strict=True)
    assert [c.task.index for c in found] == [0, 1, 0, 2]
    assert [str(c.task.bucket) for c in found] == ["f/2", "text/1", "f/2", "sequences/1"]


def report(tmp_path: Path, *lines: object, **options: Any) -> dict[str, Any]:
    return evaluate_predictions(write(tmp_path, *lines), EMBEDDED, strict=True, reporting=Reporting(**options))


def test_a_report_by_hand(tmp_path: Path) -> None:
    """A rule, a copy, a wrong answer and a broken one, for sequences of 40 items."""
    ramp, noise = list(range(40)), [(i * i * 7919) % 251 for i in range(40)]
    found = report(
        tmp_path,
        {"sequence": ramp, "generation": "output=list(range(40))", "modality": "rule"},
        {"sequence": noise, "generation": f"output = {noise}", "modality": "noise"},
        {"sequence": noise, "generation": f"output = {noise[:20]}", "modality": "noise"},
        {"sequence": noise, "generation": "output = [", "modality": "noise"},
    )
    assert (found["n"], found["accuracy"], found["executable"], found["format_rate"]) == (4, 0.5, 0.75, 0.75)
    assert found["copy_rate"] == 0.5
    assert found["prefix_accuracy"] == {"16": 0.75, "32": 0.5, "64": 0.5, "128": 0.5}
    assert {m: (f["accuracy"], f["n"]) for m, f in found["modalities"].items()} == {
        "rule": (1.0, 1),
        "noise": (1 / 3, 3),
    }
    # The copy is left to the codecs; the text of the rule, with its NUL, is stored as it is, for no codec makes it smaller.
    assert found["compression_rate"] == (8 * 23 + best_solid_bits([noise] * 3) + 4) / (8 * 160)
    low, high = found["intervals"]["compression_rate"]
    assert low < found["compression_rate"] < high
    assert "rate_archive" not in found and "published" not in found
    json.dumps(found, allow_nan=False)


def test_several_answers_to_one_task(tmp_path: Path) -> None:
    good, bad = "output = [5, 5, 5]", "output = [5]"
    lines = [
        {"task_id": i, "sequence": [5, 5, 5], "generation": g} for i in range(2) for g in (bad, good if i else bad)
    ]
    found = report(tmp_path, *lines)
    assert (found["n"], found["samples"], found["accuracy"]) == (2, 2, 0.5)
    assert found["pass_at_k"] == {"1": 0.25, "2": 0.5}
    assert found["pass_at_k_ci"]["2"] == pytest.approx([0.0945, 0.9055], abs=1e-4)


def test_the_published_cut_is_part_of_compatibility(tmp_path: Path) -> None:
    line = {"sequence": [35, 35, 35], "generation": "output = list(b'###')\n###"}
    assert report(tmp_path, line)["accuracy"] == 1.0
    found = report(tmp_path, line, kt_compatible=True)
    assert found["accuracy"] == 0.0
    assert any("inside a program" in flaw for flaw in found["published"]["flaws"])


def test_codecs_begin_with_each_sequence_once_and_with_the_stream_that_the_report_needs(tmp_path: Path) -> None:
    """Before any program has run; two samples are of one task."""
    name = write(
        tmp_path,
        {"task_id": 1, "sequence": [7, 7], "generation": ANSWER},
        {"task_id": 1, "sequence": [7, 7], "generation": "output = [7]"},
        {"task_id": 2, "sequence": [8, 8, 8], "generation": ANSWER},
    )
    with Baselines() as baselines:
        found = list(counting(read_predictions(name, print, strict=True), baselines))
        assert [c.task.target for c in found] == [(7, 7), (7, 7), (8, 8, 8)]
        assert sorted(baselines._blocks) == [b"\7\7", b"\x08\x08\x08"]
        before = _submitted.cache_info().misses
        sizes = baselines.measure([(7, 7), (8, 8, 8)])
        assert _submitted.cache_info().misses == before
    assert sizes == measure([(7, 7), (8, 8, 8)])
