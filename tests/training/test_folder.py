from __future__ import annotations

import errno
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kolmocli.config import Config
from kolmocli.config.file import load_config
from kolmocli.config.machine import EngineSettings
from kolmocli.errors import UsageError
from kolmocli.training.folder import held, new_folder, point_latest, refuse_changed, resumable, resume_command

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


def claim(folder: Path | None, config: Config = CONFIG) -> Path:
    """A folder is claimed, and its run ends at once."""
    with new_folder(config, folder, print) as claimed:
        point_latest(claimed)
        return claimed


def test_a_new_folder_gets_the_configuration_and_the_link(tmp_path: Path) -> None:
    folder = claim(tmp_path / "runs" / "one")
    assert load_config(folder / "config.yaml") == CONFIG
    assert (tmp_path / "runs" / "latest").resolve() == folder


def test_the_link_points_to_the_latest_run(tmp_path: Path) -> None:
    for name in ("one", "two"):
        claim(tmp_path / name)
    assert os.readlink(tmp_path / "latest") == "two"
    assert not list(tmp_path.glob(".latest*"))


def test_a_used_folder_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").touch()
    with pytest.raises(UsageError, match="is in use; resume it with --resume"):
        claim(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["mine.txt"]


def test_what_a_killed_process_left_aside_is_no_use_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    for name in (".config.yaml.17.tmp", ".lock"):
        (tmp_path / "run" / name).touch()
    assert (claim(tmp_path / "run") / "config.yaml").is_file()


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for place, words in ((tmp_path / "file", "is no folder"), (tmp_path / "file" / "below", "below")):
        with pytest.raises(UsageError, match=words):
            claim(place)


def test_a_folder_of_somebody_called_latest_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "latest").mkdir()
    claim(tmp_path / "run")
    assert not (tmp_path / "latest").is_symlink()


# --- one run, one process


def test_a_folder_is_held_by_one_process_which_is_named(tmp_path: Path) -> None:
    with held(tmp_path, print):
        mine = rf"process {os.getpid()} on \S+ trains there; wait until it ends, or stop it first"
        with pytest.raises(UsageError, match=mine), held(tmp_path, print):
            pass
        with pytest.raises(UsageError, match="trains there"):
            claim(tmp_path)
        assert not (tmp_path / "config.yaml").exists()
    with held(tmp_path, print):
        pass


HOLDER = """
import pathlib, subprocess, sys, time
from kolmocli.training.folder import held
with held(pathlib.Path(sys.argv[1]), print):
    subprocess.Popen(["sleep", "60"])  # as a sandbox would have workers
    print("held", flush=True)
    time.sleep(60)
"""


def test_the_lock_dies_with_its_process_and_not_with_its_children(tmp_path: Path) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, tmp_path], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        assert holder.stdout is not None and holder.stdout.readline() == "held\n"
        with pytest.raises(UsageError, match=f"process {holder.pid} on "), held(tmp_path, print):
            pass
        holder.kill()
        holder.wait()
        with held(tmp_path, print):
            pass
    finally:
        os.killpg(holder.pid, signal.SIGKILL)
        holder.communicate()


def test_a_file_system_without_locks_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(file: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", none)
    said: list[str] = []
    with held(tmp_path, said.append):
        assert said == [f"{tmp_path}: cannot be locked (No locks available); make sure no other process trains there"]


def test_a_lock_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / ".lock").symlink_to(tmp_path / "mine")
    with pytest.raises(UsageError, match="run: cannot be used as a run folder"), held(tmp_path / "run", print):
        pass
    assert (tmp_path / "mine").read_text() == "mine"


def test_a_link_to_a_run_is_followed_once(tmp_path: Path) -> None:
    for name in ("one", "two"):
        claim(tmp_path / name)
    assert resumable(tmp_path / "latest") == tmp_path / "two"
    (tmp_path / "again").symlink_to("latest")
    assert resumable(tmp_path / "again") == tmp_path / "two"
    (tmp_path / "round").symlink_to("round")
    with pytest.raises(UsageError, match="no run in"):
        resumable(tmp_path / "round")


def test_the_command_that_goes_on_can_be_copied() -> None:
    assert resume_command(Path("runs/x-1")) == "kolmo train --resume --run-dir runs/x-1"
    command = resume_command(Path("my runs/$x"), ["my tasks.py", "other"])
    assert shlex.split(command)[3:] == ["--run-dir", "my runs/$x", "--plugin", "my tasks.py", "--plugin", "other"]
    engine = EngineSettings(kind="monarch", hosts=["tcp://a:1", "tcp://b:1"], insecure=True)
    assert shlex.split(resume_command(Path("x"), engine=engine))[5:] == ["--hosts", "tcp://a:1,tcp://b:1", "--insecure"]
    assert resume_command(Path("x"), engine=EngineSettings()).endswith("--run-dir x")
    assert resume_command(Path("x"), backend="http://a:1").endswith("--run-dir x --sandbox http://a:1")
    assert resume_command(Path("x"), backend="docker").endswith("--run-dir x")


def test_without_a_name_runs_are_numbered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert [claim(None).name for _ in range(2)] == ["n-seed0-1", "n-seed0-2"]


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
