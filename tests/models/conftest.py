"""A cache of models of one's own for every test, and a GGUF file to begin with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.models.samples import write_gguf


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "cache"
    monkeypatch.setenv("KOLMO_MODELS", str(place))
    return place


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_gguf(tmp_path_factory.mktemp("gguf") / "small.gguf")


def left(cache: Path) -> set[str]:
    """What lies in the cache, but for its lock."""
    return {file.name for file in cache.iterdir()} - {".lock"} if cache.is_dir() else set()
