"""Runs of the version in which methods had sections of their own: `former/` has a curriculum file, and of its run what words
make of it, as that version wrote them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import torch

import kolmocli as kolmo
from kolmocli.checkpoints import MANIFEST, digest
from kolmocli.config import Config
from kolmocli.config.file import load_config
from tests.training.runs import metrics, run

FORMER = Path(__file__).parent / "former"
CALLED = [
    "refill is called methods.refill now",
    "hints is called methods.hints now",
    "self_play is called methods.self_play now",
    "training.shaping is called methods.shaping.weight now",
]
ON = ("refill", "hints", "self_play", "hindsight", "replay")
"""Every method had its state in a checkpoint, if only an empty one."""


def read(file: Path) -> Config:
    said: list[str] = []
    config = load_config(file, note=said.append)
    assert said == [f"{file}: {line}" for line in CALLED]
    return config


def put_back(checkpoint: Path) -> None:
    """The earlier version's words into a checkpoint of today's, whose tensors it would have too."""
    shutil.copy(FORMER / "trainer.json", checkpoint)
    tensors = torch.load(checkpoint / "optimiser.pt", weights_only=True)
    tensors["methods"] = {**{name: {} for name in ON}, **tensors["methods"]}
    torch.save(tensors, checkpoint / "optimiser.pt")
    files = json.loads((checkpoint / MANIFEST).read_text())
    (checkpoint / MANIFEST).write_text(json.dumps({name: digest(checkpoint / name) for name in files}))


def test_a_run_of_an_earlier_version_goes_on_and_is_evaluated(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    run(read(FORMER / "curriculum.yaml"), folder, stop_at=2)
    put_back(folder / "checkpoints" / "step_000002")
    shutil.copy(FORMER / "config.yaml", folder)
    run(read(folder / "config.yaml"), folder, resume=True)
    steps = [record for record in metrics(folder) if record["phase"] == "rl"]
    assert [record["step"] for record in steps] == [1, 2, 3, 4]
    assert steps[-1]["self_play"]["proposals"] == 16
    assert kolmo.evaluate(folder, sandbox="embedded")["n"] == 4
