"""`kolmo doctor` on a machine without a Docker engine, and on one with it."""

from __future__ import annotations

import json
from importlib.metadata import metadata, version
from pathlib import Path

import pytest

from kolmocli.cli.doctor import examine_extras
from kolmocli.processor import multiplies_bf16
from tests.conftest import NO_ENGINE, Run


def test_without_an_engine_the_embedded_sandbox_would_be_used(kolmo: Run) -> None:
    done = kolmo("doctor", "--json", env=NO_ENGINE)
    assert (done.returncode, done.stderr) == (0, "")
    report = json.loads(done.stdout)
    assert report["schema_version"] == 1
    assert report["docker"]["answers"] is False
    assert report["docker"]["reason"]
    assert report["would_use"]["sandbox"] == "embedded"
    assert set(report["extras"]) == set(metadata("kolmocli").get_all("Provides-Extra") or [])
    assert {"lora", "monarch", "vllm"} <= set(report["extras"])
    assert report["cpu_cores"] >= 1
    assert report["memory_gib"] > 0
    assert report["multiplies_bf16"] == multiplies_bf16()

    table = kolmo("doctor", env=NO_ENGINE)
    assert table.returncode == 0
    assert "answers no" in table.stdout


def test_an_extra_is_known_from_the_metadata_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [
        "Metadata-Version: 2.4", "Name: kolmocli", "Version: 9", "Requires-Dist: rich", "Requires-Dist: pytest; extra == 'one'",
        "Requires-Dist: pytest; extra == 'two'", "Requires-Dist: rich>=14; extra == 'two'",
        "Requires-Dist: pytest; extra == 'half'", "Requires-Dist: no-such-package; extra == 'half'",
        "Requires-Dist: pytest; extra == 'elsewhere'",
        "Requires-Dist: no-such-package; (sys_platform == 'amiga') and extra == 'elsewhere'",
        "Requires-Dist: typer; python_version > '3'",
        "Requires-Dist: kolmocli[two]; extra == 'same'", "Requires-Dist: kolmocli[one,two]; extra == 'all'",
        "Requires-Dist: typer; extra == 'all'", "Requires-Dist: kolmocli[half,one]; extra == 'lacking'",
        *(f"Provides-Extra: {extra}" for extra in ("one", "two", "half", "elsewhere", "same", "all", "lacking")),
    ]  # fmt: skip
    folder = tmp_path / "kolmocli-9.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("\n".join(lines) + "\n")
    monkeypatch.syspath_prepend(tmp_path)
    rich, pytest_ = version("rich"), version("pytest")
    expected = {
        "one": pytest_, "two": f"pytest {pytest_} rich {rich}", "half": None, "elsewhere": pytest_, "same": "two",
        "all": f"one two typer {version('typer')}", "lacking": None,
    }  # fmt: skip
    assert examine_extras() == expected


@pytest.mark.docker
def test_with_an_engine_docker_would_be_used(kolmo: Run) -> None:
    report = json.loads(kolmo("doctor", "--json").stdout)
    assert report["docker"]["answers"] is True
    assert report["docker"]["version"]
    assert report["would_use"]["sandbox"] == "docker"
