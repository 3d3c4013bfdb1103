"""The embedded interpreter gives Python's values, or refuses: hundreds of small programs, each run by both sandboxes."""

from __future__ import annotations

from pathlib import Path

import pytest

from kolmocli.sandbox import Job, Sandbox, Status

PROGRAMS = Path(__file__).with_name("snippets.txt").read_text("utf-8").rstrip("\n").split("\n---\n")


@pytest.mark.docker
def test_the_same_or_refused(docker_sandbox: Sandbox, embedded_sandbox: Sandbox) -> None:
    jobs = [Job(program, "python", group=number + 1) for number, program in enumerate(PROGRAMS)]
    real, other = docker_sandbox.run(jobs), embedded_sandbox.run(jobs)
    alike = [(r.status, r.trace) == (o.status, o.trace) for r, o in zip(real, other, strict=True)]
    guessed = [
        (program, r, o)
        for program, r, o, same in zip(PROGRAMS, real, other, alike, strict=True)
        if not same and o.status is not Status.DENIED
    ]
    assert guessed == []
    assert sum(alike) > 0.7 * len(PROGRAMS)  # it does not refuse everything
