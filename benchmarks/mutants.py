"""Whether the tests notice faults: each one of `mutants.yaml` is put into a copy of the project, and its tests are run there.

    python benchmarks/mutants.py
    python benchmarks/mutants.py --only curriculum --json

A fault is noticed when its tests fail, or do not end within ten minutes. The same tests are run without a fault first: red ones
notice nothing. Exit 3 where a fault survives.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory

import yaml
from rich import box
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
FAULTS = Path(__file__).with_suffix(".yaml")
_LONGEST_S = 600
SURVIVED = "survived"


@dataclass(frozen=True)
class Mutant:
    """`put` stands in place of `take` in `file`; `tests` are paths, with blanks between them."""

    name: str
    file: str
    take: str
    put: str
    tests: str


@dataclass(frozen=True)
class Finding:
    name: str
    file: str
    noticed: str
    """The first test that failed, or `survived`."""
    seconds: float


def mutants() -> list[Mutant]:
    return [Mutant(**fault) for fault in yaml.safe_load(FAULTS.read_text("utf-8"))]


def copied(folder: Path) -> None:
    """The project without what git ignores, as it stands in the working tree."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            copyfile(ROOT / name, folder / name)


def first_failure(folder: Path, tests: str) -> str | None:
    """The first of these tests that fails in the folder; None when all pass."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--tb=no", *tests.split()]
    environment = os.environ | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=_LONGEST_S, check=False
        )
    except subprocess.TimeoutExpired:
        return f"no end within {_LONGEST_S} s"
    if done.returncode == 0:
        return None
    named = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.M)
    return named[1] if named else f"pytest ends with {done.returncode}"


def find(chosen: Sequence[Mutant], console: Console) -> list[Finding]:
    """One finding for each mutant. Raises SystemExit where its tests fail without it."""
    findings, green = list[Finding](), set[str]()
    with TemporaryDirectory() as name:
        folder = Path(name)
        copied(folder)
        for mutant in chosen:
            if mutant.tests not in green:
                if (red := first_failure(folder, mutant.tests)) is not None:
                    raise SystemExit(f"{mutant.tests}: {red} fails without any fault; mend it first")
                green.add(mutant.tests)
            file = folder / mutant.file
            text, began = file.read_text("utf-8"), time.monotonic()
            file.write_text(text.replace(mutant.take, mutant.put), "utf-8")
            noticed = first_failure(folder, mutant.tests) or SURVIVED
            file.write_text(text, "utf-8")
            findings.append(Finding(mutant.name, mutant.file, noticed, time.monotonic() - began))
            console.print(f"{mutant.name}: {noticed}", highlight=False, markup=False, soft_wrap=True)
    return findings


def show(findings: Sequence[Finding], console: Console) -> None:
    table = Table("room of the house", "faults", "noticed", box=box.SIMPLE_HEAD)
    rooms = dict.fromkeys(finding.file.split("/")[1] for finding in findings)
    for room in rooms:
        here = [finding.noticed for finding in findings if finding.file.split("/")[1] == room]
        table.add_row(room, str(len(here)), str(sum(noticed != SURVIVED for noticed in here)))
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument(
        "--only", nargs="+", default=[""], metavar="WORD", help="faults with this in their name or file"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    chosen = [m for m in mutants() if any(word in m.name or word in m.file for word in options.only)]
    if not chosen:
        parser.error(f"no fault has {' or '.join(options.only)} in its name or file")
    findings = find(chosen, Console(stderr=options.json, width=120))
    if options.json:
        print(json.dumps({"schema_version": 1, "mutants": [asdict(finding) for finding in findings]}, indent=1))
    else:
        show(findings, Console(width=120))
    if any(finding.noticed == SURVIVED for finding in findings):
        raise SystemExit(3)


if __name__ == "__main__":
    main()
