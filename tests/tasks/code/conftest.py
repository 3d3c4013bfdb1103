"""Sandboxes that the tests of this folder share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kolmocli.sandbox import Limits, Sandbox, open_sandbox

LIMITS = Limits(cpu_ms=300, wall_ms=2_000, memory_mb=64)


@pytest.fixture(scope="session")
def docker_box() -> Iterator[Sandbox]:
    with open_sandbox("docker", limits=LIMITS, workers=2) as sandbox:
        yield sandbox


@pytest.fixture(scope="session")
def embedded_box() -> Iterator[Sandbox]:
    with open_sandbox("embedded", limits=LIMITS, workers=2) as sandbox:
        yield sandbox


@pytest.fixture(params=[pytest.param("docker", marks=pytest.mark.docker), "embedded"])
def box(request: pytest.FixtureRequest) -> Sandbox:
    """Both backends, one after the other: what holds for both is tested on both."""
    found: Sandbox = request.getfixturevalue(f"{request.param}_box")
    return found
