"""What tasks grant their programs, and what a sandbox for them has to have."""

from __future__ import annotations

from typing import Any

import pytest

from kolmocli.sandbox import Limits, Sandbox, Status, open_sandbox
from kolmocli.tasks.code.limits import Allowance, allowance, limits_for
from kolmocli.tasks.code.shapes import mbpp, script
from kolmocli.tasks.files.foreign import read_row
from kolmocli.tasks.judging import judge
from kolmocli.tasks.outcome import Terms
from kolmocli.tasks.reward import Relative

USUAL = Limits(cpu_ms=300, wall_ms=900, memory_mb=64)
RECORD = {"question": "?", "inputs": [""], "outputs": ["1"]}


@pytest.mark.parametrize(
    ("record", "cpu_ms", "memory_mb"),
    [
        ({}, None, None),
        ({"time_limit": None, "memory_limit": ""}, None, None),
        ({"time_limit": 2, "memory_limit": 256}, 2_000, 256),
        ({"time_limit": 0.5}, 500, None),
        ({"time_limit": "2.0 seconds", "memory_limit": "256.0 megabytes"}, 2_000, 256),
        ({"time_limit": "1500 ms", "memory_limit": "1 GB"}, 1_500, 1_024),
        ({"time_limit": 1e6, "memory_limit": 1e6}, 600_000, 2_048),
    ],
)
def test_what_a_record_grants(record: dict[str, Any], cpu_ms: int | None, memory_mb: int | None) -> None:
    assert allowance(read_row(RECORD | record).row) == Allowance(cpu_ms, memory_mb)


@pytest.mark.parametrize(
    "record", [{"time_limit": -1}, {"time_limit": 0}, {"time_limit": True}, {"memory_limit": [256]}]
)
def test_a_limit_that_is_none_is_named(record: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"`{next(iter(record))}` .* is no positive number"):
        script(RECORD | record)


def test_what_a_sandbox_for_tasks_has() -> None:
    large = script(RECORD | {"inputs": ["x" * (3 << 20)], "time_limit": 2, "memory_limit": 32})
    call = mbpp({"text": "?", "test_list": ["assert f(1) == 1"], "memory_limit": 200})
    assert limits_for([], USUAL) == limits_for([script(RECORD)], USUAL) == USUAL
    most = limits_for([large, call], USUAL)
    assert (most.cpu_ms, most.wall_ms, most.memory_mb) == (2_000, 6_000, 200)
    assert (most.input_bytes, most.output_bytes) == (8 << 20, USUAL.output_bytes)


@pytest.fixture(scope="module")
def granting() -> Any:
    tasks = [script(RECORD | {"time_limit": 20, "memory_limit": 256})]
    with open_sandbox("docker", limits=USUAL, most=limits_for(tasks, USUAL), workers=1) as sandbox:
        yield sandbox


@pytest.mark.docker
@pytest.mark.parametrize(
    ("record", "program", "status"),
    [
        ({}, "for i in range(25_000_000): pass\nprint(1)", Status.TLE_CPU),
        ({"time_limit": 20}, "for i in range(25_000_000): pass\nprint(1)", Status.OK),
        ({"time_limit": 20}, "x = bytearray(160 << 20)\nprint(1)", Status.MLE),
        ({"memory_limit": 256, "time_limit": 20}, "x = bytearray(160 << 20)\nprint(1)", Status.OK),
        ({"memory_limit": 16, "time_limit": 20}, "x = bytearray(40 << 20)\nprint(1)", Status.MLE),
    ],
)
def test_the_limits_of_a_task_are_those_of_its_programs(
    granting: Sandbox, record: dict[str, Any], program: str, status: Status
) -> None:
    outcome = judge([script(RECORD | record)], [program], granting, Terms(Relative(0.25)))[0]
    assert (outcome.status, outcome.passed) == (status, status is Status.OK)
