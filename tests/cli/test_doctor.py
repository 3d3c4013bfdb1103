"""`kolmo doctor` on a machine without a Docker engine, and on one with it."""

from __future__ import annotations

import json

import pytest

from tests.conftest import NO_ENGINE, Run


def test_without_an_engine_the_embedded_sandbox_would_be_used(kolmo: Run) -> None:
    done = kolmo("doctor", "--json", env=NO_ENGINE)
    assert (done.returncode, done.stderr) == (0, "")
    report = json.loads(done.stdout)
    assert report["schema_version"] == 1
    assert report["docker"]["answers"] is False
    assert report["docker"]["reason"]
    assert report["would_use"]["sandbox"] == "embedded"
    assert report["cpu_cores"] >= 1
    assert report["memory_gib"] > 0

    table = kolmo("doctor", env=NO_ENGINE)
    assert table.returncode == 0
    assert "answers no" in table.stdout


@pytest.mark.docker
def test_with_an_engine_docker_would_be_used(kolmo: Run) -> None:
    report = json.loads(kolmo("doctor", "--json").stdout)
    assert report["docker"]["answers"] is True
    assert report["docker"]["version"]
    assert report["would_use"]["sandbox"] == "docker"
