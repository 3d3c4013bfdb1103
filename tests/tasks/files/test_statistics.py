"""What `kolmo data show` says of a file, against the plain way of counting it."""

from __future__ import annotations

import json
import math
import statistics
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from kolmocli.errors import UsageError
from kolmocli.language.coder import coded_bits, literal_bits
from kolmocli.language.program import parse
from kolmocli.tasks.files.statistics import describe, histogram


def report(path: Path, lines: list[Any], examples: int = 2) -> dict[str, Any]:
    path.write_text("".join((x if isinstance(x, str) else json.dumps(x)) + "\n" for x in lines))
    return describe(str(path), examples=examples, seed=0, strict=False, warn=lambda text: None)


LINES = [
    {"sequence": [1, 2, 3], "program": "range_func_up(1, 3)", "bucket": "ramps/1"},
    {"sequence": [7] * 9, "bucket": "runs/1", "modality": "text"},
    {"sequence": [7] * 9, "bucket": "runs/1"},
    {"sequence": [-300, 70_000]},
    "bad",
]


def test_everything_is_counted(tmp_path: Path) -> None:
    found = report(tmp_path / "d", LINES)
    assert (found["records"], found["bad"], found["distinct"], found["items"]) == (4, 1, 3, 23)
    lengths = [3, 9, 9, 2]
    assert {k: v for k, v in found["length"].items() if k != "histogram"} == {
        "min": 2, "median": 3, "p95": 9, "max": 9, "mean": statistics.mean(lengths),
    }  # fmt: skip
    assert found["buckets"] == {"ramps/1": 1, "runs/1": 2}
    assert found["modalities"] == {"text": 1}
    assert (found["value"]["min"], found["value"]["max"], found["value"]["distinct"]) == (-300, 70_000, 6)
    shares = [1 / 23, 1 / 23, 1 / 23, 18 / 23, 1 / 23, 1 / 23]
    assert found["value"]["bits_per_item"] == pytest.approx(-sum(p * math.log2(p) for p in shares))
    program = parse("range_func_up(1, 3)")
    assert found["programs"] == {"count": 1, "statements": 1, "coded_rate": coded_bits(program) / 24}
    literals = sum(literal_bits(s) for s in ([1, 2, 3], [7] * 9, [7] * 9, [-300, 70_000]))
    assert found["literal_rate"] == pytest.approx(literals / (24 + 72 + 72 + 48))  # three bytes hold 70,000 and a sign


def test_examples_are_drawn_from_the_whole_file_and_the_same_again(tmp_path: Path) -> None:
    lines = [{"sequence": [i]} for i in range(200)]
    drawn = [tuple(e["sequence"]) for e in report(tmp_path / "d", lines, 5)["examples"]]
    assert len(set(drawn)) == 5
    assert max(drawn) > (50,)
    assert drawn == [tuple(e["sequence"]) for e in report(tmp_path / "d", lines, 5)["examples"]]
    assert report(tmp_path / "d", lines, 0)["examples"] == []


def test_of_many_different_values_only_the_range_is_kept(tmp_path: Path) -> None:
    found = report(tmp_path / "d", [{"sequence": list(range(3000 * i, 3000 * i + 3000))} for i in range(3)])
    assert found["value"] == {"min": 0, "max": 8999, "distinct": None, "bits_per_item": None, "histogram": None}


@given(st.dictionaries(st.integers(-(10**20), 10**20), st.integers(1, 9), min_size=1, max_size=30))
def test_a_histogram_has_every_count_once(counts: dict[int, int]) -> None:
    bins = histogram(Counter(counts))
    assert 1 <= len(bins) <= 12
    assert bins[0]["from"] == min(counts)
    assert bins[-1]["to"] == max(counts)
    for b in bins:
        assert b["count"] == sum(n for value, n in counts.items() if b["from"] <= value <= b["to"])
    assert sum(b["count"] for b in bins) == sum(counts.values())


def test_a_file_without_a_sequence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no good line in it; see above"):
        report(tmp_path / "d", ["bad"])
