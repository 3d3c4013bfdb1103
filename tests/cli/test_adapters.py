"""Adapters on a model in 8 bits through the commands: trained, resumed, evaluated, and asked for programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kolmocli.policy.proposer import open_proposer
from tests import warm
from tests.cli.conftest import SMALL, refused
from tests.conftest import NO_ENGINE, Run, command_environment
from tests.policies import save_hugging_face


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model in Hugging Face format, and a run that trained adapters on it in 8 bits."""
    folder = tmp_path_factory.mktemp("adapters")
    save_hugging_face(folder / "model", chat=True)
    (folder / "small.yaml").write_text(SMALL)
    words = ["train", "small.yaml", "--model_name", "model", "--use_8bit_quantization", "--run_dir", "run"]
    done = warm.run(words, folder, command_environment())
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr
    assert "MatMul8bitLt" not in done.stderr
    return folder


def test_the_checkpoint_is_an_adapter_and_knows_its_base(home: Path) -> None:
    checkpoint = home / "run" / "checkpoints" / "step_000003"
    assert {"adapter_model.safetensors", "adapter_config.json", "tokenizer.json"} <= {
        file.name for file in checkpoint.iterdir()
    }
    base = json.loads((checkpoint / "base.json").read_text())
    assert (base["name"], base["load_in_8bit"]) == (str(home / "model"), True)
    events = [json.loads(line) for line in (home / "run" / "events.jsonl").read_text().splitlines()]
    assert "in 8 bits with adapters of rank 16" in events[0]["text"]


def test_it_is_evaluated_from_anywhere(kolmo: Run, home: Path) -> None:
    done = kolmo("eval", home / "run", "--tasks", 2, "--sandbox", "embedded", "--device", "cpu", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["n"] == 2


def test_it_proposes_programs(home: Path) -> None:
    (proposals,) = open_proposer(str(home / "run"), device="cpu").propose([(1, 2, 3)], samples=2, seed=0)
    assert len(proposals) <= 2


def test_it_goes_on_only_as_what_it_is(kolmo: Run, home: Path) -> None:
    line = refused(kolmo("train", "--resume", "--run-dir", "run", "--lora-rank", 4, "-q", cwd=home), 2)
    assert "training.lora.rank: None -> 4" in line
    done = kolmo("train", "--resume", "--run-dir", "run", "-q", cwd=home)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_the_quickstart_on_a_model_in_eight_bits(kolmo: Run, home: Path) -> None:
    done = kolmo(
        "train", "quickstart", "--model", home / "model", "--use-8bit-quantization", "--steps", 5, "--json",
        env=NO_ENGINE, timeout=3600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["steps"] == 5


@pytest.mark.parametrize("command", ["train", "eval"])
def test_a_model_with_too_few_positions_is_told_before_the_first_batch(
    kolmo: Run, home: Path, tmp_path: Path, command: str
) -> None:
    (tmp_path / "small.yaml").write_text(SMALL.replace("max_new_tokens: 24", "max_new_tokens: 1000"))
    model = home / "model"
    arguments = ["small.yaml", "--model", model, "-q"] if command == "train" else [model, "--curriculum", "small.yaml"]
    line = refused(kolmo(command, *arguments), 2)
    assert line.startswith(f"{model}: has 1,024 positions, and a prompt of ")
    assert "tokens with 1,000 after it" in line
    assert not (tmp_path / "runs").exists()
