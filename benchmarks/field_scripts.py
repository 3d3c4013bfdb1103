"""Scripts as people write them, each with what judges say of it: how many are judged so here.

A line of `scripts.jsonl` has `program`, `inputs`, `outputs` and `right`: whether it passes. `time_limit` and `memory_limit` are
the task's, where it has them.
"""

from __future__ import annotations

import json
from pathlib import Path

from kolmocli.evaluation.rescoring import limits_of
from kolmocli.sandbox import open_sandbox
from kolmocli.tasks.code.limits import limits_for
from kolmocli.tasks.code.shapes import script
from kolmocli.tasks.judging import judge
from kolmocli.tasks.outcome import Terms
from kolmocli.tasks.reward import Reward, reward_rule

LIMITS = limits_of(4.0, 256)
"""Of a task that says nothing, as `kolmo eval --data` has it."""


def scripts(folder: Path, aloud: bool) -> bool:
    rows = [json.loads(line) for line in (folder / "scripts.jsonl").read_text("utf-8").splitlines() if line]
    tasks = [script({"question": row["name"], **row}) for row in rows]
    with open_sandbox("docker", limits=LIMITS, most=limits_for(tasks, LIMITS)) as sandbox:
        outcomes = judge(tasks, [row["program"] for row in rows], sandbox, Terms(reward_rule(Reward()), 4096))
    wrong = {row["name"]: o.status.value for row, o in zip(rows, outcomes, strict=True) if o.passed != row["right"]}
    print(f"scripts: {len(rows) - len(wrong)} of {len(rows)} right")
    for name, status in wrong.items() if aloud else ():
        print(f"  wrong: {name} ({status})")
    return len(wrong) <= 0.06 * len(rows)
