from __future__ import annotations

import json
from dataclasses import asdict
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from kolmocli.cli import results
from kolmocli.curriculum.base import Bucket
from kolmocli.sandbox.base import Status
from kolmocli.tasks.outcome import Outcome
from kolmocli.tasks.sequences.task import sequence_task
from kolmocli.training import evaluation
from kolmocli.training.state import RunState, Totals


def test_a_state_survives_json() -> None:
    state = RunState(phase="rl", step=3, drawn={"a/1": 4}, passed_before=[0, 1, None])
    assert RunState(**json.loads(json.dumps(asdict(state)))) == state
    totals = Totals(pass_rates=[0.25], bits=1.5)
    totals.spend("learn", 0.1)
    assert Totals(**json.loads(json.dumps(asdict(totals)))) == totals


def test_a_task_that_the_sandbox_lost_is_no_change_of_the_accuracy(monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = [sequence_task(Bucket("a", 1), index, (7, 7, 7)) for index in range(4)]
    good = Outcome("", 1, True, Status.OK, 1.0, True, None, 25)
    lost = Outcome("", 1, False, Status.INFRA, None)
    run: Any = SimpleNamespace(state=RunState(), recorder=Mock())
    for name, outcomes in (("before", [good] * 4), ("step 1", [good, good, good, lost]), ("after", [lost] * 4)):
        pairs = [(task, [outcome]) for task, outcome in zip(tasks, outcomes, strict=True)]
        monkeypatch.setattr(evaluation, "attempt", lambda engine, held_out, pairs=pairs: pairs)
        evaluation.Evaluation(run, Mock(), tasks, 0).evaluate(name)
    reports = run.state.evaluations
    assert (reports["step 1"]["accuracy"], reports["step 1"]["gain"]) == (1.0, 0.0)
    assert (reports["after"]["gain"], reports["after"]["gain_ci"]) == (None, None)
    assert results._accuracy(reports["before"], reports["after"]) == "100.0 % before RL, – after"
