from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from kolmocli.cli.eval_table import render
from kolmocli.curriculum.base import Bucket
from kolmocli.evaluation import metrics
from kolmocli.sandbox.base import Status
from kolmocli.tasks.outcome import Outcome
from kolmocli.tasks.sequences.task import sequence_task


def report(families: int, lost: int = 0) -> dict[str, object]:
    good = Outcome("…", 1, True, Status.OK, 1.2, True, None, 25)
    gone = Outcome("…", 1, False, Status.INFRA, None)
    tasks = [
        sequence_task(Bucket(f"family_{i}", level), 0, tuple(range(40))) for i in range(families) for level in (1, 2)
    ]
    return metrics.summarise([*((t, good) for t in tasks), *((tasks[0], gone) for _ in range(lost))])


def text_of(data: dict[str, object], width: int = 80) -> str:
    console = Console(width=width, file=io.StringIO(), color_system=None)
    console.print(render(data))
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_it_is_readable_at_80_columns() -> None:
    text = text_of(report(5, lost=3))
    assert all(len(line.rstrip()) <= 80 for line in text.splitlines())
    assert "…" not in text
    for word in ("accuracy", "100.0 %", "(+3 lost)", "programs", "brotli", "family_4/2", "precision"):
        assert word in text


def test_families_stand_before_their_levels() -> None:
    data = report(2) | {
        "families": {f"family_{i}": {"n": 2, "accuracy": i / 2, "accuracy_ci": [0.1, 0.9]} for i in (0, 1)}
    }
    lines = [line.split() for line in text_of(data).splitlines()]
    at = lines.index(["family", "accuracy", "95", "%", "n"])
    assert lines[at + 2 : at + 4] == [
        ["family_0", "0.0", "%", "10–90", "2"],
        ["family_1", "50.0", "%", "10–90", "2"],
    ]
    assert any("family_0/1" in line for line in lines[at + 4 :])


def test_the_smallest_size_of_a_row_stands_out() -> None:
    data = report(1)
    console = Console(width=80, file=io.StringIO(), force_terminal=True, color_system="standard")
    console.print(render(data))
    codecs = data["baselines"]
    assert isinstance(codecs, dict)
    rates = [data["compression_rate"], *(codec["solid"] for codec in codecs.values())]
    drawn = console.file.getvalue()  # type: ignore[attr-defined]
    bold = set(re.findall("\x1b\\[1m *([0-9.]+)", drawn))
    assert [f"{rate:.3f}" in bold for rate in rates] == [rate == min(rates) for rate in rates]


def test_numbers_that_do_not_exist_are_dashes() -> None:
    text = text_of(metrics.summarise([]))
    assert "nan" not in text.lower() and "none" not in text.lower()
    assert "–" in text


def test_a_missing_codec_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    measured = metrics.measure
    monkeypatch.setattr(
        metrics, "measure", lambda s: {k: v for k, v in measured(s).items() if k not in ("zstd", "brotli")}
    )
    assert "not installed: zstd, brotli" in text_of(report(1))


def test_families_of_a_file_with_what_k_samples_reach() -> None:
    def family(ks: tuple[int, ...]) -> dict[str, object]:
        return {"n": 7, "accuracy": 0.25, "accuracy_ci": [0.1, 0.5], "pass_at_k": {str(k): k / 200 for k in ks}}

    few = {"code": family((1, 2, 4)), "a family with a name that is long": family((1, 2))}
    text = text_of({**report(1), "families": few, "unanswered": 2, "unknown": 1})
    assert "pass@1" in text and "pass@4" in text and "25.0 %" in text
    assert "2 tasks without a prediction, 1 predictions without a task" in text
    many = family((1, 2, 4, 8, 10, 16, 32, 64, 100, 128, 200))
    text = text_of({**report(1), "families": {"code": many, "scripts": many}, "unanswered": 0, "unknown": 0})
    assert [k for k in (2, 10, 100, 128) if f"pass@{k} " in text or f"pass@{k}\n" in text] == [10, 100]
    assert all(len(line.rstrip()) <= 80 for line in text.splitlines())


def test_a_bucket_of_a_long_name_keeps_its_level() -> None:
    data = report(1) | {
        "buckets": {f"subtraction_of_fractions/{n}": {"n": 1, "accuracy": 1.0, "ci": (0, 1)} for n in (1, 12)}
    }
    text = text_of(data)
    assert "subtraction_o…/1 " in text and "subtraction_…/12 " in text
