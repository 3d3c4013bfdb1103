"""Sizes of `kolmo compress` beside gzip -9, bz2 -9, xz -9e, zstd -19 and brotli -11: the same bytes, one process.

    python benchmarks/compress.py                  # mixed files, ruled numbers, sampler output
    python benchmarks/compress.py --only sampler   # 1 MB of concatenated sampler results, boundaries unknown
    python benchmarks/compress.py FILE...          # files of your own

Claims: every file within 16 bytes of the best codec; noise-free numbers at most half of the best codec; sampler output
at least 22 % smaller than xz -9e.
"""

from __future__ import annotations

import argparse
import gzip
import math
import random
import struct
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from kolmocli.archive.compress import Options, compress
from kolmocli.archive.decompress import decompress
from kolmocli.evaluation.baselines import codecs
from kolmocli.language.sampler import sample

ROOT = Path(__file__).parents[1]
SYSTEM_FILES = (
    "/usr/share/common-licenses/GPL-3",
    "/usr/share/common-licenses/Apache-2.0",
    "/usr/share/sounds/alsa/Front_Center.wav",
    "/usr/share/sounds/alsa/Noise.wav",
    "/usr/share/doc/bowtie2/examples/reference/lambda_virus.fa.gz",
)
"""Real text, speech, noise and a genome, where the machine has them."""
MOST_FILE_BYTES = 400_000


def sampler(size: int, seed: int) -> bytes:
    rng = random.Random(seed)
    out = bytearray()
    while len(out) < size:
        out += bytes(sample(rng).sequence)
    return bytes(out[:size])


def ruled() -> Iterator[tuple[str, bytes]]:
    """Noise-free numbers: what has a rule should shrink to about the rule."""
    stamps = [1_700_000_000 + 15 * i for i in range(20_000)]
    yield "timestamps i32", struct.pack(f"<{len(stamps)}i", *stamps)
    yield "timestamps lines", "".join(f"{s}\n" for s in stamps).encode()
    yield "counter u16", struct.pack("<20000H", *(i % 65536 for i in range(20_000)))
    yield "counter i64", struct.pack("<5000q", *(10**12 + 1000 * i for i in range(5_000)))
    triangle = [*range(-3000, 3000, 40), *range(3000, -3000, -25)]
    yield "triangle sensor i16", struct.pack(f"<{50 * len(triangle)}h", *(triangle * 50))
    yield "sawtooth u8", bytes(7 * i % 251 for i in range(20_000))
    yield "multiples lines", "".join(f"{7 * i}\n" for i in range(8_000)).encode()
    two = [x for i in range(8_000) for x in (5_000_000 + 20 * i, 100_000_000 - 3 * i)]
    yield "two channels i32", struct.pack(f"<{len(two)}i", *two)


def mixed(seed: int) -> Iterator[tuple[str, bytes]]:
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
    text = (ROOT / "docs" / "language.md").read_bytes()
    yield "compressed", gzip.compress(text, 9)
    for size in (0, 1, 2, 3, 10, 100, 1000, 100_000):
        yield f"random {size}", rng.randbytes(size)
    yield "zeros", bytes(100_000)
    rows = (f"{i},{20 + rng.random():.2f},{rng.choice(['ok', 'warm', 'off'])}\n" for i in range(3_000))
    yield "csv", "".join(rows).encode()
    lines = (
        f"2026-01-{1 + i // 900:02} 12:{i // 60 % 60:02}:{i % 60:02} worker-{rng.randrange(9)} done\n"
        for i in range(4_000)
    )
    yield "log", "".join(lines).encode()
    yield "walk i16", struct.pack("<20000h", *_walk(rng, 20_000))
    yield "ramp and noise u8", bytes((i // 8 + rng.randrange(4)) % 256 for i in range(20_000))
    yield "sine u8", bytes(round(127 + 120 * math.sin(math.pi * i / 32)) for i in range(64)) * 300
    pattern = [rng.randrange(-3000, 3000) for _ in range(97)]
    yield "period i16", struct.pack("<19400h", *(pattern * 200))
    yield "bits", bytes(rng.choice(b"01") for _ in range(20_000))
    yield "mixed", text[:2000] + bytes(range(256)) * 4 + rng.randbytes(500)


def _walk(rng: random.Random, count: int) -> Iterator[int]:
    level = 0
    for _ in range(count):
        level = max(-30_000, min(30_000, level + rng.randrange(-20, 21)))
        yield level


def measure(name: str, data: bytes, level: int) -> tuple[int, dict[str, int]]:
    """One line of the table; kolmo's size and those of the codecs."""
    started = time.perf_counter()
    archive, reports = compress(data, Options(level=level))
    packed = time.perf_counter() - started
    started = time.perf_counter()
    if decompress(archive) != data:
        raise SystemExit(f"{name}: does not come back")
    unpacked = time.perf_counter() - started
    others = {codec: len(encode(data)) for codec, encode in codecs().items()}
    best = min(others, key=lambda codec: others[codec])
    share = 100 * (len(archive) / others[best] - 1)
    print(
        f"{name[:24]:24} {len(data):>9} {len(archive):>9}  "
        + " ".join(f"{others[c]:>8}" for c in others)
        + f"  {share:+7.1f} % of {best:6} {packed:6.1f} s {unpacked:5.1f} s  {reports[0].view if reports[0].programs else '-'}",
        flush=True,
    )
    return len(archive), others


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--only", choices=["mixed", "ruled", "sampler"])
    parser.add_argument("--level", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sampler-bytes", type=int, default=1_000_000)
    options = parser.parse_args()
    print(f"{'file':24} {'bytes':>9} {'kolmo':>9}  " + " ".join(f"{c:>8}" for c in codecs()))
    failed = []
    if options.files:
        for path in options.files:
            measure(path.name, path.read_bytes(), options.level)
        return 0
    for group, make in (("mixed", lambda: mixed(options.seed)), ("ruled", ruled)):
        if options.only not in (None, group):
            continue
        for name, data in make():
            size, others = measure(name, data, options.level)
            best = min(others.values())
            if size > best + 16 or (group == "ruled" and 2 * size > best):
                failed.append(name)
    if options.only in (None, "sampler"):
        size, others = measure("sampler", sampler(options.sampler_bytes, options.seed), options.level)
        print(
            f"sampler: {size / options.sampler_bytes:.3f} of raw, {100 * (1 - size / others['xz']):.1f} % smaller than xz"
        )
        if size > 0.78 * others["xz"]:
            failed.append("sampler")
    print("all claims hold" if not failed else f"claims that do not hold: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
