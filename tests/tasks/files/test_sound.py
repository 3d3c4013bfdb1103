"""WAV of any rate and width, headers that lie, and the three forms of speech."""

from __future__ import annotations

import io
import struct
import wave

import numpy as np
import pytest

from kolmocli.errors import UsageError
from kolmocli.tasks.files.problems import Problems
from kolmocli.tasks.files.sound import COEFFICIENTS, audio8, audio16, mfcc
from kolmocli.tasks.files.wav import Wav


def wav(samples: bytes, *, width: int = 2, channels: int = 1, rate: int = 16_000, code: int = 1, **lies: int) -> bytes:
    """A WAV file; `lies` replace `size`, `align` or `bits` in its header."""
    align, bits, size = lies.get("align", channels * width), lies.get("bits", 8 * width), lies.get("size", len(samples))
    fmt = struct.pack("<HHIIHH", code, channels, rate, rate * channels * width, align, bits)
    body = b"WAVE" + b"LIST" + struct.pack("<I", 3) + b"abc\0" + b"fmt " + struct.pack("<I", 16) + fmt
    body += b"data" + struct.pack("<I", size) + samples
    return b"RIFF" + struct.pack("<I", len(body)) + body


def read(data: bytes, strict: bool = False) -> tuple[list[int], list[str]]:
    warnings: list[str] = []
    parts = list(Wav(io.BytesIO(data), Problems("a.wav", warnings.append, strict)).samples())
    return np.concatenate(parts).tolist() if parts else [], warnings


SAMPLES = [0, 1, -1, 300, -300, 32767, -32768]


def test_what_the_standard_library_writes_is_read() -> None:
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setparams((1, 2, 44_100, 0, "NONE", ""))
        writer.writeframes(np.array(SAMPLES, "<i2").tobytes())
    found = Wav(io.BytesIO(file.getvalue()), Problems("a.wav", print))
    assert (found.format.rate, found.format.channels, found.format.width) == (44_100, 1, 2)
    assert np.concatenate(list(found.samples())).tolist() == SAMPLES


@pytest.mark.parametrize(
    ("data", "samples"),
    [
        (wav(bytes([0, 128, 255]), width=1), [-32768, 0, 32512]),
        (wav(np.array([-(2**23), 255, 256, 2**23 - 1], "<i4").view("u1").reshape(-1, 4)[:, :3].tobytes(), width=3), [-32768, 0, 1, 32767]),
        (wav(np.array([-(2**31), 65536, 2**31 - 1], "<i4").tobytes(), width=4), [-32768, 1, 32767]),
        (wav(np.array([-1, -0.5, 0, 1, 7], "<f4").tobytes(), width=4, code=3), [-32767, -16384, 0, 32767, 32767]),
        (wav(np.array([0.25, -7], "<f8").tobytes(), width=8, code=3), [8192, -32767]),
        (wav(np.array([100, 300, -7, -8], "<i2").tobytes(), channels=2), [200, -7]),
        (wav(np.array([5, 6], "<i2").tobytes(), rate=768_000), [5, 6]),
    ],
    ids=["u8", "i24", "i32", "f32", "f64", "stereo", "fast"],
)  # fmt: skip
def test_every_width(data: bytes, samples: list[int]) -> None:
    assert read(data) == (samples, [])


def test_an_extensible_header() -> None:
    inner = (
        struct.pack("<HHIIHH", 0xFFFE, 1, 8000, 16000, 2, 16) + struct.pack("<HHI", 22, 16, 0) + b"\x01\x00" + bytes(14)
    )
    body = b"WAVEfmt " + struct.pack("<I", len(inner)) + inner + b"data" + struct.pack("<I", 4) + b"\x07\x00\x08\x00"
    assert read(b"RIFF" + struct.pack("<I", len(body)) + body) == ([7, 8], [])


def test_a_file_larger_than_a_chunk_and_a_sample_across_the_border() -> None:
    values = np.random.default_rng(0).integers(-(2**15), 2**15, 200_001).astype("<i2")
    samples, warnings = read(wav(np.repeat(values, 3).tobytes(), channels=3))
    assert samples == values.tolist()
    assert warnings == []


def test_a_header_that_promises_too_much() -> None:
    lying = wav(np.array(SAMPLES, "<i2").tobytes(), size=100_000)
    samples, warnings = read(lying)
    assert samples == SAMPLES
    assert warnings == ["a.wav: header: promises 100,000 bytes of samples, 14 are there and were taken"]
    with pytest.raises(UsageError, match=r"a\.wav: header: promises 100,000 bytes"):
        read(lying, strict=True)


@pytest.mark.parametrize("size", [0, 0xFFFFFFFF, 0x7FFFFFFF])
def test_a_size_that_a_writer_to_a_pipe_left_open(size: int) -> None:
    assert read(wav(np.array(SAMPLES, "<i2").tobytes(), size=size)) == (SAMPLES, [])


def test_what_follows_the_samples_is_no_sound() -> None:
    assert read(wav(b"\x01\x00\x02\x00LISTjunk", size=4)) == ([1, 2], [])


def test_half_a_sample_and_a_wrong_alignment_are_named() -> None:
    assert read(wav(b"\x01\x00\x02")) == ([1], ["a.wav: end: skipped: 1 bytes are no whole sample of 2"])
    assert read(wav(b"\x01\x00", align=4)) == (
        [1],
        ["a.wav: header: says 4 bytes per sample; 1 × 2 were taken"],
    )


def test_samples_that_are_no_numbers_are_silence_and_counted() -> None:
    data = np.array([np.nan, np.inf, 0.5], "<f4").tobytes()
    samples, warnings = read(wav(data, width=4, code=3))
    assert samples == [0, 0, 16384]
    assert warnings == ["a.wav: samples: 2 are not numbers and were taken as 0"]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "no RIFF header"),
        (b"fLaC" + bytes(100), "no RIFF header"),
        (b"RIFF\0\0\0\0WAVE", "without a format"),
        (wav(b"")[:40], "without a format|ends early"),
        (wav(b"")[:50], "without samples"),
        (wav(b"\0\0", code=6, bits=8), "format 6 with 8 bits is not read"),
        (wav(b"\0\0", bits=0), "with 0 bits"),
        (wav(b"\0\0", bits=65535), "with 65535 bits"),
        (wav(b"\0\0", channels=0), "0 channels"),
        (wav(b"\0\0", channels=60_000, align=2), "60000 channels"),
        (wav(b"\0\0", rate=0), "at 0 samples per second"),
        (wav(b"\0\0").replace(b"fmt \x10\0\0\0", b"fmt \xff\xff\xff\xff"), "a format of 4294967295 bytes"),
        (b"RIFF\0\0\0\0WAVEdata\x04\0\0\0abcd", "samples come before their format"),
        (b"RIFF\0\0\0\0WAVEjunk\xff\xff\xff\xff", "without a format"),
    ],
)
def test_headers_that_make_no_sense(data: bytes, said: str) -> None:
    with pytest.raises(UsageError, match=rf"a\.wav: .*({said})"):
        read(data)


# --- the forms


def chunks(values: list[int], size: int = 7) -> list[np.ndarray]:
    array = np.array(values, np.int16)
    return [array[i : i + size] for i in range(0, len(array), size)]


def test_audio16_is_the_two_bytes_and_audio8_the_high_one() -> None:
    samples = [0, 1, -1, 255, 256, -256, -257, 32767, -32768]
    sixteen = np.concatenate(list(audio16(chunks(samples)))).tobytes()
    assert sixteen == struct.pack("<9h", *samples)
    assert np.concatenate(list(audio8(chunks(samples)))).tolist() == [0, 0, 255, 0, 1, 255, 254, 127, 128]
    assert np.concatenate(list(audio8(chunks(samples)))).tobytes() == sixteen[1::2]


@pytest.fixture
def voice() -> list[int]:
    pytest.importorskip("kaldi_native_fbank", reason="kaldi-native-fbank is not installed")
    time = np.arange(8000) / 8000
    tone = 8000 * np.sin(2 * np.pi * 440 * time) * (time < 0.5) + 50 * np.random.default_rng(0).standard_normal(8000)
    return tone.astype(np.int16).tolist()


def test_mfcc_does_not_depend_on_the_chunks(voice: list[int]) -> None:
    whole = np.concatenate(list(mfcc(chunks(voice, 8000), 8000, "a")))
    assert len(whole) == 98 * COEFFICIENTS  # 25 ms frames every 10 ms of one second
    assert whole.dtype == np.uint8
    pieces = np.concatenate(list(mfcc(chunks(voice, 333), 8000, "a")))
    assert np.array_equal(whole, pieces)


def test_mfcc_tells_a_tone_from_noise(voice: list[int]) -> None:
    frames = np.concatenate(list(mfcc(chunks(voice, 8000), 8000, "a"))).reshape(-1, COEFFICIENTS).astype(int)
    assert frames[:40, 0].mean() > frames[60:, 0].mean() + 10  # log energy
    assert np.abs(frames[:40].mean(0) - frames[60:].mean(0))[1:].max() > 20
    assert ((frames == 0) | (frames == 255)).mean() < 0.1


def test_mfcc_needs_a_sensible_rate(voice: list[int]) -> None:
    for rate in (1, 3999, 4_000_000_000):
        with pytest.raises(UsageError, match=f"a: {rate} samples per second; mfcc needs 4000 to 768000"):
            list(mfcc(chunks(voice), rate, "a"))
