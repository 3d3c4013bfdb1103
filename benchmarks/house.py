"""The size of the house: words of the pages, lines of the code, and whether its imports point down.

    python benchmarks/house.py
    python benchmarks/house.py --json

Words are those of README.md and of every page in docs. Lines are all lines of Python files. *To read* are the files that docs/reading.md
leads through. Imports are those of `tests/test_rooms.py`. Exit 3 where an import points up or there is a circle.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "kolmocli"
GOALS = {
    "words of README.md": 700,
    "words of all pages": 36_000,
    "lines outside contrib": 40_000,
    "lines to read": 1_000,
}
"""At most."""


def words(pages: Iterable[Path]) -> int:
    return sum(len(page.read_text("utf-8").split()) for page in pages)


def lines(files: Iterable[Path]) -> int:
    return sum(len(file.read_text("utf-8").splitlines()) for file in files)


def to_read() -> list[Path]:
    linked = re.findall(r"\]\(\.\./(kolmocli/[\w/]+\.py)\)", (ROOT / "docs" / "reading.md").read_text("utf-8"))
    return [ROOT / path for path in dict.fromkeys(linked)]


def arrows() -> tuple[int, int]:
    """Imports that point up, and modules in a circle or above one."""
    sys.path.insert(0, str(ROOT))
    from tests.test_rooms import circle, upward

    return len(upward()), len(circle())


def measure() -> dict[str, int]:
    files = list(PACKAGE.rglob("*.py"))
    contrib = [file for file in files if (PACKAGE / "contrib") in file.parents]
    up, round_ = arrows()
    return {
        "words of README.md": words([ROOT / "README.md"]),
        "words of all pages": words([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]),
        "lines outside contrib": lines(files) - lines(contrib),
        "lines of contrib": lines(contrib),
        "lines to read": lines(to_read()),
        "lines of tests": lines((ROOT / "tests").rglob("*.py")),
        "files above 300 lines": sum(lines([file]) > 300 for file in files),
        "imports that point up": up,
        "modules in a circle": round_,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    found = measure()
    if options.json:
        print(json.dumps({"schema_version": 1, "figures": found, "goals": GOALS}))
    else:
        table = Table(box=box.SIMPLE)
        for title in ("figure", "now", "at most"):
            table.add_column(title, justify="left" if title == "figure" else "right")
        for name, number in found.items():
            table.add_row(name, f"{number:,}", f"{GOALS[name]:,}" if name in GOALS else "")
        Console().print(table)
    if found["imports that point up"] or found["modules in a circle"]:
        sys.exit(3)


if __name__ == "__main__":
    main()
