"""docs/metrics.md names every key that is produced, and no key that is not."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import get_type_hints

import pytest

from kolmocli.curriculum.base import Bucket
from kolmocli.evaluation.baselines import CODEC_NAMES
from kolmocli.evaluation.metrics import summarise
from kolmocli.monitor import schema
from kolmocli.sandbox.base import Status
from kolmocli.tasks.answers.digits import sum_digits
from kolmocli.tasks.outcome import Outcome
from kolmocli.tasks.sequences.task import sequence_task

PAGE = (Path(__file__).parents[2] / "docs/metrics.md").read_text(encoding="utf-8")


def documented(heading: str) -> set[str]:
    """Keys of the first table under a heading."""
    section = re.split(r"^#+ ", PAGE.split(f"# {heading}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]
    table = section[section.index("| key") :].split("\n\n")[0]
    return set(re.findall(r"^\| `([^`]+)`", table, re.MULTILINE))


def keys(record: type) -> set[str]:
    return set(get_type_hints(record))


@pytest.mark.parametrize(
    ("heading", "record"),
    [
        ("metrics.jsonl", schema.StepRecord),
        ("seconds", schema.StepSeconds),
        ("buckets", schema.BucketRecord),
        ("self_play", schema.SelfPlayRecord),
        ("events.jsonl", schema.EventRecord),
    ],
)
def test_the_page_has_the_keys_of_the_records(heading: str, record: type) -> None:
    assert documented(heading) == keys(record)


def test_the_page_has_the_keys_of_the_summary() -> None:
    expected = set()
    for key, kind in get_type_hints(schema.Summary).items():
        inner = getattr(kind, "__annotations__", None)
        expected |= {f"{key}.{name}" for name in inner} if inner else {key}
    assert documented("summary.json") == expected


def test_the_page_has_every_kind_of_event_with_its_fields() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| ([^|]*) \|$", PAGE.split("| kind |")[1].split("\n## ")[0], re.MULTILINE))
    assert set(rows) == set(schema.EVENT_FIELDS)
    for kind, fields in schema.EVENT_FIELDS.items():
        assert set(fields) <= set(re.findall(r"`(\w+)`", rows[kind])), kind


def test_the_page_has_the_keys_of_the_report() -> None:
    task = sequence_task(Bucket("ramps", 1), 0, (1, 2, 3))
    report = summarise([(task, Outcome("…", 1, True, Status.OK, 1.0, True, None, 20))])
    asked = replace(sum_digits([1, 2]), bucket=task.bucket)
    in_words = summarise([(asked, Outcome("[ANSWER] 3", 1, True, Status.OK, 1.0, True, lenient=True))])
    assert documented("Evaluation report") == set(report) | set(in_words)
    assert documented("Per bucket") == set(report["buckets"]["ramps/1"])
    assert documented("Per codec") == set(report["baselines"]["gzip"])
    assert all(f"`{codec}`" in PAGE for codec in CODEC_NAMES)


@pytest.mark.parametrize(
    ("added", "modules"), [("`kolmo eval` adds", "evaluation/*.py"), ("`summary.json` adds", "training/assess.py")]
)
def test_what_callers_add_to_the_report_is_really_added(added: str, modules: str) -> None:
    table = PAGE.split(added)[1].split("| key")[1].split("\n\n")[0]
    files = Path(schema.__file__).parents[1].glob(modules)
    code = "".join(path.read_text(encoding="utf-8") for path in files)
    names = re.findall(r"^\| `(\w+)`", table, re.MULTILINE)
    assert names
    assert [name for name in names if f'"{name}"' not in code] == []


def test_every_row_has_a_unit_and_a_meaning() -> None:
    rows = re.findall(r"^\| `[^|]+ \|(.*)\|$", PAGE, re.MULTILINE)
    assert len(rows) > 60
    assert all(len(cell.strip()) > 0 for row in rows for cell in row.split("|"))
