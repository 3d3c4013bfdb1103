"""`kolmo model` as a command: what it prints, and that every command finds a model of the cache by its name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kolmocli.cli.app import SUMMARY, app
from kolmocli.errors import EnvironmentMissing, UsageError
from tests.models.samples import LAYERS, TOKENS, write_gguf


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KOLMO_MODELS", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "cache"


def kolmo(*arguments: object) -> None:
    app(list(map(str, arguments)), prog_name="kolmo", standalone_mode=False)


def said(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    kolmo(*arguments, "--json")
    return dict(json.loads(capsys.readouterr().out))


def test_a_file_is_imported_listed_shown_used_and_removed(
    cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_gguf(tmp_path / "own.gguf")
    shown = said(capsys, "model", "import", "own.gguf")
    assert shown.pop("schema_version") == 1
    parameters, size = shown.pop("parameters"), shown.pop("bytes")
    assert 100_000 > parameters > 50_000
    assert size > 2 * parameters
    assert len(shown.pop("sha256")) == 64
    assert shown == {
        "name": "own", "architecture": "LlamaForCausalLM", "layers": LAYERS, "hidden": 64, "vocabulary": len(TOKENS),
        "context": 256, "precision": "bf16", "chat_template": True, "weights": "Q4_1 of a GGUF file, dequantised",
        "source": "the file own.gguf", "licence": "mit", "folder": str(cache / "own"),
    }  # fmt: skip
    listed = said(capsys, "model", "list")
    assert [model["name"] for model in listed["models"]] == ["own"]
    assert [model["name"] for model in listed["available"]] == ["smollm2"]
    assert said(capsys, "model", "show", "own")["parameters"] == parameters
    kolmo("model", "list")
    out = capsys.readouterr().out
    assert "own" in out
    assert "kolmo model get smollm2" in out
    report = said(capsys, "eval", "own", "--curriculum", "digits", "--tasks", 2, "--sandbox", "embedded")
    assert report["model"] == "own"
    assert report["accuracy"] == 0
    kolmo("train", "digits", "--model", "own", "--dry-run", "--json", "--set", "training.learning_rate=1e-5")
    out, err = capsys.readouterr()
    plan = json.loads(out)
    assert plan["model"]["parameters"] == parameters
    assert (plan["config"]["warmup"]["max_steps"], plan["config"]["training"]["learning_rate"]) == (0, 1e-5)
    assert "own is pretrained and digits.yaml is for a small model: warmup.max_steps 0;" in err
    assert said(capsys, "model", "remove", "own")["removed"] == "own"
    assert said(capsys, "model", "list")["models"] == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["eval", "smollm2"],
        ["eval", "smollm2", "--curriculum", "digits"],
        ["train", "digits", "--model", "smollm2", "--dry-run"],
        ["train", "digits", "--model", "smollm2"],
        ["solve", "--model", "smollm2", "1", "2", "3"],
        ["curriculum", "calibrate", "smollm2", "digits"],
    ],
)
def test_a_known_model_that_is_not_here_names_the_command_that_brings_it(arguments: list[str], cache: Path) -> None:
    with pytest.raises(EnvironmentMissing, match="bring it with: kolmo model get smollm2"):
        kolmo(*arguments)


def test_what_is_not_there_is_one_line(cache: Path) -> None:
    with pytest.raises(UsageError, match="bring it with: kolmo model get smollm2"):
        kolmo("model", "show", "smollm2")
    with pytest.raises(UsageError, match="no model of that name in "):
        kolmo("model", "remove", "mine")


def test_the_first_line_of_the_help_is_one_for_all(capsys: pytest.CaptureFixture[str]) -> None:
    kolmo("--help")
    assert " ".join(capsys.readouterr().out.split()).startswith(
        f"Usage: kolmo [OPTIONS] COMMAND [ARGS]... {SUMMARY} Options:"
    )
