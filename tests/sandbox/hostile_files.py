"""Hostile programs as data: one file each, with the verdict that it must get in its header.

    # item: number in the list of hostile tests       # docker, # embedded: statuses, one of which it must get
    # why: what it tries                              # value: of its last statement (a list, or none)

Where `embedded` is missing the program needs what only CPython has.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).with_name("hostile")


@dataclass(frozen=True, slots=True)
class Hostile:
    name: str
    program: str
    expected: dict[str, frozenset[str]]
    value: tuple[int, ...] | None
    has_value: bool


def read(path: Path) -> Hostile:
    program = path.read_text("utf-8")
    head = dict(line[2:].split(": ", 1) for line in program.splitlines() if line.startswith("# "))
    expected = {name: frozenset(head[name].split("|")) for name in ("docker", "embedded") if name in head}
    value = head.get("value", "none")
    return Hostile(path.stem, program, expected, None if value == "none" else tuple(json.loads(value)), "value" in head)


ALL = [read(path) for path in sorted(FOLDER.glob("*.py"))]
