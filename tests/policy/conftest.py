from __future__ import annotations

from pathlib import Path

import pytest

from kolmocli.policy.loading import load_policy
from kolmocli.policy.policy import Policy
from tests.policies import save_hugging_face, tiny


@pytest.fixture(scope="session")
def policy() -> Policy:
    """The tiny preset, to be read only."""
    return tiny()


@pytest.fixture(scope="session")
def plain_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_hugging_face(tmp_path_factory.mktemp("plain"), chat=False)


@pytest.fixture(scope="session")
def chat_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_hugging_face(tmp_path_factory.mktemp("chat"), chat=True)


@pytest.fixture(scope="session")
def chat_policy(chat_folder: Path) -> Policy:
    return load_policy(str(chat_folder), device="cpu")
