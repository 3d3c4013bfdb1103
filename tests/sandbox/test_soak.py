"""What a long run must not do: grow, leave something behind, or answer otherwise the second time."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from kolmocli.sandbox import Job, Sandbox
from kolmocli.sandbox.docker.image import client

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
    assert (report["programs"], report["wrong"]) == (programs, 0)
    assert report["descriptors"]["end"] <= report["descriptors"]["start"] + 4
    for process, grown in (("host", 8), ("supervisor", 4), ("template", 4)):
        memory = report.get(f"{process}_rss_mib", {"start": 0, "end": 0})
        assert memory["end"] <= memory["start"] + grown, process  # MiB


def test_a_soak_that_was_ended_goes_on(tmp_path: Path) -> None:
    command = [sys.executable, str(SOAK), "--sandbox", "embedded", "--programs", "200", "--state", str(tmp_path / "s")]
    first = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert first.stderr is not None
    assert first.stderr.readline().startswith("soak: 20 programs")
    first.terminate()
    out, error = first.communicate(timeout=600)
    assert first.returncode == 143, error
    done = json.loads((tmp_path / "s").read_text())["done"]
    assert 0 < done < 200
    assert out.splitlines()[-1].startswith(f"soak: {done} of 200 programs: none lost")
    again = subprocess.run(command, capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
    assert again.stderr.startswith(f"soak: {done + 20} programs")
    assert again.stdout.splitlines()[-1].startswith(
        "soak: 200 of 200 programs: none lost, none scored wrong, no verdict"
    )
    other = subprocess.run([*command, "--programs", "400"], capture_output=True, text=True, check=False)
    assert (other.returncode, other.stderr) == (
        1,
        f"{tmp_path / 's'}: of 200 programs and not of 400; name another file\n",
    )


@pytest.mark.parametrize("damaged", ["", "{", "[1]", '{"done": 3}', '{"programs": 200, "other": 1}'])
def test_a_damaged_state_is_refused(tmp_path: Path, damaged: str) -> None:
    (tmp_path / "s").write_text(damaged)
    command = [sys.executable, str(SOAK), "--sandbox", "embedded", "--programs", "200", "--state", str(tmp_path / "s")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    refused = f"{tmp_path / 's'}: not a state of this script; remove it, or name another file\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", refused)
    assert (tmp_path / "s").read_text() == damaged


@pytest.mark.docker
def test_floods_do_not_reach_the_disk(docker_sandbox: Sandbox) -> None:
    """Whatever programs print or write, the engine's folder stays as it is: there is no log, and no writable layer."""
    folder = Path("/var/lib/docker/containers")
    if not folder.is_dir():
        pytest.skip("the engine's files are not on this machine")
    flood = [Job("while 1: print('x' * 10**6)", "python"), Job("print('x' * 10**9)", "python")] * 2
    docker_sandbox.run(flood)
    with contextlib.closing(client()) as engine:
        ours = [each for each in engine.api.containers(size=True) if each["Names"][0].startswith("/kolmo-")]
    assert ours and sum(each.get("SizeRw", 0) for each in ours) < 1 << 20
    assert not [log for log in folder.rglob("*-json.log") if log.stat().st_size > 1 << 20]
