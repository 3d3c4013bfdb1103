"""Files and programs as people have them: do they load, and is what is right judged right?

`programs.jsonl` is what a model wrote for a function `twice`, and whether it is right; `shapes.jsonl` one row of each
well-known set, whose answer is 2, or whose program doubles or repeats its input; `cases/` the tasks and the answers of a
command each.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

TWICE = ("def twice(n):\n    return 2 * n", "class Solution:\n    def twice(self, n):\n        return 2 * n")
RIGHT = (
    *TWICE, "def task_func(n):\n    return 2 * n", "print(input())", "[ANSWER] 2", "[ANSWER] B", "[ANSWER] 4",
    "[ANSWER] 44 + 19 + 35", f"[ANSWER] {2**64}", f"[ANSWER] {10**20}",
)  # fmt: skip
"""One of these is right for any row."""
WRONG = (
    *(text.replace("2 * n", "3 * n") for text in RIGHT[:3]), "print(input() + '0')", "[ANSWER] 3", "[ANSWER] A",
    "[ANSWER] 44 * 19",
)  # fmt: skip
REFUSED = ("answer_null",)
"""Rows that are no task, and have to be named as such."""
RIGHT_CASES = {"fp_": 0.0, "evalplus_inputs_ignored": 0.0, "unequal_samples": 2 / 3}
"""What an accuracy has to be, by the name of a case or its beginning; 1 where it is not here."""


def programs(folder: Path, aloud: bool) -> bool:
    """Every form of text around a function, in one evaluation."""
    forms = [json.loads(line) for line in (folder / "programs.jsonl").read_text().splitlines()]
    tests = ["assert twice(3) == 6", "assert twice(0) == 0"]
    tasks = [
        {"task_id": f["name"], "family": f["name"], "prompt": f"Write twice: {f['name']}.", "test_list": tests}
        for f in forms
    ]
    texts = [{"task_id": form["name"], "completion": form["completion"]} for form in forms]
    report, _, said = _evaluated(tasks, texts)
    passed = {name: part["accuracy"] == 1 for name, part in report.get("families", {}).items()}
    missed = [form["name"] for form in forms if passed.get(form["name"]) is not form["right"]]
    for name in missed if aloud and not report else ():
        print(f"  {name}: {said}")
    return _print("programs", len(forms), missed)


def shapes(folder: Path, aloud: bool) -> bool:
    """A row of each set, all in one file: something right passes for it, and nothing wrong does."""
    rows = [json.loads(line) for line in (folder / "shapes.jsonl").read_text().splitlines()]
    names = [row["shape"] for row in rows]
    tasks = [{**row["row"], "task_id": row["shape"], "family": row["shape"]} for row in rows]
    right, _, said = _evaluated(tasks, [{"task_id": name, "completion": text} for text in RIGHT for name in names])
    bad, _, _ = _evaluated(tasks, [{"task_id": name, "completion": text} for text in WRONG for name in names])
    judged, fooled = right.get("families", {}), bad.get("families", {})
    missed = [
        name for name in names
        if name not in REFUSED and not (judged.get(name, {}).get("accuracy") and fooled.get(name, {}).get("accuracy") == 0)
    ] + [name for name in REFUSED if name in names and (name in judged or "`answer` is empty" not in said)]  # fmt: skip
    for line in said.splitlines() if missed and aloud else ():
        if "no task" not in line:
            print(f"  {line}")
    return _print("shapes", len(rows), missed)


def cases(folder: Path, aloud: bool) -> bool:
    """The commands of the table of cases."""
    names = sorted(path.name.partition(".")[0] for path in (folder / "cases").glob("*.answers.jsonl"))
    missed = []
    for name in names:
        tasks = next((folder / "cases").glob(f"{name}.tasks.*"))
        backend = "embedded" if name.startswith("embedded") else "docker"
        report, code, said = _run(tasks, folder / "cases" / f"{name}.answers.jsonl", backend)
        wanted = next((value for key, value in RIGHT_CASES.items() if name.startswith(key)), 1.0)
        found = report.get("accuracy")
        fine = found is not None and abs(found - wanted) < 1e-9
        if name == "unequal_samples":
            fine = fine and report["accuracy_lenient"] >= found
        if name == "embedded_type_method":  # refused is right too
            fine = fine or (report.get("executable") == 0 and report.get("masked") == 0)
        if not fine:
            missed.append(name)
        if not fine and aloud:
            print(f"  {name}: exit {code}, accuracy {found}, not {wanted:g}; {said.strip().splitlines()[-1:]}")
    return _print("cases", len(names), missed)


def _print(what: str, count: int, missed: list[str]) -> bool:
    print(f"{what}: {count - len(missed)} of {count} right{'; wrong: ' if missed else ''}{', '.join(missed)}")
    return len(missed) <= 0.05 * count


def _evaluated(tasks: list[Any], texts: list[Any]) -> tuple[dict[str, Any], int, str]:
    with TemporaryDirectory() as folder:
        for name, rows in (("tasks", tasks), ("texts", texts)):
            Path(folder, f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        return _run(Path(folder, "tasks.jsonl"), Path(folder, "texts.jsonl"), "docker")


def _run(tasks: Path, texts: Path, backend: str) -> tuple[dict[str, Any], int, str]:
    """(the report, the exit code, what it says on stderr)"""
    flags = ["--data", str(tasks), "--predictions", str(texts), "--sandbox", backend, "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "kolmocli", "eval", *flags], capture_output=True, text=True, check=False
    )
    return json.loads(done.stdout) if done.stdout.strip() else {}, done.returncode, done.stderr
