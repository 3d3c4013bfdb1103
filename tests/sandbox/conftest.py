"""Sandboxes that the tests of this folder share. Each backend is opened once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kolmocli.sandbox import Job, Limits, Sandbox, open_sandbox

LIMITS = Limits(cpu_ms=300, wall_ms=2_000, memory_mb=64)
NORMAL = Job(
    "sequence_1 = range_func_up(0, 9)\nsequence_2 = repeat_list(3, sequence_1)\noutput = reverse_list(sequence_2)",
    "dsl",
)
NORMAL_TRACE = (tuple(range(10)), tuple(range(10)) * 3, tuple(reversed(range(10))) * 3)


@pytest.fixture(scope="session")
def docker_sandbox() -> Iterator[Sandbox]:
    with open_sandbox("docker", limits=LIMITS, workers=2) as sandbox:
        yield sandbox


@pytest.fixture(scope="session")
def embedded_sandbox() -> Iterator[Sandbox]:
    with open_sandbox("embedded", limits=LIMITS, workers=2) as sandbox:
        yield sandbox


@pytest.fixture(params=[pytest.param("docker", marks=pytest.mark.docker), "embedded"])
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    """Both backends, one after the other: what holds for both is tested on both."""
    found: Sandbox = request.getfixturevalue(f"{request.param}_sandbox")
    return found
