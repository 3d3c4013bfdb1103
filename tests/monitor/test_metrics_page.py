"""docs/metrics.md names every key that is produced, and no key that is not."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from pathlib import Path

import pytest

import kolmocli
from kolmocli.curriculum.base import Bucket
from kolmocli.evaluation.baselines import CODEC_NAMES
from kolmocli.evaluation.metrics import summarise
from kolmocli.monitor.events import KINDS, Event
from kolmocli.monitor.metrics_page import TABLES, renewed
from kolmocli.monitor.records import StepRecord
from kolmocli.sandbox.base import Status
from kolmocli.tasks.answers.shapes import question
from kolmocli.tasks.outcome import Outcome
from kolmocli.tasks.sequences.task import sequence_task

PAGE = (Path(__file__).parents[2] / "docs/metrics.md").read_text(encoding="utf-8")


def documented(heading: str) -> set[str]:
    """Keys of the first table under a heading."""
    section = re.split(r"^#+ ", PAGE.split(f"# {heading}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]
    table = section[section.index("| key") :].split("\n\n")[0]
    return set(re.findall(r"^\| `([^`]+)`", table, re.MULTILINE))


def test_the_tables_are_those_of_the_records() -> None:
    """`python -m kolmocli.monitor.metrics_page docs/metrics.md` makes them so."""
    assert renewed(PAGE) == PAGE


def test_a_key_of_a_record_has_a_row() -> None:
    assert documented("metrics.jsonl") == {field.name for field in fields(StepRecord)}
    assert {"summary", "eval.before", "seconds.total"} & documented("summary.json") == {"eval.before", "seconds.total"}


def test_a_table_without_a_place_is_named() -> None:
    with pytest.raises(ValueError, match="no place for a table: <!-- Summary -->"):
        renewed(PAGE.replace("<!-- Summary -->", ""))


def test_every_kind_of_event_says_its_fields() -> None:
    for kind, record in KINDS.items():
        own = {field.name for field in fields(record)} - {field.name for field in fields(Event)}
        assert own <= set(re.findall(r"`(\w+)`", str(record.__doc__))), kind


def test_every_key_has_a_unit_and_a_meaning() -> None:
    rows = [row for head, make in TABLES.values() if head[0] == "key" for row in make()]
    assert len(rows) > 90
    assert all(cell.strip() for row in rows for cell in row)


def test_the_page_has_the_keys_of_the_report() -> None:
    task = sequence_task(Bucket("ramps", 1), 0, (1, 2, 3))
    report = summarise([(task, Outcome("…", 1, True, Status.OK, 1.0, True, None, 20))])
    asked = replace(question({"question": "1 + 2?", "answer": "3"}), bucket=task.bucket)
    in_words = summarise([(asked, Outcome("[ANSWER] 3", 1, True, Status.OK, 1.0, True, lenient=True))])
    assert documented("Evaluation report") == {*report, *in_words, "metrics"}
    assert documented("Per bucket") == set(report["buckets"]["ramps/1"])
    assert documented("Per codec") == set(report["baselines"]["gzip"])
    assert all(f"`{codec}`" in PAGE for codec in CODEC_NAMES)


@pytest.mark.parametrize(
    ("added", "modules"), [("`kolmo eval` adds", "evaluation/*.py"), ("`summary.json` adds", "training/evaluation.py")]
)
def test_what_callers_add_to_the_report_is_really_added(added: str, modules: str) -> None:
    table = PAGE.split(added)[1].split("| key")[1].split("\n\n")[0]
    files = Path(kolmocli.__file__).parent.glob(modules)
    code = "".join(path.read_text(encoding="utf-8") for path in files)
    names = re.findall(r"^\| `(\w+)`", table, re.MULTILINE)
    assert names
    assert [name for name in names if f'"{name}"' not in code] == []


def test_every_row_has_a_unit_and_a_meaning() -> None:
    rows = re.findall(r"^\| `[^|]+ \|(.*)\|$", PAGE, re.MULTILINE)
    assert len(rows) > 150
    assert all(len(cell.strip()) > 0 for row in rows for cell in row.split("|"))
