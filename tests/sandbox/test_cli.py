"""`kolmo sandbox`: results on stdout, in order, whatever the programs did."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kolmocli.cli.sandbox import app
from kolmocli.errors import EnvironmentMissing, UsageError


@pytest.fixture(params=[pytest.param("docker", marks=pytest.mark.docker), "embedded"])
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_run_prints_every_file_in_order(tmp_path: Path, backend: str) -> None:
    programs = {"good.py": "a = set_list([3, 1])", "bad.py": "1 / 0", "broken.py": "("}
    for name, text in programs.items():
        (tmp_path / name).write_text(text)
    files = [str(tmp_path / name) for name in programs]
    done = CliRunner().invoke(app, ["run", *files, "--sandbox", backend, "--json"], catch_exceptions=False)
    assert done.exit_code == 0
    report = json.loads(done.stdout)
    assert report["schema_version"] == 1
    assert [r["status"] for r in report["results"]] == ["OK", "RUNTIME", "SYNTAX"]
    assert [r["value"] for r in report["results"]] == [[3, 1], None, None]


def test_check_lists_every_promise(backend: str) -> None:
    done = CliRunner().invoke(app, ["check", "--sandbox", backend, "--json"], catch_exceptions=False)
    report = json.loads(done.stdout)
    assert done.exit_code == 0
    assert report["ok"]
    assert all({"promise", "expected", "found", "ok"} == set(p) for p in report["promises"])


def test_docker_without_an_engine_names_the_mend(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent/docker.sock")
    (tmp_path / "p.py").write_text("1")
    done = CliRunner().invoke(app, ["run", str(tmp_path / "p.py"), "--sandbox", "docker"])
    assert isinstance(done.exception, EnvironmentMissing)
    assert done.exception.exit_code == 4
    assert "embedded" in str(done.exception)


def test_a_missing_file_is_a_usage_error() -> None:
    done = CliRunner().invoke(app, ["run", "nowhere.py", "--sandbox", "embedded"])
    assert isinstance(done.exception, UsageError)
