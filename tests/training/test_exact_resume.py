"""A run that was stopped and resumed writes what an unbroken one writes, times aside, whatever is trained and how."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml

from kolmocli.checkpoints import MANIFEST, checkpoints, digest, latest_checkpoint
from kolmocli.config import Config
from kolmocli.errors import KolmoError, UsageError
from kolmocli.pace import Reached
from kolmocli.training import opening as module
from kolmocli.training.folder import held
from kolmocli.training.recorder import Recorder
from kolmocli.training.run import Run, Stopped
from kolmocli.training.signals import StopRequest
from kolmocli.training.train import RunOptions, train
from tests.training.runs import CURRICULUM, events, metrics, run, small_config

WARM = 5
"""Steps of a warm start that goes on from a policy that one has taught already."""


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run from weights that were drawn."""
    folder = tmp_path_factory.mktemp("scratch") / "run"
    run(small_config(training={"steps": 10}), folder)
    return folder


@pytest.fixture(scope="module")
def taught(scratch: Path) -> dict[str, dict[str, Any]]:
    """Sections of a run that goes on from what a warm start has taught."""
    return {"model": {"name": str(scratch / "checkpoints" / "step_000000")}, "warmup": {"max_steps": 0}}


@pytest.fixture(scope="module")
def short(taught: dict[str, dict[str, Any]]) -> Config:
    """Twelve steps after a short warm start."""
    return short_config(taught)


def short_config(taught: dict[str, dict[str, Any]], **changes: dict[str, Any]) -> Config:
    warmup = {"max_steps": WARM, "check_every": WARM, "learning_rate": 1e-3}
    return small_config(model=taught["model"], warmup=warmup, **changes)


@pytest.fixture(scope="module")
def whole(short: Config, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve steps in one sitting."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    run(short, folder)
    assert [r["step"] for r in metrics(folder)] == [*range(1, WARM + 1), *range(1, 13)]
    assert all(r["grad_norm"] > 0 for r in metrics(folder)), "nothing was learnt that could differ"
    return folder


@pytest.fixture(scope="module")
def half(short: Config, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same, stopped after eight; to be copied."""
    folder = tmp_path_factory.mktemp("half") / "run"
    summary = run(short, folder, stop_at=8)
    assert (summary["steps"], Path(summary["checkpoint"]).name) == (8, "step_000008")
    return folder


@pytest.fixture
def stopped(half: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(half, tmp_path / "stopped"))


def weights(folder: Path, name: str = "model.safetensors") -> bytes:
    found = latest_checkpoint(folder)
    assert found is not None
    return (found / name).read_bytes()


def test_a_run_twice_and_split_by_a_resume_is_the_same(scratch: Path, tmp_path: Path) -> None:
    config = small_config(training={"steps": 10})
    again, split = tmp_path / "again", tmp_path / "split"
    run(config, again)
    run(config, split, stop_at=5)
    assert metrics(split) == metrics(scratch)[: 25 + 5]
    assert run(config, split, resume=True)["steps"] == 10
    assert metrics(scratch) == metrics(again) == metrics(split)
    assert sum(r["grad_norm"] > 0 for r in metrics(scratch)) > 25 + 5, "nothing was learnt that could differ"
    assert weights(scratch) == weights(again) == weights(split)


EVERY_SWITCH: dict[str, Any] = {
    "families": {"runs": {**yaml.safe_load(CURRICULUM)["families"]["runs"], "bounds": [2, 2]}},
    "training": {"steps": 6, "best_of": 2, "gamma": 0.9},
    "reward": {"partial": 0.1},
    "methods": {
        "hints": {"most": 0.9, "start": 0.5},
        "self_play": {"share": 0.5, "band": 0.5},
        "shaping": {"weight": 0.5},
    },
}


@pytest.mark.parametrize(
    "changes",
    [
        {"training": {"baseline": "ema", "optimizer": "adamw8bit", "steps": 4}},
        {"training": {"lora": {"rank": 2}, "steps": 4}, "controller": {"kind": "uniform"}},
        {"training": {"optimizer": "adamw8bit", "steps": 4}, "model": {"load_in_8bit": True}},
        {"controller": {"kind": "sec"}, "training": {"steps": 4, "batch_size": 32, "group_size": 8}},
        {"methods": {"screening": {"draws": 3}}, "training": {"steps": 6}},
        {"methods": {"refill": {"most": 3}}, "training": {"steps": 4}},
        {"warmup": {"replay": 0.5, "max_steps": 5, "learning_rate": 1e-3}, "training": {"steps": 4, "updates": 2}},
    ],
    ids=["ema and adamw8bit", "adapters and uniform", "8 bits", "sec", "screening", "refill", "replay"],
)
def test_whatever_is_trained(changes: dict[str, Any], taught: dict[str, dict[str, Any]], tmp_path: Path) -> None:
    """What else may be switched on is stopped within a step below."""
    config = small_config(**{key: {**taught.get(key, {}), **changes.get(key, {})} for key in {**taught, **changes}})
    run(config, tmp_path / "whole")
    run(config, tmp_path / "split", stop_at=2)
    run(config, tmp_path / "split", resume=True)
    assert metrics(tmp_path / "split") == metrics(tmp_path / "whole")


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


def test_a_signal_in_an_odd_place_loses_nothing(short: Config, whole: Path, tmp_path: Path) -> None:
    """Between two steps; the last time before the evaluation of step 10. Calls are counted from where the run goes on."""
    folder = tmp_path / "run"
    for number, (name, count) in enumerate([("warm_step", 2), ("step", 7), ("step", 3)]):
        with pytest.MonkeyPatch.context() as patch:
            stop_after(Recorder, name, count, patch)
            with pytest.raises(Stopped) as stopped:
                run(short, folder, resume=number > 0)
        assert stopped.value.exit_code == 143
        assert [e["text"] for e in events(folder, "stopped")] == ["stopped by SIGTERM"] * (number + 1)
        assert (folder / "summary.json").is_file()
    run(short, folder, resume=True)
    assert metrics(folder) == metrics(whole)
    assert [e["name"] for e in events(folder, "eval")] == ["before", "step 5", "step 10", "after"]


# --- stopped in the middle of something long


def stop_within(what: str, steps: tuple[int, int], look: int, patch: pytest.MonkeyPatch) -> list[Reached | None]:
    """Let a signal arrive at this look of what is under way after so many steps of the warm start and of REINFORCE. The list
    gets how far it was."""
    original, looks, reached = Run._look, [0], list[Reached | None]()

    def counted(self: Run) -> None:
        if self.recorder._doing == what and (self.state.warm_steps, self.state.step) == steps:
            looks[0] += 1
            if looks[0] == look:
                self.stop.signal = 15
                reached.append(self.pace.reached)
        original(self)

    patch.setattr(Run, "_look", counted)
    return reached


def break_off(
    config: Config, folder: Path, what: str, steps: tuple[int, int], look: int, *, resume: bool = False
) -> Reached | None:
    """Stop a run within something. Returns how far that was."""
    with pytest.MonkeyPatch.context() as patch:
        reached = stop_within(what, steps, look, patch)
        with pytest.raises(Stopped) as stopped:
            run(config, folder, resume=resume)
    assert stopped.value.exit_code == 143
    found = latest_checkpoint(folder)
    assert found is not None
    assert found.name == f"step_{steps[1]:06d}", "the step before it is what is saved"
    assert max(r["step"] for r in metrics(folder) if r["phase"] == ("rl" if steps[1] else "warmup")) <= max(steps)
    assert len(reached) == 1
    return reached[0]


ODD_PLACES: list[tuple[str, tuple[int, int], int]] = [
    ("warm start", (2, 0), 40),  # in the backward pass of the third step
    ("warm start", (WARM, 0), 100),  # while it is measured what passes
    ("evaluate", (WARM, 0), 30),
    ("rollout", (WARM, 6), 30),
    ("learn", (WARM, 6), 10),  # forward
    ("learn", (WARM, 6), 40),  # backward
    ("evaluate", (WARM, 10), 20),
    ("evaluate", (WARM, 12), 20),
]


def test_a_step_that_is_broken_off_is_done_again(short: Config, whole: Path, tmp_path: Path) -> None:
    """One run that is broken off again and again, further on each time."""
    folder, expected = tmp_path / "run", metrics(whole)
    for number, place in enumerate(ODD_PLACES):
        break_off(short, folder, *place, resume=number > 0)
        assert metrics(folder) == expected[: len(metrics(folder))], place
    run(short, folder, resume=True)
    assert metrics(folder) == expected
    assert weights(folder) == weights(whole)
    assert [e["name"] for e in events(folder, "eval")] == ["before", "step 5", "step 10", "after"]


@pytest.mark.parametrize(
    ("changes", "what", "look", "done"),
    [
        ({**EVERY_SWITCH, "training": {**EVERY_SWITCH["training"], "updates": 2}}, "learn", 90, 1),
        ({"training": {"baseline": "value", "temperature": 1.2, "steps": 4}}, "learn", 40, 0),
        ({"methods": {"pilot": {"draws": 3}}, "training": {"steps": 4}}, "rollout", 60, 0),
    ],
    ids=["between two updates", "value head", "while pilots are written"],
)
def test_nothing_of_a_broken_step_is_left(
    changes: dict[str, Any], what: str, look: int, done: int, taught: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    config = small_config(**{key: {**taught.get(key, {}), **changes.get(key, {})} for key in {**taught, **changes}})
    run(config, tmp_path / "whole")
    reached = break_off(config, tmp_path / "broken", what, (0, 2), look)
    run(config, tmp_path / "broken", resume=True)
    assert reached is not None
    assert reached.done >= done
    assert metrics(tmp_path / "broken") == metrics(tmp_path / "whole")
    assert weights(tmp_path / "broken") == weights(tmp_path / "whole")
    values = ["value_loss" in record for record in metrics(tmp_path / "whole") if record["phase"] == "rl"]
    assert values == [changes["training"].get("baseline") == "value"] * len(values)


def test_a_finished_run_has_nothing_left_to_do(short: Config, whole: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(whole, tmp_path / "done"))
    run(short, folder, resume=True)
    assert metrics(folder) == metrics(whole)
    assert len(events(folder, "eval")) == 4


# --- which checkpoint


def said(capsys: pytest.CaptureFixture[str], config: Config, folder: Path) -> str:
    """What a resumption says before it trains, which it does not."""
    train(config, RunOptions(run_dir=folder, resume=True, stop_at=0))
    return capsys.readouterr().err


def test_it_says_which_checkpoint_it_takes(short: Config, stopped: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert f"resuming from {stopped}/checkpoints/step_000008\n" in said(capsys, short, stopped)


def test_a_damaged_checkpoint_is_named_and_passed_over(
    short: Config, whole: Path, stopped: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (stopped / "checkpoints" / "step_000008" / "optimiser.pt").write_bytes(b"")
    shown = said(capsys, short, stopped)
    assert (
        f"{stopped}/checkpoints/step_000008 is damaged and passed over: optimiser.pt is not what was written there\n"
        in shown
    )
    assert f"resuming from {stopped}/checkpoints/step_000006\n" in shown
    run(short, stopped, resume=True)
    assert metrics(stopped) == metrics(whole)


@pytest.mark.parametrize(("key", "value"), [("config", 3), ("run", {}), ("totals", {"odd": 1}), ("controller", {})])
def test_a_foreign_state_with_a_right_digest_is_one_line(key: str, value: object, short: Config, stopped: Path) -> None:
    folder = stopped / "checkpoints" / "step_000008"
    state = json.loads((folder / "trainer.json").read_text())
    (folder / "trainer.json").write_text(json.dumps({**state, key: value}))
    digests = json.loads((folder / MANIFEST).read_text())
    (folder / MANIFEST).write_text(json.dumps({**digests, "trainer.json": digest(folder / "trainer.json")}))
    with pytest.raises(KolmoError, match=r"step_000008.*: not what kolmo writes there; remove this checkpoint"):
        run(short, stopped, resume=True)


def test_a_run_without_a_checkpoint_begins_again(
    short: Config, whole: Path, stopped: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree(stopped / "checkpoints")
    assert f"{stopped} holds no complete checkpoint yet: beginning again\n" in said(capsys, short, stopped)
    run(short, stopped, resume=True)
    assert metrics(stopped) == metrics(whole)


def test_a_run_whose_checkpoints_are_all_damaged_does_not_begin_again(short: Config, stopped: Path) -> None:
    before = metrics(stopped)
    for folder in checkpoints(stopped):
        (folder / "optimiser.pt").write_bytes(b"")
    with pytest.raises(
        KolmoError, match=r"step_000008 is damaged .*, and no other is intact; put one back, or remove "
    ):
        run(short, stopped, resume=True)
    assert metrics(stopped) == before


# --- lines that are missing


def shorten(file: Path, lines: int) -> None:
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:-lines]))


def test_lines_that_were_lost_are_told_and_refused(
    short: Config, stopped: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shorten(stopped / "metrics.jsonl", 3)
    left = metrics(stopped)
    with monkeypatch.context() as patch:
        patch.setattr(module, "load_trained", None)  # refused before anything is loaded
        with pytest.raises(
            UsageError, match=r"metrics\.jsonl has 10 of the 13 lines .* by step_000008; .* --allow-gaps"
        ):
            run(short, stopped, resume=True)
    assert metrics(stopped) == left
    options = RunOptions(run_dir=stopped, resume=True, stop_at=9, allow_gaps=True)
    train(short, options)
    assert f"{stopped}/metrics.jsonl has 10 of the 13 lines" in capsys.readouterr().err
    assert [r["step"] for r in metrics(stopped)][WARM - 1 :] == [WARM, 1, 2, 3, 4, 5, 9]
    run(short, stopped, resume=True, stop_at=10)  # what is known to be lost is not asked for again


def test_events_that_were_lost_are_told(short: Config, stopped: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shorten(stopped / "events.jsonl", 5)
    assert f"{stopped}/events.jsonl has " in said(capsys, short, stopped)


# --- where it runs


def test_a_run_that_is_alive_is_not_resumed(short: Config, stopped: Path) -> None:
    aside = stopped / "checkpoints" / ".step_000009.partial"
    aside.mkdir()
    with held(stopped, print), pytest.raises(UsageError, match=rf"process {os.getpid()} on \S+ trains there"):
        run(short, stopped, resume=True)
    assert aside.is_dir(), "what the living run writes is not cleared up"


def test_a_folder_that_is_deleted_ends_the_run(short: Config, stopped: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = Recorder.doing

    def doing(self: Recorder, what: str) -> None:
        original(self, what)
        shutil.rmtree(stopped, ignore_errors=True)

    monkeypatch.setattr(Recorder, "doing", doing)
    with pytest.raises(KolmoError, match=r"metrics\.jsonl: was removed or replaced") as end:
        run(short, stopped, resume=True)
    assert end.value.exit_code == 1
    assert not stopped.exists()


def test_a_run_that_was_resumed_as_the_latest_stays_where_it_is(
    short: Config, stopped: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another run may begin meanwhile, and the link then leads there."""
    latest, other = stopped.parent / "latest", stopped.parent / "other"
    other.mkdir()
    latest.symlink_to(stopped.name)
    original = Recorder.doing

    def doing(self: Recorder, what: str) -> None:
        original(self, what)
        latest.unlink()
        latest.symlink_to(other.name)

    monkeypatch.setattr(Recorder, "doing", doing)
    summary = run(short, latest, resume=True, stop_at=9)
    assert summary["checkpoint"] == f"{stopped}/checkpoints/step_000009"
    assert not list(other.iterdir())


def test_checkpoints_that_are_links_are_used_and_replaced(short: Config, stopped: Path) -> None:
    """Somebody has moved them to a larger disk."""
    elsewhere = stopped.parent / "elsewhere"
    elsewhere.mkdir()
    for folder in [*checkpoints(stopped)]:
        folder.rename(elsewhere / folder.name)
        folder.symlink_to(elsewhere / folder.name)
    aside = stopped / "checkpoints" / ".step_000008.old"
    aside.symlink_to(elsewhere / "step_000008")
    run(short, stopped, resume=True, stop_at=8)
    assert not aside.is_symlink()
    assert not (stopped / "checkpoints" / "step_000008").is_symlink()
    assert (elsewhere / "step_000008" / "manifest.json").is_file()
    assert [folder.name for folder in checkpoints(stopped)][:2] == ["step_000008", "step_000006"]


def test_checkpoints_out_of_reach_do_not_make_a_run_begin_again(short: Config, stopped: Path) -> None:
    """They were moved to a larger disk, which is not mounted now."""
    place, elsewhere = stopped / "checkpoints", stopped.parent / "elsewhere"
    place.rename(elsewhere)
    place.symlink_to(elsewhere)
    elsewhere.rename(stopped.parent / "not mounted")
    before = {name: (stopped / name).read_bytes() for name in ("metrics.jsonl", "events.jsonl")}
    with pytest.raises(KolmoError, match=r"checkpoints: leads to no folder; put the checkpoints back where") as end:
        run(short, stopped, resume=True)
    assert end.value.exit_code == 1
    assert before == {name: (stopped / name).read_bytes() for name in before}
    (stopped.parent / "not mounted").rename(elsewhere)
    assert run(short, stopped, resume=True, stop_at=9)["steps"] == 9
    assert (elsewhere / "step_000009" / "manifest.json").is_file()


# --- threads


def test_the_number_of_threads_is_kept(
    short: Config, half: Path, stopped: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    here = torch.get_num_threads()
    assert yaml.safe_load((half / "config.yaml").read_text())["threads"] == here
    assert "threads:" not in said(capsys, short, stopped)
    more = short.model_copy(update={"threads": here + 1})
    shown = said(capsys, more, stopped)
    assert f"threads: {here} -> {here + 1}; the last digits of the metrics may differ" in shown
    assert torch.get_num_threads() == here
    # Its last checkpoint is of the other number now.
    assert f"threads: {here + 1}, as the run began with, and not the {here} of" in said(capsys, short, stopped)


def test_a_changed_configuration_is_refused_with_what_changed(
    taught: dict[str, dict[str, Any]], stopped: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = metrics(stopped)
    monkeypatch.setattr(module, "load_trained", None)  # refused before anything is loaded
    changed = short_config(taught, training={"learning_rate": 0.5, "lora": {"rank": 4}})
    with pytest.raises(UsageError) as refused:
        run(changed, stopped, resume=True)
    assert "(training.learning_rate: 0.0003 -> 0.5; training.lora.rank: None -> 4); resume with" in str(refused.value)
    shutil.rmtree(stopped / "checkpoints")
    with pytest.raises(UsageError, match=r"training\.learning_rate: 0\.0003 -> 0\.5"):
        run(changed, stopped, resume=True)
    assert metrics(stopped) == before


def test_a_changed_data_file_is_refused(taught: dict[str, dict[str, Any]], tmp_path: Path) -> None:
    train, held = tmp_path / "train.jsonl", tmp_path / "eval.jsonl"
    train.write_text("".join(json.dumps({"sequence": [i] * 4}) + "\n" for i in range(9)))
    held.write_text('{"sequence": [1, 2, 3]}\n')
    config = small_config(**taught, data={"train": str(train), "eval": str(held)}, training={"steps": 4})
    run(config, tmp_path / "whole")
    run(config, tmp_path / "run", stop_at=2)
    old = train.read_text()
    train.write_text(old + '{"sequence": [5, 6, 5, 6]}\n')
    with pytest.raises(UsageError, match=r"train\.jsonl has changed since the run began; put the old file back"):
        run(config, tmp_path / "run", resume=True)
    train.write_text(old)
    run(config, tmp_path / "run", resume=True)
    assert metrics(tmp_path / "run") == metrics(tmp_path / "whole")


def test_every_checkpoint_of_a_run_can_be_gone_on_with(short: Config, whole: Path, tmp_path: Path) -> None:
    found = [folder.name for folder in checkpoints(whole)]
    assert found == ["step_000012", "step_000009", "step_000006", "step_000003", "step_000000"]
    folder = Path(shutil.copytree(whole, tmp_path / "from 3"))
    for name in found[:3]:
        shutil.rmtree(folder / "checkpoints" / name)
    run(short, folder, resume=True)
    assert metrics(folder) == metrics(whole)
