"""Keys of earlier versions: files and run folders that have them are read, and one line says what became of each."""

from __future__ import annotations

from pathlib import Path

import pytest

from kolmocli.config.file import load_config, parse_settings
from kolmocli.errors import UsageError

FAMILIES = "families: {runs: {levels: [{}]}}\n"


def noted(tmp_path: Path, text: str) -> list[str]:
    """What loading a file with this text says of its keys."""
    (tmp_path / "c.yaml").write_text(FAMILIES + text)
    said: list[str] = []
    assert load_config(tmp_path / "c.yaml", note=said.append) == load_config(tmp_path / "c.yaml")
    return [line.removeprefix(f"{tmp_path}/") for line in said]


def test_rollouts_are_not_stopped_any_more(tmp_path: Path) -> None:
    (said,) = noted(tmp_path, "training: {stop_hopeless: 0.1, baseline: value}")
    assert said.startswith("c.yaml: training.stop_hopeless does nothing any more: ")
    assert "stop_hopeless" not in load_config(tmp_path / "c.yaml").model_dump()["training"]


@pytest.mark.parametrize("text", ["", "training: {stop_hopeless: null}", "training: {steps: 3}"])
def test_what_was_never_switched_on_is_not_mentioned(tmp_path: Path, text: str) -> None:
    assert noted(tmp_path, text) == []


def test_what_is_gone_is_refused_where_somebody_types_it(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(FAMILIES)
    with pytest.raises(
        UsageError, match=r"^--set training.stop_hopeless=0.1: .* does nothing any more: .*; remove it$"
    ):
        load_config(tmp_path / "c.yaml", parse_settings(["training.stop_hopeless=0.1"]))
