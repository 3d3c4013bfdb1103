"""Speech as values 0 to 255, in the three forms of the KoLMogorov Test (Yoran et al. 2025).

audio16: the two bytes of each 16-bit sample, the low one first. audio8: the high byte of each sample, so that
silence lies around 0 and 255. mfcc: 13 mel-frequency cepstral coefficients per 10 ms, each 128 + 2·c, rounded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from kolmocli.errors import UsageError
from kolmocli.extras import needing
from kolmocli.tasks.files.blocks import Bytes

COEFFICIENTS = 13
_STEPS = 2
"""Steps per unit of a coefficient. Speech stays within ±64, so few values are cut off at 0 and 255."""
_RATES = (4_000, 768_000)
"""Below 4 kHz some of the 23 mel filters would be empty."""


def audio16(samples: Iterable[NDArray[np.int16]]) -> Iterator[Bytes]:
    for chunk in samples:
        yield chunk.astype("<i2").view(np.uint8)


def audio8(samples: Iterable[NDArray[np.int16]]) -> Iterator[Bytes]:
    for chunk in samples:
        yield (chunk >> 8).astype(np.uint8)  # -1 becomes 255: two's complement


def mfcc(samples: Iterable[NDArray[np.int16]], rate: int, name: str) -> Iterator[Bytes]:
    """The coefficients by kaldi-native-fbank: 25 ms frames, no dither, log energy as the first coefficient.

    Raises:
        EnvironmentMissing: the library is not installed.
        UsageError: a sample rate that has no such coefficients.
    """
    with needing("--modality mfcc"):
        from kaldi_native_fbank import MfccOptions, OnlineMfcc
    if not _RATES[0] <= rate <= _RATES[1]:
        raise UsageError(f"{name}: {rate} samples per second; mfcc needs {_RATES[0]} to {_RATES[1]}")
    options = MfccOptions()
    options.frame_opts.samp_freq = rate
    options.frame_opts.dither = 0.0
    options.num_ceps = COEFFICIENTS
    frames = OnlineMfcc(options)
    done = 0
    for chunk in samples:
        frames.accept_waveform(rate, chunk.astype(np.float32).tolist())
        yield from _ready(frames, done)
        done = frames.num_frames_ready
    frames.input_finished()
    yield from _ready(frames, done)


def _ready(frames: object, done: int) -> Iterator[Bytes]:
    """The frames since `done`, which are then forgotten."""
    count = frames.num_frames_ready  # type: ignore[attr-defined]
    if count == done:
        return
    new = np.stack([frames.get_frame(i) for i in range(done, count)])  # type: ignore[attr-defined]
    frames.pop(count - done)  # type: ignore[attr-defined]
    yield np.clip(np.rint(128 + _STEPS * new), 0, 255).astype(np.uint8).reshape(-1)
