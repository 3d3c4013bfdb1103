from __future__ import annotations

from pathlib import Path

import pytest

from tests.policies import save_hugging_face
from tests.workers import workers_stay

__all__ = ["workers_stay"]


@pytest.fixture(scope="session")
def chat_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_hugging_face(tmp_path_factory.mktemp("chat"), chat=True)
