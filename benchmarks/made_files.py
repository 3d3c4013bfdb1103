"""The data of `compress.py`: made by a seed, or taken from what every machine has."""

from __future__ import annotations

import base64
import gzip
import json
import lzma
import math
import random
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

from kolmocli.language.sampler import sample

ROOT = Path(__file__).parents[1]
SYSTEM_FILES = (
    "/usr/share/common-licenses/GPL-3",
    "/usr/share/common-licenses/Apache-2.0",
    "/usr/share/sounds/alsa/Front_Center.wav",
    "/usr/share/sounds/alsa/Noise.wav",
    "/usr/share/doc/bowtie2/examples/reference/lambda_virus.fa.gz",
    "/usr/share/dict/words",
)
"""Real text, speech, noise, a genome and a word list, where the machine has them."""
MOST_FILE_BYTES = 400_000
Files = Iterator[tuple[str, bytes]]


def sampler(size: int, seed: int) -> bytes:
    rng = random.Random(seed)
    out = bytearray()
    while len(out) < size:
        out += bytes(sample(rng).sequence)
    return bytes(out[:size])


def words(kind: str, items: list[int] | list[float]) -> bytes:
    return struct.pack(f"<{len(items)}{kind}", *items)


def lines(items: list[int]) -> bytes:
    return "".join(f"{x}\n" for x in items).encode()


def ruled() -> Files:
    """Noise-free numbers: what has a rule should shrink to about the rule."""
    stamps = [1_700_000_000 + 15 * i for i in range(20_000)]
    yield "timestamps i32", words("i", stamps)
    yield "timestamps lines", lines(stamps)
    yield "counter u16", words("H", [i % 65536 for i in range(20_000)])
    yield "counter u8", bytes(3 * i % 256 for i in range(20_000))
    yield "counter i64", words("q", [10**12 + 1000 * i for i in range(5_000)])
    triangle = [*range(-3000, 3000, 40), *range(3000, -3000, -25)]
    yield "triangle sensor i16", words("h", triangle * 50)
    yield "sawtooth u8", bytes(7 * i % 251 for i in range(20_000))
    yield "multiples lines", lines([7 * i for i in range(8_000)])
    two = [x for i in range(8_000) for x in (5_000_000 + 20 * i, 100_000_000 - 3 * i)]
    yield "two channels i32", words("i", two)
    yield "ramp f32", words("f", [20 + i / 4 for i in range(8_000)])
    yield "time f64", words("d", [round(i * 0.1, 1) for i in range(8_000)])
    yield "congruential u32", words("I", list(_congruential(5_000)))
    yield "squares lines", lines([i * i for i in range(2_000)])
    yield "cubes u32", words("I", [i**3 for i in range(1_500)])
    fibonacci, tribonacci = [0, 1], [0, 0, 1]
    while len(fibonacci) < 85:
        fibonacci.append(sum(fibonacci[-2:]))
        tribonacci.append(sum(tribonacci[-3:]))
    yield "fibonacci list", (", ".join(map(str, fibonacci)) + "\n").encode()
    yield "tribonacci list", ",".join(map(str, tribonacci[:60])).encode()
    yield "powers list", " ".join(str(2**i) for i in range(60)).encode()
    csv = (f"{1_700_000_000 + 60 * i},{abs(i % 200 - 100) / 4:.2f},ok\n" for i in range(5_000))
    yield "triangle csv", ("time,value,state\n" + "".join(csv)).encode()
    objects = (f'{{"id": {i}, "t": {1000 * i}, "v": {i % 50}.5}}\n' for i in range(3_000))
    yield "counters jsonl", "".join(objects).encode()


def noisy(seed: int) -> Files:
    """Numbers around a rule, and periods: the noise, or the period, must be paid for."""
    rng = random.Random(seed)
    yield "walk i16", words("h", list(walk(rng, 20_000)))
    yield "ramp and noise i32", words("i", [10**6 + 100 * i + rng.randrange(-3, 4) for i in range(10_000)])
    yield "ramp and noise u8", bytes((i // 8 + rng.randrange(4)) % 256 for i in range(20_000))
    sine = [round(1000 * math.sin(2 * math.pi * i / 50)) for i in range(20_000)]
    yield "sine, period 50, i16", words("h", sine)
    yield "sine, no period, i16", words("h", [round(1000 * math.sin(i / 8)) for i in range(20_000)])
    yield "sine and noise i16", words("h", [x + rng.randrange(-4, 5) for x in sine])
    rows = (f"{1_700_000_000 + 60 * i},{20 + rng.gauss(0, 1):.2f},{rng.choice(['ok', 'off'])}\n" for i in range(5_000))
    yield "readings csv", ("time,temperature,state\n" + "".join(rows)).encode()
    pattern = [rng.randrange(-3000, 3000) for _ in range(97)]
    yield "period 97 i16", words("h", pattern * 200)
    exceptions = [15 * i for i in range(20_000)]
    for _ in range(40):
        exceptions[rng.randrange(20_000)] += rng.randrange(1, 500)
    yield "counter, 40 exceptions", words("i", exceptions)


def mixed(seed: int) -> Files:
    """Files of every sort, most of which no program explains."""
    rng = random.Random(seed)
    for folder, pattern in ((ROOT / "kolmocli", "*/*.py"), (ROOT / "docs", "*.md"), (ROOT, "*.md")):
        for path in sorted(folder.glob(pattern))[:5]:
            yield path.name, path.read_bytes()
    for name in SYSTEM_FILES:
        path = Path(name)
        if path.exists():
            data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
            yield path.name, data[:MOST_FILE_BYTES]
    yield "python", Path(sys.executable).read_bytes()[:MOST_FILE_BYTES]
    text = (ROOT / "docs" / "language.md").read_bytes()
    yield "compressed gz", gzip.compress(text, 9, mtime=0)
    yield "compressed xz", lzma.compress(text)
    yield "base64", base64.encodebytes(rng.randbytes(30_000))
    yield "utf-16", text.decode().encode("utf-16")
    for size in (0, 1, 2, 3, 10, 100, 1000, 100_000):
        yield f"random {size}", rng.randbytes(size)
    yield "zeros", bytes(100_000)
    yield "genome", bytes(_genome(rng, 200_000))
    yield "speech", words("h", list(speech(rng, 60_000)))
    rows = (f"{i},{20 + rng.random():.2f},{rng.choice(['ok', 'warm', 'off'])}\n" for i in range(3_000))
    yield "csv", "".join(rows).encode()
    stamps = (f"2026-01-{1 + i // 900:02} 12:{i // 60 % 60:02}:{i % 60:02}" for i in range(4_000))
    yield "log", "".join(f"{stamp} worker-{rng.randrange(9)} done\n" for stamp in stamps).encode()
    objects = [{"name": rng.choice(["a", "bb"]), "values": [rng.random(), rng.randrange(9)]} for _ in range(1_000)]
    yield "json", json.dumps(objects, indent=1).encode()
    yield "image", bytes((x + y + rng.randrange(3)) % 256 for y in range(200) for x in range(200))
    yield "bits", bytes(rng.choice(b"01") for _ in range(20_000))
    yield "mixed", text[:2000] + bytes(range(256)) * 4 + rng.randbytes(500)


def _congruential(count: int) -> Iterator[int]:
    x = 12345
    for _ in range(count):
        x = (1103515245 * x + 12345) % 2**31
        yield x


def walk(rng: random.Random, count: int) -> Iterator[int]:
    level = 0
    for _ in range(count):
        level = max(-30_000, min(30_000, level + rng.randrange(-20, 21)))
        yield level


def _genome(rng: random.Random, count: int) -> bytes:
    """Letters with repeats that are copied with errors."""
    out = bytearray(rng.choices(b"ACGT", k=1000))
    while len(out) < count:
        start, length = rng.randrange(len(out) - 500), rng.randrange(20, 500)
        copy = bytearray(out[start : start + length])
        copy[rng.randrange(length)] = rng.choice(b"ACGT")
        out += copy + bytes(rng.choices(b"ACGT", k=300))
    return bytes(out[:count])


def speech(rng: random.Random, count: int) -> Iterator[int]:
    """A resonance driven by noise in bursts."""
    a = b = 0.0
    for i in range(count):
        a, b = 1.8 * a - 0.9 * b + rng.gauss(0, 200 * abs(math.sin(i / 4000))), a
        yield max(-32_768, min(32_767, round(a)))
