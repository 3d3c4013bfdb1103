from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.policies import save_hugging_face
from tests.workers import kept


@pytest.fixture(scope="session")
def chat_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_hugging_face(tmp_path_factory.mktemp("chat"), chat=True)


@pytest.fixture(scope="package", autouse=True)
def workers_stay() -> Iterator[None]:
    """A run takes the worker processes of the one before."""
    with kept():
        yield
