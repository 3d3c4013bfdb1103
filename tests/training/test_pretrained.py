"""A curriculum for a small model, asked for with a pretrained one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kolmocli.config.file import load_config, read_curriculum
from kolmocli.training.library import train
from kolmocli.training.pretrained import ADAPTER_RATE, RATE, gentler
from tests.policies import save_hugging_face

ELSEWHERE = "Qwen/Qwen2.5-0.5B-Instruct"


@pytest.mark.parametrize(
    ("curriculum", "overrides", "expected"),
    [
        ("digits", {}, {"warmup.max_steps": 0, "training.learning_rate": RATE}),
        ("digits", {"training.lora.rank": 4}, {"warmup.max_steps": 0, "training.learning_rate": ADAPTER_RATE}),
        ("expressions", {}, {"warmup.max_steps": 0, "training.learning_rate": RATE}),
        ("quickstart", {}, {"warmup.learning_rate": RATE, "training.learning_rate": RATE}),
        ("arithmetic", {}, {}),
    ],
)
def test_a_model_from_elsewhere_gets_its_own_rates(
    curriculum: str, overrides: dict[str, Any], expected: dict[str, Any]
) -> None:
    file, asked, lines = (
        read_curriculum(curriculum),
        read_curriculum(curriculum, {"model.name": ELSEWHERE, **overrides}),
        [],
    )
    assert gentler(file, asked, overrides, "it", lines.append) == expected
    assert [line.startswith(f"{ELSEWHERE} is pretrained and it is for a small model: ") for line in lines] == [
        True
    ] * bool(expected)


@pytest.mark.parametrize("named", ["training.learning_rate", "training"])
def test_what_the_user_named_stays(named: str) -> None:
    file, asked = read_curriculum("digits"), read_curriculum("digits", {"model.name": ELSEWHERE})
    assert gentler(file, asked, [named], "it", print) == {"warmup.max_steps": 0}


def test_a_preset_keeps_what_the_file_says() -> None:
    assert gentler(read_curriculum("digits"), read_curriculum("digits", {"model.name": "small"}), [], "it", print) == {}


def test_the_library_trains_with_them_too(tmp_path: Path) -> None:
    """A pretrained model from a folder, with a curriculum for a small one: its configuration says so."""
    model = str(save_hugging_face(tmp_path / "model", chat=True))
    run, settings = tmp_path / "run", {"training.batch_size": 8, "evaluation.tasks": 2, "report": False}
    train("digits", model=model, settings=settings, steps=1, sandbox="embedded", run_dir=run)
    saved = load_config(run / "config.yaml")
    assert (saved.warmup.max_steps, saved.training.learning_rate) == (0, RATE)
