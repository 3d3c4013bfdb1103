"""What the tests of a file of code tasks hold: its canonical solutions, and bodies that do nothing.

    python benchmarks/code_tests.py HumanEval.jsonl
    python benchmarks/code_tests.py mbpp.jsonl --sandbox embedded --json

The file is of HumanEval's or MBPP's published shape, one JSON object a line; none comes with this repository. A judge is
right when every canonical solution passes and no empty body does. Tests that are read without being run cost a program one
job; the others run once without a program first, which needs Docker: the embedded sandbox judges nothing by them.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

from kolmocli.sandbox import Sandbox, open_sandbox
from kolmocli.tasks.code.asserts import Asserts
from kolmocli.tasks.code.task import CodeTask
from kolmocli.tasks.files.taskfile import read_tasks
from kolmocli.tasks.judging import judge
from kolmocli.tasks.outcome import Terms
from kolmocli.tasks.reward import Binary


def measured(tasks: Sequence[CodeTask], sandbox: Sandbox) -> dict[str, Any]:
    read = sum(not isinstance(task.tests, Asserts) or task.tests.plan is not None for task in tasks)
    taught = [task for task in tasks if task.reference is not None]
    return {
        "tasks": len(tasks),
        "sandbox": sandbox.health().backend,
        "read_without_a_run": read,
        "canonical_solutions": shares(taught, [task.reference or "" for task in taught], sandbox),
        "empty_bodies": shares(tasks, [empty_body(task) for task in tasks], sandbox),
    }


def shares(tasks: Sequence[CodeTask], texts: Sequence[str], sandbox: Sandbox) -> dict[str, Any]:
    outcomes = judge(tasks, texts, sandbox, Terms(Binary()))
    judged = [(task, outcome) for task, outcome in zip(tasks, outcomes, strict=True) if outcome.reward is not None]
    missed = {task.task_id or task.asked.text[:40]: str(o.status) for task, o in judged if not o.passed}
    return {
        "judged": len(judged),
        "masked": len(tasks) - len(judged),
        "passed": len(judged) - len(missed),
        "missed": missed,
    }


def empty_body(task: CodeTask) -> str:
    if task.opening:
        return "    pass\n"
    return "" if task.entry_point is None else f"def {task.entry_point}(*_, **__):\n    pass\n"


def show(name: str, found: dict[str, Any]) -> None:
    print(f"{name}: {found['tasks']} code tasks, judged in {found['sandbox']}")
    print(f"  tests that are read without being run  {found['read_without_a_run']} of {found['tasks']}")
    for key in ("canonical_solutions", "empty_bodies"):
        part = found[key]
        masked = f", {part['masked']} more could not be judged" if part["masked"] else ""
        print(f"  {key.replace('_', ' ') + ' that pass':38} {part['passed']} of {part['judged']}{masked}")
    missed = found["canonical_solutions"]["missed"]
    ends = ", ".join(f"{status} {count}" for status, count in Counter(missed.values()).items())
    if missed:
        print(f"  the others end with {ends}: {', '.join(missed)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="code tasks with tests, in HumanEval's or MBPP's shape")
    parser.add_argument("--sandbox", default="auto", choices=["auto", "docker", "embedded"])
    parser.add_argument("--workers", type=int, default=None)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    listed = read_tasks(options.file, lambda said: print(said, file=sys.stderr)).listed
    tasks = [each.task for each in listed if isinstance(each.task, CodeTask)]
    if not tasks:
        parser.error(f"{options.file}: no code task in it")
    with open_sandbox(options.sandbox, workers=options.workers) as sandbox:
        found = measured(tasks, sandbox)
    if options.json:
        print(json.dumps({"schema_version": 1, "file": options.file, **found}, indent=1))
    else:
        show(options.file, found)


if __name__ == "__main__":
    main()
