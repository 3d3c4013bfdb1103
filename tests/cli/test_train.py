"""`kolmo train`: flags, refusals, the run folder, and being stopped."""

from __future__ import annotations

import json
import os
import shlex
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch

from kolmocli.cli import train as command
from kolmocli.config.file import load_config
from kolmocli.config.schema import field
from tests.cli.conftest import SMALL, Trained, refused
from tests.conftest import NO_ENGINE, Run, command_environment
from tests.warm import Command

EVERY_FLAG = {
    "model": "other",
    "data": "d.jsonl",
    "eval_data": "e.jsonl",
    "steps": 11,
    "batch_size": 12,
    "columns": "prompt=question",
    "group_size": 3,
    "learning_rate": 0.25,
    "reward_constant": 10.0,
    "length_penalty": 0.5,
    "checkpoint_freq": 13,
    "eval_freq": 14,
    "eval_samples": 15,
    "device": "cpu",
    "use_8bit_quantization": True,
    "lora_rank": 4,
    "seed": 16,
    "sandbox": "embedded",
    "engine": "monarch",
    "num_generators": 3,
    "max_staleness": 2,
    "hosts": "tcp://127.0.0.1:4444,tcp://127.0.0.1:4445",
    "insecure": True,
    "log": "tensorboard",
}


# --- from flags to the configuration


def value_at(config: Any, key: str) -> Any:
    for part in key.split("."):
        config = getattr(config, part)
    return config


def test_every_flag_reaches_its_key(small: Path) -> None:
    assert set(EVERY_FLAG) == set(command.KEYS)
    config = command._configure(small, [], EVERY_FLAG)
    for name, value in EVERY_FLAG.items():
        expected = str(value).split(",") if name == "hosts" else value
        assert value_at(config, command.KEYS[name]) == expected, name


@pytest.mark.parametrize("key", command.KEYS.values())
def test_every_flag_has_a_key_of_the_schema(key: str) -> None:
    assert field(key) is not None


def test_a_flag_wins_over_set_and_set_over_the_file(small: Path) -> None:
    config = command._configure(small, ["training.steps=20", "training.group_size=2"], {"steps": 30})
    assert (config.training.steps, config.training.group_size, config.training.batch_size) == (30, 2, 8)


def test_naming_a_number_of_the_founding_rule_chooses_it(small: Path) -> None:
    assert command._configure(small, [], {"length_penalty": 0.5}).reward.kind == "constant_minus_length"
    assert command._configure(small, [], {"seed": 1}).reward.kind == "relative"


def test_help_explains_every_flag(kolmo: Run) -> None:
    shown = " ".join(kolmo("train", "--help").stdout.split())
    for key in command.KEYS.values():
        assert f"[{key}]" in shown
    assert "tiny 0.68 M, small 2 M, medium 27 M, large 109 M parameters" in shown


@pytest.fixture
def sequences(tmp_path: Path) -> Path:
    """Ten sequences to train on, and another file to evaluate on."""
    for name, first in (("train.jsonl", 0), ("eval.jsonl", 100)):
        lines = [json.dumps({"sequence": [i, i + 1, i + 2]}) for i in range(first, first + 10)]
        (tmp_path / name).write_text("\n".join(lines))
    return tmp_path / "train.jsonl"


@pytest.mark.usefixtures("sequences")
def test_the_published_flags_in_their_published_spelling(kolmo: Run) -> None:
    done = kolmo(
        "train", "--model_name", "tiny", "--data_path", "train.jsonl", "--eval_data_path", "eval.jsonl",
        "--output_dir", "checkpoints/rl_kolmogorov", "--num_epochs", 10, "--batch_size", 8, "--learning_rate", "1e-5",
        "--reward_constant", 100.0, "--length_penalty", 0.1, "--checkpoint_freq", 1, "--eval_freq", 2,
        "--device", "cpu", "--use_8bit_quantization", "--dry-run", "--json",
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    config = json.loads(done.stdout)["config"]
    model = {key: config["model"][key] for key in ("name", "device", "load_in_8bit")}
    assert model == {"name": "tiny", "device": "cpu", "load_in_8bit": True}
    assert (config["data"]["train"], config["data"]["eval"]) == ("train.jsonl", "eval.jsonl")
    # Ten tasks of eight rollouts are ten steps: an epoch. Frequencies count epochs where the length does.
    assert config["training"]["steps"] == 100
    assert (config["checkpoint_every"], config["evaluation"]["every"]) == (10, 20)
    assert (config["training"]["batch_size"], config["training"]["learning_rate"]) == (8, 1e-5)
    reward = {key: config["reward"][key] for key in ("kind", "constant", "length_penalty")}
    assert reward == {"kind": "constant_minus_length", "constant": 100.0, "length_penalty": 0.1}


def test_epochs_win_over_the_steps_of_the_file(small: Path, sequences: Path) -> None:
    flags = {"data": str(sequences), "eval_data": str(sequences.with_name("eval.jsonl")), "checkpoint_freq": 3}
    config = command._configure(small, [], flags, 4)
    assert (config.training.steps, config.checkpoint_every) == (20, 15)
    assert command._configure(small, [], flags).checkpoint_every == 3


@pytest.mark.parametrize("arguments", [(), ("--dry-run",)], ids=["a run", "a dry run"])
@pytest.mark.parametrize("device", ["cuda", "mps"])
@pytest.mark.usefixtures("small")
def test_a_device_that_is_not_there(kolmo: Run, device: str, arguments: tuple[str, ...]) -> None:
    if torch.cuda.is_available() if device == "cuda" else torch.backends.mps.is_available():
        pytest.skip(f"there is a {device} device")
    line = refused(kolmo("train", "small.yaml", "--device", device, "-q", *arguments), 4)
    assert line.startswith(f"device {device} is not available on this machine")
    assert line.endswith("use --device auto or cpu")


# --- refusals: one line each


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["missing.yaml"], "missing.yaml: neither a curriculum file nor a packaged curriculum; packaged are"),
        (["small.yaml", "--steps", -1], "--steps -1: training.steps: must be >= 0, got -1"),
        (["small.yaml", "--device", "gpu"], "--device gpu: model.device: must be one of auto, cpu, cuda, mps; got"),
        (["small.yaml", "--sandbox", "doker"], "--sandbox doker: sandbox.backend: must be one of"),
        (["small.yaml", "--batch-size", 7], "small.yaml:8: training: batch_size 7 is not a multiple of group_size 4"),
        (["small.yaml", "--set", "training.stepz=1"], "--set training.stepz=1: training has no key stepz; did you"),
        (["small.yaml", "--set", "steps"], "--set steps: write --set key.path=value"),
        (["small.yaml", "--quiet", "--verbose"], "--quiet and --verbose exclude each other"),
        (["small.yaml", "--stop-at", -2], "--stop-at: must be >= 0, got -2"),
        (["small.yaml", "--lora-rank", -1], "--lora-rank -1: training.lora.rank: must be >= 0, got -1"),
        (["small.yaml", "--num-epochs", 2], "--num-epochs: the tasks of a curriculum never run out; use --steps, or"),
        (["small.yaml", "--columns", "prompt=q"], "--columns means nothing without --data"),
        (["small.yaml", "--num-epochs", 2, "--steps", 3], "--num-epochs and --steps exclude each other"),
        (["small.yaml", "--num-epochs", 0], "Invalid value for '--num-epochs'"),
        (
            ["small.yaml", "--use-8bit-quantization", "--lora-rank", 0],
            "small.yaml:8: training: lora.rank is 0 and model.load_in_8bit is on, but weights in 8 bits are steps too",
        ),
        (["--resume"], "--resume: runs/latest holds no run"),
        (["--resume", "--run-dir", "there"], "--resume: there holds no run"),
    ],
)
def test_wrong_arguments(kolmo: Run, small: Path, arguments: list[object], said: str) -> None:
    assert refused(kolmo("train", *arguments), 2).startswith(said)
    assert not (small.parent / "runs").exists()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("steps: 3", "stepz: 3", "small.yaml:8: training.stepz: unknown key; did you mean steps?"),
        ("name: small", "name: a: b", "small.yaml:1: not YAML: mapping values are not allowed here; check"),
    ],
)
def test_a_wrong_file(kolmo: Run, small: Path, old: str, new: str, said: str) -> None:
    small.write_text(SMALL.replace(old, new))
    assert refused(kolmo("train", "small.yaml"), 2).startswith(said)


@pytest.mark.usefixtures("small")
def test_an_unknown_model(kolmo: Run) -> None:
    line = refused(kolmo("train", "small.yaml", "--model", "no/such-model", "-q"), 2)
    assert "no/such-model" in line


@pytest.mark.usefixtures("small")
def test_docker_without_an_engine(kolmo: Run) -> None:
    line = refused(kolmo("train", "small.yaml", "--sandbox", "docker", "-q", env=NO_ENGINE), 4)
    assert "Docker" in line
    assert "--sandbox embedded" in line


@pytest.mark.parametrize("content", ["", "\n\n", "not json\n", None])
def test_data_with_nothing_in_it(kolmo: Run, small: Path, content: str | None) -> None:
    if content is not None:
        small.with_name("d.jsonl").write_text(content)
    arguments = ("train", "small.yaml", "--data", "d.jsonl")
    line = refused(kolmo(*arguments, "--dry-run"), 2)
    assert "d.jsonl" in line
    if content == "":
        assert refused(kolmo(*arguments, "-q"), 2) == line


def test_a_used_run_folder(kolmo: Run, trained: Trained) -> None:
    before = {path: path.stat().st_mtime_ns for path in trained.folder.rglob("*")}
    line = refused(kolmo("train", "quickstart", "--run-dir", trained.folder), 2)
    assert str(trained.folder) in line
    assert "--resume" in line
    assert {path: path.stat().st_mtime_ns for path in trained.folder.rglob("*")} == before


# --- a dry run and a run


@pytest.mark.usefixtures("small")
def test_a_dry_run_does_everything_but_train(kolmo: Run, tmp_path: Path) -> None:
    done = kolmo("train", "small.yaml", "--dry-run", "--json", "--seed", 5)
    assert (done.returncode, done.stderr) == (0, "")
    planned = json.loads(done.stdout)
    assert planned["schema_version"] == 1
    assert planned["config"]["seed"] == 5
    assert planned["buckets"] == 2
    assert planned["model"]["parameters"] == 682_048
    assert set(planned["memory_mib"]) == {
        *("weights", "gradients", "optimiser", "activations", "logits", "sampling_cache", "peak"),
    }
    assert {path.name for path in tmp_path.iterdir()} == {"small.yaml"}


@pytest.mark.usefixtures("small")
def test_a_printed_dry_run_is_a_curriculum_file(kolmo: Run, tmp_path: Path) -> None:
    done = kolmo("train", "small.yaml", "--dry-run", "--seed", 5)
    assert (done.returncode, done.stderr) == (0, "")
    (tmp_path / "resolved.yaml").write_text(done.stdout)
    assert load_config(tmp_path / "resolved.yaml") == command._configure(tmp_path / "small.yaml", [], {"seed": 5})


def test_json_is_the_summary_and_nothing_else(trained: Trained) -> None:
    printed = json.loads(trained.done.stdout)
    saved = json.loads((trained.folder / "summary.json").read_text())
    assert printed["schema_version"] == 1
    assert printed["steps"] == saved["steps"] == 3
    assert {"rollouts", "seconds", "pass_rate", "bits", "eval", "sandbox", "checkpoint"} <= set(printed)


def test_progress_is_a_plain_line_per_step(trained: Trained) -> None:
    lines = trained.done.stderr.splitlines()
    assert [line.split()[1] for line in lines if line.startswith("step ")] == ["1/3", "2/3", "3/3"]
    assert "\033" not in trained.done.stderr
    assert "\r" not in trained.done.stderr


# --- being stopped


@dataclass(frozen=True)
class Endless:
    """A run with too many steps to end by itself, in a process group of its own, as a terminal starts one."""

    process: Command
    folder: Path

    def metrics(self, phase: str) -> list[dict[str, Any]]:
        file = self.folder / "metrics.jsonl"
        # A line without its end is still being written.
        lines = file.read_text().splitlines(keepends=True) if file.exists() else []
        return [m for m in (json.loads(line) for line in lines if line.endswith("\n")) if m["phase"] == phase]

    def wait_until_in(self, phase: str) -> None:
        deadline = time.monotonic() + 600
        while not self.metrics(phase):
            assert self.process.poll() is None, self.process.communicate()[1]
            assert time.monotonic() < deadline, f"no step of {phase} was ever logged"
            time.sleep(0.05)


@pytest.fixture
def endless(small: Path, request: pytest.FixtureRequest) -> Iterator[Endless]:
    small.write_text(SMALL.replace(*request.param))
    process = Command(["train", str(small), "--run-dir", "run", "-q"], small.parent, command_environment())
    yield Endless(process, small.with_name("run"))
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.mark.parametrize(
    ("endless", "phase", "number", "code"),
    [
        (("max_steps: 2", "until: 1, max_steps: 100000"), "warmup", signal.SIGINT, 130),
        (("steps: 3", "steps: 100000"), "rl", signal.SIGTERM, 143),
    ],
    indirect=["endless"],
)
def test_a_signal_saves_and_the_run_goes_on(
    kolmo: Run, endless: Endless, phase: str, number: signal.Signals, code: int
) -> None:
    endless.wait_until_in(phase)
    if number == signal.SIGINT:
        os.killpg(endless.process.pid, number)  # Ctrl-C reaches the workers of the sandbox too
    else:
        endless.process.send_signal(number)
    out, err = endless.process.communicate(timeout=600)
    assert endless.process.returncode == code, err
    assert out == ""
    assert len(err.splitlines()) == 1, err
    assert err.startswith(f"kolmo: stopped by {number.name}; saved ")
    checkpoint = max((endless.folder / "checkpoints").iterdir())
    assert (checkpoint / "model.safetensors").is_file()
    summary = json.loads((endless.folder / "summary.json").read_text())
    assert Path(summary["checkpoint"]).name == checkpoint.name
    last = endless.metrics(phase)[-1]["step"]
    # A warm step is logged with what passes after it: one that was stopped while that was measured is logged when it goes on.
    assert summary["steps" if phase == "rl" else "warmup_steps"] - last in ((0,) if phase == "rl" else (0, 1))

    if phase == "rl":
        program, *command = shlex.split(err.rpartition("go on with: ")[2])
        assert program == "kolmo"
        on = kolmo(*command, "--stop-at", last + 2, "-q")
        assert (on.returncode, on.stderr) == (0, "")
        assert "result" in on.stdout
        assert [m["step"] for m in endless.metrics("rl")] == list(range(1, last + 3))
