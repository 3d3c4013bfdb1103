"""A curriculum for a small model, asked for with a pretrained one."""

from __future__ import annotations

from typing import Any

import pytest

from kolmocli.config.file import read_curriculum
from kolmocli.training.pretrained import ADAPTER_RATE, RATE, gentler

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
    file = read_curriculum(curriculum)
    assert gentler(file, read_curriculum(curriculum, {"model.name": ELSEWHERE, **overrides})) == expected


def test_a_preset_keeps_what_the_file_says() -> None:
    assert gentler(read_curriculum("digits"), read_curriculum("digits", {"model.name": "small"})) == {}
