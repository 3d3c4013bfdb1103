"""The verdict of a program depends on the program: not on order, pool, or what ran before it."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from kolmocli.sandbox import Job, Limits, Value, open_sandbox

from .engines import numbered
from .hostile_files import ALL

Table = list[tuple[str, Value | None]]
STABLE = [
    Job(hostile.program, "python")
    for hostile in ALL
    if len(hostile.expected["docker"]) == 1 and not hostile.expected["docker"] & {"TLE_WALL", "TLE_CPU"}
]
"""Hostile programs with one verdict, which does not take a second to get."""


def run(backend: str, jobs: Sequence[Job], workers: int, seed: int) -> Table:
    """The verdicts in the order of `jobs`, of a run in an order of its own."""
    order = list(range(len(jobs)))
    random.Random(seed).shuffle(order)
    sandbox = open_sandbox(backend, limits=Limits(memory_mb=64), workers=workers)
    try:
        verdicts = dict(zip(order, sandbox.run([jobs[i] for i in order]), strict=True))
    finally:
        sandbox.close()
    return [(verdicts[i].status.value, verdicts[i].value) for i in range(len(jobs))]


@pytest.mark.docker
@pytest.mark.parametrize("count", [100, pytest.param(10_000, marks=pytest.mark.slow)])
def test_in_containers(count: int) -> None:
    jobs = STABLE + numbered(count)
    assert run("docker", jobs, workers=1, seed=1) == run("docker", jobs, workers=3, seed=2)


def test_in_workers() -> None:
    jobs = [job for job in STABLE if "import" not in job.program] + numbered(200)
    assert run("embedded", jobs, workers=1, seed=1) == run("embedded", jobs, workers=3, seed=2)


@pytest.mark.parametrize("backend", [pytest.param("docker", marks=pytest.mark.docker), "embedded"])
def test_chance_is_the_same_every_time(backend: str) -> None:
    """Seeds, hashes and the order of sets are those of the reference machine, not of the moment."""
    programs = ["import random\nx = [random.random() for _ in range(5)]\ny = int(sum(x) * 10**15)"]
    if backend == "docker":  # the other refuses these
        programs += ["x = hash('a') % 10**9", "x = list({'b', 'a', 'c'})\ny = ''.join(x)", "x = hash((1, 'x')) % 10**9"]
    jobs = [Job(program, "python") for program in programs] * 3
    table = run(backend, jobs, workers=2, seed=3)
    assert all(value is not None for _, value in table)
    assert table == table[: len(programs)] * 3
    assert run(backend, jobs, workers=1, seed=4) == table
