"""Hostile programs as data: one file each, with the verdict that it must get in its header.

    # item: number in the list of hostile tests       # docker, # embedded: statuses, one of which it must get
    # why: what it tries                              # value: of its last statement (a list, or none)

Where `embedded` is missing the program needs what only CPython has.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from kolmocli.sandbox.attack.suite import DATA, header

FOLDER = Path(__file__).with_name("hostile")
SHARED = DATA / "denial"
"""Those that are hostile to any sandbox are in the suite of `kolmo sandbox attack`; some say there what ours answers."""


@dataclass(frozen=True, slots=True)
class Hostile:
    name: str
    program: str
    expected: dict[str, frozenset[str]]
    value: tuple[int, ...] | None
    has_value: bool


def read(path: Path) -> Hostile:
    program = path.read_text("utf-8")
    head = header(program)
    expected = {name: frozenset(head[name].split("|")) for name in ("docker", "embedded") if name in head}
    value = head.get("value", "none")
    return Hostile(path.stem, program, expected, None if value == "none" else tuple(json.loads(value)), "value" in head)


_PATHS = [*FOLDER.glob("*.py"), *SHARED.glob("*.txt")]
ALL = [each for path in sorted(_PATHS, key=lambda path: path.stem) if (each := read(path)).expected]
