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


def test_odd_files_get_a_verdict_each(tmp_path: Path, backend: str) -> None:
    """Empty, not UTF-8, without a value, and larger than JSON's numbers usually are."""
    programs = {"empty.py": b"", "latin.py": b"x = '\xff'", "quiet.py": b"print(5)", "big.py": b"2 ** 200"}
    for name, data in programs.items():
        (tmp_path / name).write_bytes(data)
    files = [str(tmp_path / name) for name in programs]
    done = CliRunner().invoke(
        app, ["run", *files, "--language", "python", "--sandbox", backend, "--json"], catch_exceptions=False
    )
    results = json.loads(done.stdout)["results"]
    assert [r["status"] for r in results] == ["OK", "SYNTAX", "OK", "OK"]
    assert [r["value"] for r in results] == [None, None, None, [2**200]]
    assert [r["file"] for r in results] == files
    assert all({"status", "value", "cpu_ms", "wall_ms", "detail"} <= set(r) for r in results)


def test_a_program_may_come_from_stdin(backend: str) -> None:
    done = CliRunner().invoke(
        app, ["run", "-", "--sandbox", backend], input="a = set_list([7])", catch_exceptions=False
    )
    assert (done.exit_code, done.stdout.split()[:2], done.stdout.split()[-1]) == (0, ["-:", "OK"], "7")


def test_a_folder_is_a_usage_error(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["run", str(tmp_path), "--sandbox", "embedded"])
    assert isinstance(done.exception, UsageError)


def test_a_runtime_belongs_to_an_engine() -> None:
    done = CliRunner().invoke(app, ["check", "--sandbox", "embedded", "--runtime", "runsc"])
    assert isinstance(done.exception, UsageError)


@pytest.mark.docker
def test_the_runtime_is_the_one_that_was_asked_for() -> None:
    done = CliRunner().invoke(app, ["check", "--runtime", "runc", "--json"], catch_exceptions=False)
    promises = {p["promise"]: p for p in json.loads(done.stdout)["promises"]}
    assert promises["runtime"] == {"promise": "runtime", "expected": "runc", "found": "runc", "ok": True}


@pytest.mark.docker
def test_a_runtime_that_the_engine_lacks_is_named_with_those_it_has() -> None:
    done = CliRunner().invoke(app, ["check", "--runtime", "nosuch"])
    assert isinstance(done.exception, EnvironmentMissing)
    assert "'nosuch'" in str(done.exception) and "runc" in str(done.exception)
