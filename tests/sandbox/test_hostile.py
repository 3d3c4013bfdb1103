"""Every hostile program gets its verdict, and the program after it does not notice."""

from __future__ import annotations

import pytest

from kolmocli.sandbox import Job, Sandbox, Status

from .conftest import LIMITS, NORMAL, NORMAL_TRACE
from .hostile_files import ALL, Hostile


def attack(sandbox: Sandbox, backend: str, hostile: Hostile) -> None:
    first, after = sandbox.run([Job(hostile.program, "python" if "language" not in hostile.name else "dsl"), NORMAL])
    assert first.status in hostile.expected[backend], first
    if hostile.has_value and first.status is Status.OK:
        assert first.value == hostile.value
    assert (after.status, after.trace) == (Status.OK, NORMAL_TRACE)


@pytest.mark.docker
@pytest.mark.parametrize("hostile", ALL, ids=lambda h: h.name)
def test_in_a_container(docker_sandbox: Sandbox, hostile: Hostile) -> None:
    attack(docker_sandbox, "docker", hostile)


@pytest.mark.parametrize("hostile", [h for h in ALL if "embedded" in h.expected], ids=lambda h: h.name)
def test_in_a_worker(embedded_sandbox: Sandbox, hostile: Hostile) -> None:
    attack(embedded_sandbox, "embedded", hostile)


@pytest.mark.docker
def test_no_hostile_program_ends_a_container(docker_sandbox: Sandbox) -> None:
    before = docker_sandbox.health().replaced
    verdicts = docker_sandbox.run([Job(h.program, "python") for h in ALL])
    assert not any(v.status.is_fault for v in verdicts)
    assert docker_sandbox.health().replaced == before


SOURCES = {
    "empty": ("", {Status.OK}),
    "comment": ("# nothing", {Status.OK}),
    "nul": ("x = 1\0", {Status.SYNTAX}),
    "bom": ("\ufeffx = 1", {Status.OK, Status.SYNTAX}),
    "surrogate": ("x = '\ud800'", {Status.SYNTAX}),
    "not utf-8": (b"x = '\xff'".decode("utf-8", "surrogateescape"), {Status.SYNTAX}),
    "cookie": ("# coding: utf-16\nx = 1", {Status.OK}),
    "crlf": ("x = 1\r\ny = 2\r\n", {Status.OK}),
    "form feed": ("x = 1\n\fy = 2", {Status.OK}),
    "long line": ("x = '" + "a" * 500_000 + "'", {Status.OLE, Status.MLE}),
    "too long": ("#" * (1 << 20), {Status.SYNTAX}),
    "deep parentheses": ("(" * 100_000, {Status.SYNTAX, Status.MLE}),
    "deep brackets": ("x = " + "[" * 90 + "]" * 90, {Status.OK}),
    "many lines": ("x=0\n" * 100_000, {Status.OK, Status.MLE, Status.TLE_CPU, Status.TLE_WALL}),
    "many terms": (
        "x = " + "1+" * 200_000 + "1",
        {Status.SYNTAX, Status.RUNTIME, Status.MLE, Status.SIGNAL, Status.TLE_CPU},
    ),
    "many minuses": (
        "x = " + "-" * 200_000 + "1",
        {Status.SYNTAX, Status.RUNTIME, Status.MLE, Status.SIGNAL, Status.TLE_CPU},
    ),
}


@pytest.mark.parametrize("name", SOURCES)
def test_odd_sources(sandbox: Sandbox, name: str) -> None:
    source, expected = SOURCES[name]
    first, after = sandbox.run([Job(source, "python"), NORMAL])
    if sandbox.health().backend == "embedded":
        expected = expected | {Status.MLE, Status.TLE_CPU, Status.POISON}
    assert first.status in expected, first.detail
    assert (after.status, after.trace) == (Status.OK, NORMAL_TRACE)


def test_the_cpu_limit_is_kept(sandbox: Sandbox) -> None:
    verdict = sandbox.run([Job("while 1: pass", "python")])[0]
    assert verdict.status is Status.TLE_CPU
    assert LIMITS.cpu_ms <= verdict.cpu_ms
