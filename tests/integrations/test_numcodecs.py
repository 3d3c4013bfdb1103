"""The codec in numcodecs' own registry, and in an array of zarr."""

from __future__ import annotations

import importlib
import json
import tomllib
from pathlib import Path

import numpy as np
import pytest

from kolmocli.archive import ArchiveLimitError, compress

numcodecs = pytest.importorskip("numcodecs")
pytestmark = pytest.mark.numcodecs
PROJECT = Path(__file__).parents[2] / "pyproject.toml"


@pytest.fixture
def codec_class():
    from kolmocli.integrations.numcodecs import Kolmo

    return Kolmo


WALK = np.cumsum(np.random.default_rng(0).integers(-9, 9, 300))
CHUNKS = [
    WALK.astype("<i4"),
    WALK.astype(">f8") / 4,
    WALK.astype("f2"),
    np.arange(60, dtype="u1").reshape(6, 10),
    np.asfortranarray(WALK.reshape(10, 30)),
    WALK.astype("c8"),
    np.array([True, False] * 9),
    np.array(["2024-01-01", "2024-01-02"], "M8[D]"),
    np.array([], "f8"),
    b"plain bytes",
]


@pytest.mark.parametrize("chunk", CHUNKS, ids=lambda c: str(getattr(c, "dtype", "bytes")))
def test_there_and_back(codec_class, chunk):
    codec = codec_class(level=1)
    packed = codec.encode(chunk)
    whole = chunk if isinstance(chunk, bytes) else chunk.tobytes("A")
    assert bytes(codec.decode(packed)) == whole
    out = np.empty(len(whole), "u1")
    codec.decode(packed, out=out)
    assert out.tobytes() == whole


def test_the_array_tells_its_type(codec_class):
    """Samples of sound are taken for unsigned numbers where nobody says what they are."""
    sound = 3000 * np.sin(np.arange(4000) / 9) + np.random.default_rng(0).normal(0, 40, 4000)
    sound = sound.astype("<i2")
    assert len(codec_class(4).encode(sound)) < 0.95 * len(compress(sound.tobytes(), 4))


def test_it_is_found_by_its_configuration(codec_class):
    codec = codec_class(level=3)
    again = numcodecs.get_codec(codec.get_config())
    assert again == codec
    assert codec.get_config() == {"id": "kolmo", "level": 3, "max_output": 1 << 30}
    assert json.dumps(codec_class(np.int64(3)).get_config()) == json.dumps(codec.get_config())
    with pytest.raises(ValueError, match="level 10"):
        codec_class(level=10)


def test_a_chunk_that_is_too_large_is_refused(codec_class):
    with pytest.raises(ArchiveLimitError):
        codec_class(max_output=10).decode(compress(bytes(11), 0))


def test_an_installation_registers_it(codec_class):
    entry = tomllib.loads(PROJECT.read_text())["project"]["entry-points"]["numcodecs.codecs"][codec_class.codec_id]
    module, _, name = entry.partition(":")
    assert getattr(importlib.import_module(module), name) is codec_class


def test_an_array_of_zarr(codec_class, tmp_path):
    import zarr

    data = WALK.reshape(30, 10).astype("f4") / 8
    made = zarr.create_array(tmp_path / "a", data=data, chunks=(15, 10), zarr_format=2, compressors=codec_class(1))
    assert made.compressors[0] == codec_class(1)
    assert np.array_equal(zarr.open_array(tmp_path / "a", mode="r")[:], data)
