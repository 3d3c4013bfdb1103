"""Where nothing can be found, nothing is searched for; and what only looks like noise is searched."""

from __future__ import annotations

import random

import numpy as np
import pytest

from kolmocli.archive import noise
from kolmocli.archive.noise import looks_like_noise
from kolmocli.archive.opener import decompress
from kolmocli.archive.options import Options
from kolmocli.archive.packer import compress_with_reports

SIZE = 1 << 20
NOISE = random.Random(0).randbytes(SIZE)


def wide_steps(size: int) -> bytes:
    """Sums of large random steps: bytes of no skew and no repeat, in which only a codec of numbers sees anything."""
    steps = np.random.default_rng(0).integers(0, 1 << 62, size // 8)
    return np.cumsum(steps, dtype=np.uint64).tobytes()


@pytest.mark.parametrize("level", [4, 9])
def test_noise_is_stored_unsearched(level: int) -> None:
    archive, (report,) = compress_with_reports(NOISE, Options(level))
    assert decompress(archive) == NOISE
    assert len(archive) < SIZE + 32
    assert (report.codec, report.attempts) == ("stored", {})


def test_what_only_numbers_see_is_no_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(noise, "_LEAST", SIZE // 8)
    data = wide_steps(SIZE // 8)
    assert looks_like_noise(data)
    archive, (report,) = compress_with_reports(data, Options(4))
    assert len(archive) < 0.99 * len(data)
    assert report.attempts
    assert decompress(archive) == data


@pytest.mark.parametrize(
    "data", [NOISE[: SIZE // 2] * 2, NOISE[:-4096] + bytes(4096), NOISE[1:]], ids=["far", "end", "short"]
)
def test_repeats_skew_and_what_is_small_are_looked_at(data: bytes) -> None:
    assert not looks_like_noise(data)
