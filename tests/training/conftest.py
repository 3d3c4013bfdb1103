from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.policies import save_hugging_face
from tests.training.runs import run, small_config
from tests.workers import workers_stay

__all__ = ["workers_stay"]


@pytest.fixture(scope="session")
def chat_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_hugging_face(tmp_path_factory.mktemp("chat"), chat=True)


@pytest.fixture(scope="session")
def taught(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Sections of a run that goes on from what a warm start has taught."""
    folder = tmp_path_factory.mktemp("taught") / "run"
    run(small_config(training={"steps": 0}, evaluation={"tasks": 1}), folder)
    return {"model": {"name": str(folder / "checkpoints" / "step_000000")}, "warmup": {"max_steps": 0}}
