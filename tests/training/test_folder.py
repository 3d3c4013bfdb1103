from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from kolmocli.config import Config
from kolmocli.config_file import load_config
from kolmocli.errors import UsageError
from kolmocli.training.folder import claim_folder, refuse_changed

CONFIG = Config.model_validate({"name": "n", "families": {"a": {"levels": [{}]}}})


def changed(**settings: Any) -> dict[str, Any]:
    data = CONFIG.model_dump(mode="json")
    for key, value in settings.items():
        *path, last = key.split("__")
        part = data
        for name in path:
            part = part[name]
        part[last] = value
    return data


def test_a_new_folder_gets_the_configuration_and_the_link(tmp_path: Path) -> None:
    folder = claim_folder(CONFIG, tmp_path / "runs" / "one", resume=False)
    assert load_config(folder / "config.yaml") == CONFIG
    assert (tmp_path / "runs" / "latest").resolve() == folder


def test_the_link_points_to_the_latest_run(tmp_path: Path) -> None:
    for name in ("one", "two"):
        claim_folder(CONFIG, tmp_path / name, resume=False)
    assert os.readlink(tmp_path / "latest") == "two"
    assert not list(tmp_path.glob(".latest*"))


def test_a_used_folder_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").touch()
    with pytest.raises(UsageError, match="is in use; resume it with --resume"):
        claim_folder(CONFIG, tmp_path, resume=False)
    assert [p.name for p in tmp_path.iterdir()] == ["mine.txt"]


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(UsageError):
            claim_folder(CONFIG, place, resume=False)


def test_resuming_keeps_the_configuration_of_the_run(tmp_path: Path) -> None:
    claim_folder(CONFIG, tmp_path / "run", resume=False)
    claim_folder(CONFIG.model_copy(update={"name": "other"}), tmp_path / "run", resume=True)
    assert load_config(tmp_path / "run" / "config.yaml").name == "n"


def test_a_folder_of_somebody_called_latest_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "latest").mkdir()
    claim_folder(CONFIG, tmp_path / "run", resume=False)
    assert not (tmp_path / "latest").is_symlink()


def test_without_a_name_runs_are_numbered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert [claim_folder(CONFIG, None, resume=False).name for _ in range(2)] == ["n-seed0-1", "n-seed0-2"]


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"training__steps": 7}, "training.steps: 100 -> 7"),
        ({"seed": 3}, "seed: 0 -> 3"),
        ({"reward__kind": "binary"}, "reward.kind: relative -> binary"),
        ({"families__b": {"levels": []}}, "families.b: None -> "),
    ],
)
def test_a_change_that_would_change_the_run_is_named(settings: dict[str, Any], named: str) -> None:
    with pytest.raises(UsageError, match="the configuration has changed") as refused:
        refuse_changed(changed(), changed(**settings))
    assert named in str(refused.value)


@pytest.mark.parametrize(
    "settings",
    [{}, {"checkpoint_every": 3}, {"sandbox__workers": 9, "sandbox__backend": "docker"}, {"model__device": "cpu"}],
)
def test_what_changes_no_number_may_change(settings: dict[str, Any]) -> None:
    refuse_changed(changed(), changed(**settings))
