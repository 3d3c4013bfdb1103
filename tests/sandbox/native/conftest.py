"""A sandbox with the languages beyond Python. One container of theirs: what a program leaves would reach the next one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kolmocli.sandbox import Limits, Sandbox, open_sandbox

LIMITS = Limits(cpu_ms=800, wall_ms=2_000, memory_mb=64)


@pytest.fixture(scope="session")
def native_sandbox() -> Iterator[Sandbox]:
    with open_sandbox("docker", limits=LIMITS, workers=1, packages=["cpp", "node"]) as sandbox:
        yield sandbox
