"""The tables of docs/metrics.md, made from the records: `python -m kolmocli.monitor.metrics_page docs/metrics.md`.

A table stands between `<!-- NAME -->` and `<!-- end -->`, NAME that of its record; everything else of the page is prose.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import Field, fields
from pathlib import Path

from kolmocli.monitor.events import KINDS, Event
from kolmocli.monitor.record import Record
from kolmocli.monitor.records import (
    BucketRecord,
    EntropyTargetRecord,
    GeneratorRecord,
    GradientRecord,
    ReinforceRecord,
    ScreeningRecord,
    SelfPlayRecord,
    StepRecord,
    StepSeconds,
)
from kolmocli.monitor.summary import Summary

Rows = list[tuple[str, ...]]


def keys(record: type[Record], *, without: type[Record] | None = None) -> Rows:
    """Key, unit and meaning of each field that says what it is, but for those of another record."""
    known = {field.name for field in fields(without)} if without else set()
    return [_row(field) for field in fields(record) if field.name not in known and field.metadata]


def _row(field: Field[object], before: str = "") -> tuple[str, str, str]:
    return f"`{before}{field.name}`", field.metadata["unit"], field.metadata["meaning"]


def summary_keys() -> Rows:
    """Those of its parts with the part before them."""
    rows: Rows = []
    for field in fields(Summary):
        part = field.default
        inner = fields(part) if isinstance(part, Record) else ()
        rows += [_row(key, f"{field.name}.") for key in inner] or [_row(field)]
    return rows


def event_kinds() -> Rows:
    return [(f"`{name}`", " ".join(str(kind.__doc__).split())) for name, kind in KINDS.items()]


KEYS = ("key", "unit", "meaning")
TABLES: dict[str, tuple[tuple[str, ...], Callable[[], Rows]]] = {
    "StepRecord": (KEYS, lambda: keys(StepRecord)),
    "ReinforceRecord": (KEYS, lambda: keys(ReinforceRecord, without=StepRecord)),
    "StepSeconds": (KEYS, lambda: keys(StepSeconds)),
    "GradientRecord": (KEYS, lambda: keys(GradientRecord)),
    "BucketRecord": (KEYS, lambda: keys(BucketRecord)),
    "EntropyTargetRecord": (KEYS, lambda: keys(EntropyTargetRecord)),
    "ScreeningRecord": (KEYS, lambda: keys(ScreeningRecord)),
    "SelfPlayRecord": (KEYS, lambda: keys(SelfPlayRecord)),
    "GeneratorRecord": (KEYS, lambda: keys(GeneratorRecord)),
    "Event": (KEYS, lambda: keys(Event)),
    "kinds of events": (("kind", "its fields"), event_kinds),
    "Summary": (KEYS, summary_keys),
}


def table(head: tuple[str, ...], rows: Rows) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("|" + "|".join(f" {cell} " if cell != "---" else cell for cell in line) + "|" for line in lines)


def renewed(page: str, tables: Mapping[str, tuple[tuple[str, ...], Callable[[], Rows]]] = TABLES) -> str:
    """The page with its tables as they are made now. Raises ValueError for a table that has no place in it."""
    for name, (head, rows) in tables.items():
        begin = f"<!-- {name} -->\n"
        before, found, rest = page.partition(begin)
        _, end, after = rest.partition("\n<!-- end -->")
        if not found or not end:
            raise ValueError(f"no place for a table: {begin.strip()}")
        page = before + begin + table(head, rows()) + end + after
    return page


if __name__ == "__main__":
    file = Path(sys.argv[1])
    file.write_text(renewed(file.read_text("utf-8")), "utf-8")
