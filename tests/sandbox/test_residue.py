"""Nothing of one program is in the memory of the next; a naive fork server shows that this test can fail."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from kolmocli.sandbox import Job, Limits, Status, open_sandbox

from .residue import IN_A_CONTAINER, LENGTH, SCANNER, secret_program

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="the scanner uses a system call by number")


def test_a_naive_fork_server_leaks() -> None:
    lines = [json.dumps(secret_program()), json.dumps(SCANNER)]
    server = Path(__file__).with_name("naive_server.py")
    done = subprocess.run(
        [sys.executable, str(server)],
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    secret, (found, seen) = map(json.loads, done.stdout.splitlines())
    assert len(secret) == LENGTH
    assert seen > 100
    assert found > 0


@pytest.mark.docker
def test_a_container_does_not() -> None:
    sandbox = open_sandbox("docker", limits=Limits(cpu_ms=20_000, wall_ms=60_000), workers=1)
    try:
        secret, *scans = sandbox.run([Job(secret_program(), "python")] + [Job(IN_A_CONTAINER, "python")] * 2)
    finally:
        sandbox.close()
    assert secret.status is Status.OK
    assert {scan.container for scan in scans} == {secret.container}
    for scan in scans:
        assert scan.status is Status.OK, scan.detail
        assert scan.value is not None
        found, seen = scan.value
        assert seen > 100
        assert found == 0
