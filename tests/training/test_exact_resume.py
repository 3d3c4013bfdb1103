"""A run that was stopped and resumed writes what an unbroken one writes, times aside, whatever is trained and how."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from kolmocli.checkpoints import checkpoints, latest_checkpoint
from kolmocli.config import Config
from kolmocli.errors import UsageError
from kolmocli.training import opening as module
from kolmocli.training.recorder import Recorder
from kolmocli.training.run import Run, Stopped
from kolmocli.training.signals import StopRequest
from tests.training.runs import CURRICULUM, events, metrics, run, small_config


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve steps in one sitting."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    run(small_config(), folder)
    assert [r["step"] for r in metrics(folder)] == [*range(1, 26), *range(1, 13)]
    return folder


@pytest.fixture(scope="module")
def half(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same, stopped after eight; to be copied."""
    folder = tmp_path_factory.mktemp("half") / "run"
    summary = run(small_config(), folder, stop_at=8)
    assert (summary["steps"], Path(summary["checkpoint"]).name) == (8, "step_000008")
    return folder


@pytest.fixture
def stopped(half: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(half, tmp_path / "stopped"))


def weights(folder: Path, name: str = "model.safetensors") -> bytes:
    found = latest_checkpoint(folder)
    assert found is not None
    return (found / name).read_bytes()


def test_a_run_twice_and_split_by_a_resume_is_the_same(tmp_path: Path) -> None:
    config = small_config(training={"steps": 16})
    one, again, split = (tmp_path / name for name in ("one", "again", "split"))
    run(config, one)
    run(config, again)
    run(config, split, stop_at=8)
    assert metrics(split) == metrics(one)[: 25 + 8]
    assert run(config, split, resume=True)["steps"] == 16
    assert metrics(one) == metrics(again) == metrics(split)
    assert sum(r["grad_norm"] > 0 for r in metrics(one)) > 25 + 8, "nothing was learnt that could differ"
    assert weights(one) == weights(again) == weights(split)


EVERY_SWITCH: dict[str, Any] = {
    "families": {"runs": {**yaml.safe_load(CURRICULUM)["families"]["runs"], "bounds": [2, 2]}},
    "training": {"steps": 6, "best_of": 2, "shaping": 0.5, "gamma": 0.9},
    "reward": {"partial": 0.1},
    "hints": {"most": 0.9, "start": 0.5},
    "self_play": {"share": 0.5, "band": 0.5},
}


@pytest.mark.parametrize(
    "changes",
    [
        {"training": {"baseline": "ema", "steps": 4}},
        {"training": {"optimizer": "adamw8bit", "steps": 4}},
        {"training": {"lora": {"rank": 2}, "steps": 4}},
        {"training": {"optimizer": "adamw8bit", "steps": 4}, "model": {"load_in_8bit": True}},
        {"controller": {"kind": "uniform"}, "training": {"steps": 4}},
        {"controller": {"kind": "sec"}, "training": {"steps": 4, "batch_size": 32, "group_size": 8}},
        {"screening": {"draws": 3}, "training": {"steps": 6}},
        {"pilot": {"draws": 3}, "training": {"steps": 4}},
        {"refill": {"most": 3}, "training": {"steps": 4}},
        EVERY_SWITCH,
    ],
    ids=["ema", "adamw8bit", "adapters", "8 bits", "uniform", "sec", "screening", "pilot", "refill", "every switch"],
)
def test_whatever_is_trained(changes: dict[str, Any], tmp_path: Path) -> None:
    config = small_config(**changes)
    run(config, tmp_path / "whole")
    run(config, tmp_path / "split", stop_at=2)
    run(config, tmp_path / "split", resume=True)
    assert metrics(tmp_path / "split") == metrics(tmp_path / "whole")


def test_a_value_head_that_stops_rollouts_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kolmocli.learning.value.RIPE", 2)
    config = small_config(training={"baseline": "value", "stop_hopeless": 0.9, "temperature": 1.2, "steps": 4})
    run(config, tmp_path / "whole")
    run(config, tmp_path / "split", stop_at=2)
    run(config, tmp_path / "split", resume=True)
    assert metrics(tmp_path / "split") == metrics(tmp_path / "whole")
    steps = [r for r in metrics(tmp_path / "whole") if r["phase"] == "rl"]
    assert all("value_loss" in r for r in steps)
    assert [r["stopped"] for r in steps[:2]] == [0, 0]
    assert all(r["stopped"] for r in steps[2:])


# --- stopped in odd places


def stop_after(owner: type, name: str, count: int, patch: pytest.MonkeyPatch) -> None:
    """Let a signal arrive at the call number `count` of this method."""
    original, calls, opened = getattr(owner, name), [], list[StopRequest]()

    def counted(self: Any, *arguments: Any, **named: Any) -> Any:
        calls.append(arguments)
        if len(calls) == count:
            opened[-1].signal = 15
        return original(self, *arguments, **named)

    def enter(self: StopRequest) -> StopRequest:
        opened.append(self)
        return self

    patch.setattr(StopRequest, "__enter__", enter)
    patch.setattr(owner, name, counted)


@pytest.mark.parametrize(
    ("owner", "name", "count"),
    [
        (Recorder, "warm_step", 2),
        (Run, "check_stop", 26),  # after the warm start's: in the middle of the first evaluation
        (Recorder, "step", 7),
        (Recorder, "step", 10),  # before the evaluation of step 10
    ],
)
def test_a_signal_in_an_odd_place_loses_nothing(
    whole: Path, tmp_path: Path, owner: type, name: str, count: int
) -> None:
    folder = tmp_path / "run"
    with pytest.MonkeyPatch.context() as patch:
        stop_after(owner, name, count, patch)
        with pytest.raises(Stopped) as stopped:
            run(small_config(), folder)
    assert stopped.value.exit_code == 143
    assert (folder / "summary.json").is_file()
    run(small_config(), folder, resume=True)
    assert metrics(folder) == metrics(whole)
    assert [e["name"] for e in events(folder, "eval")] == ["before", "step 5", "step 10", "after"]


def test_a_finished_run_has_nothing_left_to_do(whole: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(whole, tmp_path / "done"))
    run(small_config(), folder, resume=True)
    assert metrics(folder) == metrics(whole)
    assert len(events(folder, "eval")) == 4


# --- which checkpoint


def said(capsys: pytest.CaptureFixture[str], config: Config, folder: Path) -> str:
    """What a resumption says before it trains, which it does not."""
    from kolmocli.training.train import RunOptions, train

    train(config, RunOptions(run_dir=folder, resume=True, stop_at=0))
    return capsys.readouterr().err


def test_it_says_which_checkpoint_it_takes(stopped: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert f"resuming from {stopped}/checkpoints/step_000008\n" in said(capsys, small_config(), stopped)


def test_a_damaged_checkpoint_is_named_and_passed_over(
    whole: Path, stopped: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (stopped / "checkpoints" / "step_000008" / "optimiser.pt").write_bytes(b"")
    shown = said(capsys, small_config(), stopped)
    assert f"{stopped}/checkpoints/step_000008 is damaged and passed over\n" in shown
    assert f"resuming from {stopped}/checkpoints/step_000006\n" in shown
    run(small_config(), stopped, resume=True)
    assert metrics(stopped) == metrics(whole)


def test_a_run_without_a_checkpoint_begins_again(
    whole: Path, stopped: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree(stopped / "checkpoints")
    assert f"{stopped} holds no complete checkpoint yet: beginning again\n" in said(capsys, small_config(), stopped)
    run(small_config(), stopped, resume=True)
    assert metrics(stopped) == metrics(whole)


def test_a_changed_configuration_is_refused_with_what_changed(stopped: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = metrics(stopped)
    monkeypatch.setattr(module, "load_trained", None)  # refused before anything is loaded
    changed = small_config(training={"learning_rate": 0.5, "lora": {"rank": 4}})
    with pytest.raises(UsageError) as refused:
        run(changed, stopped, resume=True)
    assert "(training.learning_rate: 0.0003 -> 0.5; training.lora.rank: None -> 4); resume with" in str(refused.value)
    shutil.rmtree(stopped / "checkpoints")
    with pytest.raises(UsageError, match=r"training\.learning_rate: 0\.0003 -> 0\.5"):
        run(changed, stopped, resume=True)
    assert metrics(stopped) == before


def test_a_changed_data_file_is_refused(tmp_path: Path) -> None:
    train, held = tmp_path / "train.jsonl", tmp_path / "eval.jsonl"
    train.write_text("".join(json.dumps({"sequence": [i] * 4}) + "\n" for i in range(9)))
    held.write_text('{"sequence": [1, 2, 3]}\n')
    config = small_config(data={"train": str(train), "eval": str(held)}, training={"steps": 4})
    run(config, tmp_path / "whole")
    run(config, tmp_path / "run", stop_at=2)
    old = train.read_text()
    train.write_text(old + '{"sequence": [5, 6, 5, 6]}\n')
    with pytest.raises(UsageError, match=r"train\.jsonl has changed since the run began; put the old file back"):
        run(config, tmp_path / "run", resume=True)
    train.write_text(old)
    run(config, tmp_path / "run", resume=True)
    assert metrics(tmp_path / "run") == metrics(tmp_path / "whole")


def test_every_checkpoint_of_a_run_can_be_gone_on_with(whole: Path, tmp_path: Path) -> None:
    found = [folder.name for folder in checkpoints(whole)]
    assert found == ["step_000012", "step_000009", "step_000006", "step_000003", "step_000000"]
    folder = Path(shutil.copytree(whole, tmp_path / "from 3"))
    for name in found[:3]:
        shutil.rmtree(folder / "checkpoints" / name)
    run(small_config(), folder, resume=True)
    assert metrics(folder) == metrics(whole)
