"""What a long run must not do: grow, leave something behind, or answer otherwise the second time."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kolmocli.sandbox import Job, Sandbox

SOAK = Path(__file__).parents[2] / "benchmarks" / "soak.py"


@pytest.mark.parametrize(
    "backend, programs",
    [
        ("embedded", 1_000),
        pytest.param("docker", 1_000, marks=pytest.mark.docker),
        pytest.param("docker", 10_000, marks=[pytest.mark.docker, pytest.mark.slow]),
    ],
)
def test_nothing_grows(backend: str, programs: int) -> None:
    done = subprocess.run(
        [sys.executable, str(SOAK), "--sandbox", backend, "--programs", str(programs), "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["lost"], report["verdict_differences"], report["orphans"], report["infra"]) == (0, 0, 0, 0)
    assert report["programs"] == programs
    assert report["descriptors"]["end"] <= report["descriptors"]["start"] + 4
    for process, grown in (("host", 8), ("supervisor", 4), ("template", 4)):
        memory = report.get(f"{process}_rss_mib", {"start": 0, "end": 0})
        assert memory["end"] <= memory["start"] + grown, process  # MiB


@pytest.mark.docker
def test_floods_do_not_reach_the_disk(docker_sandbox: Sandbox) -> None:
    """Whatever programs print or write, the engine's folder stays as it is: there is no log, and no writable layer."""
    folder = Path("/var/lib/docker/containers")
    if not folder.is_dir():
        pytest.skip("the engine's files are not on this machine")
    flood = [Job("while 1: print('x' * 10**6)", "python"), Job("print('x' * 10**9)", "python")] * 2
    before = shutil.disk_usage(folder).used
    docker_sandbox.run(flood)
    assert shutil.disk_usage(folder).used - before < 50 << 20
    assert not [log for log in folder.rglob("*-json.log") if log.stat().st_size > 1 << 20]
