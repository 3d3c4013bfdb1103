from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from kolmocli.config import Config
from kolmocli.config.file import load_config
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


def test_what_a_killed_process_left_aside_is_no_use_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / ".config.yaml.17.tmp").touch()
    assert (claim_folder(CONFIG, tmp_path / "run", resume=False) / "config.yaml").is_file()


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
        ({"families__b": {"levels": [{}]}}, "families.b: None -> "),
        ({"model__load_in_8bit": True}, "model.load_in_8bit: False -> True"),
        ({"training__lora__rank": 4}, "training.lora.rank: None -> 4"),
    ],
)
def test_a_change_that_would_change_the_run_is_named(settings: dict[str, Any], named: str) -> None:
    with pytest.raises(UsageError, match="the configuration has changed") as refused:
        refuse_changed(changed(), Config.model_validate(changed(**settings)))
    assert named in str(refused.value)


def test_many_changes_are_counted_and_long_ones_cut() -> None:
    settings = {f"training__{key}": 7 for key in ("steps", "learning_rate", "max_lines", "max_new_tokens", "gamma")}
    now = Config.model_validate(changed(name="x" * 100, seed=3, **{**settings, "training__gamma": 0.5}))
    with pytest.raises(UsageError) as refused:
        refuse_changed(changed(), now)
    assert "; and 2 more); resume with" in str(refused.value)
    assert "name: n -> " + "x" * 59 + "…;" in str(refused.value)


def test_a_key_that_the_saved_configuration_does_not_know_counts_with_its_default() -> None:
    saved = changed()
    del saved["training"]["lora"]
    refuse_changed(saved, CONFIG)
    with pytest.raises(UsageError, match=r"training\.lora\.rank: None -> 4"):
        refuse_changed(saved, Config.model_validate(changed(training__lora={"rank": 4})))


def test_a_configuration_of_another_version_is_said_to_be_one() -> None:
    with pytest.raises(UsageError, match="of another version of kolmo"):
        refuse_changed({**changed(), "gone": 1}, CONFIG)


@pytest.mark.parametrize(
    "settings",
    [{}, {"checkpoint_every": 3}, {"sandbox__workers": 9, "sandbox__backend": "docker"}, {"model__device": "cpu"}],
)
def test_what_changes_no_number_may_change(settings: dict[str, Any]) -> None:
    refuse_changed(changed(), Config.model_validate(changed(**settings)))
