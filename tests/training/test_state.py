from __future__ import annotations

import json
from dataclasses import asdict

from kolmocli.training.state import RunState, Totals


def test_a_state_survives_json() -> None:
    state = RunState(phase="rl", step=3, drawn={"a/1": 4}, passed_before=[0, 1])
    assert RunState(**json.loads(json.dumps(asdict(state)))) == state
    totals = Totals(pass_rates=[0.25], bits=1.5)
    totals.spend("learn", 0.1)
    assert Totals(**json.loads(json.dumps(asdict(totals)))) == totals
