"""Sizes of `kolmo compress` beside gzip -9, bz2 -9, xz -9e, zstd -19 and brotli -11: the same bytes, one process.

    python benchmarks/compress.py                  # every group below
    python benchmarks/compress.py --only sampler   # 1 MB of concatenated sampler results, boundaries unknown
    python benchmarks/compress.py FILE...          # files of your own
    python benchmarks/compress.py --real DIR       # all files of a folder, such as `benchmarks/real_files.py` makes

Groups and what they claim:
    mixed    files of every sort: none more than 16 bytes larger than with the best codec
    ruled    numbers without noise: at most half of the best codec
    noisy    numbers around a rule: at most pcodec and 32 bytes, which is told their type
    real     files that people have (--real): the same where the name tells a type (`.i16`), and else no more than 16
             bytes larger than with the best codec; the share of the best codec, as a geometric mean
    sampler  at least 22 % smaller than xz -9e, in under 120 s
    decode   files that are mostly residual: at least 50 MB/s, or the speed of bz2 where that was taken
    budget   18 MB and 1 MB in a time budget: done within it, a tenth more and a second, and never larger than deflate −1
    memory   the peak of a process that packs, and of one that unpacks: at most 1 GiB

Exit code 1 where a claim does not hold.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import json
import lzma
import math
import random
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from kolmocli.archive.codecs.codecs import CODECS, QUICKEST
from kolmocli.archive.codecs.packing import pack
from kolmocli.archive.opener import decompress
from kolmocli.archive.options import Options
from kolmocli.archive.packer import compress_with_reports
from kolmocli.evaluation.baselines import codecs
from kolmocli.language.sampler import sample

if __package__:
    from benchmarks.numeric_codecs import numeric_codecs, type_of
    from benchmarks.real_files import LICENCE_FILE
else:
    from numeric_codecs import numeric_codecs, type_of
    from real_files import LICENCE_FILE

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
LEAST_MIXED = 30
MOST_OVERHEAD = 16
MOST_OVER_PCODEC = 32
TYPES_OF_NOISY = {
    "walk i16": "i16",
    "ramp and noise i32": "i32",
    "sine, period 50, i16": "i16",
    "sine, no period, i16": "i16",
    "sine and noise i16": "i16",
    "period 97 i16": "i16",
    "counter, 40 exceptions": "i32",
}
"""What pcodec is told."""
MOST_SAMPLER_SECONDS = 120
LEAST_MB_PER_SECOND = 50
LEAST_OF_CODEC = 0.7
BUDGET_SECONDS = 20.0
MOST_MEMORY_MB = 1024
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
    yield "walk i16", words("h", list(_walk(rng, 20_000)))
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
    yield "compressed gz", gzip.compress(text, 9)
    yield "compressed xz", lzma.compress(text)
    yield "base64", base64.encodebytes(rng.randbytes(30_000))
    yield "utf-16", text.decode().encode("utf-16")
    for size in (0, 1, 2, 3, 10, 100, 1000, 100_000):
        yield f"random {size}", rng.randbytes(size)
    yield "zeros", bytes(100_000)
    yield "genome", bytes(_genome(rng, 200_000))
    yield "speech", words("h", list(_speech(rng, 60_000)))
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


def _walk(rng: random.Random, count: int) -> Iterator[int]:
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


def _speech(rng: random.Random, count: int) -> Iterator[int]:
    """A resonance driven by noise in bursts."""
    a = b = 0.0
    for i in range(count):
        a, b = 1.8 * a - 0.9 * b + rng.gauss(0, 200 * abs(math.sin(i / 4000))), a
        yield max(-32_768, min(32_767, round(a)))


def measure(name: str, data: bytes, level: int) -> tuple[int, dict[str, int], float]:
    """One line of the table; kolmo's size, those of the codecs, seconds to pack."""
    started = time.perf_counter()
    archive, reports = compress_with_reports(data, Options(level=level))
    packed = time.perf_counter() - started
    started = time.perf_counter()
    if decompress(archive) != data:
        raise SystemExit(f"{name}: does not come back")
    unpacked = time.perf_counter() - started
    others = {codec: len(encode(data)) for codec, encode in codecs().items()}
    best = min(others, key=lambda codec: others[codec])
    share = f"{others[best] / len(archive):7.2f} x {best:6}"
    view = reports[0].view if reports[0].programs else "-"
    row = " ".join(f"{size:>8}" for size in others.values())
    print(f"{name[:24]:24} {len(data):>9} {len(archive):>9}  {row}  {share} {packed:6.1f} s {unpacked:5.1f} s  {view}")
    sys.stdout.flush()
    return len(archive), others, packed


def typed(files: Files, level: int) -> list[str]:
    """A table beside codecs of numbers, which are told the type; the names for which the claim does not hold."""
    peers = numeric_codecs()
    failed: list[str] = []
    shares: list[float] = []
    print(
        f"\n{'file':28} {'bytes':>8} {'best':>8} {'of':6} "
        + " ".join(f"{name:>8}" for name in peers)
        + f" {'kolmo':>8}  of best"
    )
    for name, data in files:
        archive, (report, *_) = compress_with_reports(data, Options(level=level))
        if decompress(archive) != data:
            raise SystemExit(f"{name}: does not come back")
        others = {codec: len(encode(data)) for codec, encode in codecs().items()}
        best = min(others, key=lambda codec: others[codec])
        type_ = type_of(f"{name}.{TYPES_OF_NOISY[name]}" if name in TYPES_OF_NOISY else name)
        told = {} if type_ is None else {peer: size(data, type_) for peer, size in peers.items()}
        row = " ".join(f"{told.get(peer, '-'):>8}" for peer in peers)
        shares.append(len(archive) / others[best])
        print(
            f"{name[:28]:28} {len(data):>8} {others[best]:>8} {best:6} {row} {len(archive):>8}  {shares[-1]:.3f}  {report.codec}",
            flush=True,
        )
        most = min(others[best] + MOST_OVERHEAD, told.get("pcodec", len(data) + MOST_OVERHEAD) + MOST_OVER_PCODEC)
        if len(archive) > most:
            failed.append(name)
    mean = math.exp(sum(map(math.log, shares)) / len(shares)) if shares else 1.0
    print(
        f"{len(shares)} files, {mean:.3f} of the best codec on the geometric mean, {len(failed)} claims that do not hold"
    )
    return failed


def real(folder: Path) -> Files:
    """The files of a folder, by name."""
    for path in sorted(folder.iterdir()):
        if path.is_file() and path.name != LICENCE_FILE:
            yield path.name, path.read_bytes()


def decode(seed: int) -> list[str]:
    """Decoding speed of data that are mostly residual, in processor time; the names that are too slow.

    Where kolmo took bz2, whose own decoder is slower than the claim, at least its speed is wanted.
    """
    rng = random.Random(seed)
    ramps = b"".join(bytes(range(start, 256)) for start in range(0, 200, 2))
    slow = []
    print(f"\n{'residual':24} {'bytes':>9} {'kolmo':>9}  codec    programs     decode  codec alone")
    for name, data in (
        ("random", rng.randbytes(20 << 20)),
        ("random and ramps", rng.randbytes(1 << 20) + ramps),
        ("speech", words("h", list(_speech(rng, 300_000)))),
        ("words", b" ".join(rng.choices([rng.randbytes(6).hex().encode() for _ in range(4_000)], k=80_000))),
        ("source", b"".join(p.read_bytes() for p in sorted((ROOT / "kolmocli").glob("**/*.py")))[:300_000]),
    ):
        archive, (report, *_) = compress_with_reports(data, Options(level=3))
        codec, payload = pack(data, 3)
        speed = len(data) / _processor_seconds(partial(decompress, archive)) / 1e6
        alone = len(data) / _processor_seconds(partial(codec.decode, payload, len(data))) / 1e6
        print(
            f"{name:24} {len(data):>9} {len(archive):>9}  {report.codec:8} {report.programs:>8} {speed:>5.0f} MB/s"
            f" {codec.name:>7} {alone:.0f} MB/s",
            flush=True,
        )
        if speed < LEAST_MB_PER_SECOND and not (report.codec == "bz2" and speed > LEAST_OF_CODEC * alone):
            slow.append(f"decode {name}")
    return slow


def _processor_seconds(work: Callable[[], object]) -> float:
    """The least of three runs."""
    taken = []
    for _ in range(3):
        started = time.process_time()
        work()
        taken.append(time.process_time() - started)
    return min(taken)


def budget(seed: int) -> list[str]:
    """Wall time and size under `--time-budget`; the names that take longer or become larger than they may."""
    rng = random.Random(seed)
    vocabulary = [rng.randbytes(rng.randrange(1, 6)).hex().encode() for _ in range(20_000)]
    too_long = []
    print(f"\n{'budget':24} {'bytes':>9} {'kolmo':>9}  codec    programs   budget    taken")
    for name, data in (
        ("words 18 MB", b" ".join(rng.choices(vocabulary, k=3_000_000))[:18_000_000]),
        ("walk i32 18 MB", words("i", list(_walk(rng, 4_500_000)))),
        ("words 1 MB", b" ".join(rng.choices(vocabulary, k=200_000))[:1_000_000]),
        ("sampler 1 MB", sampler(1_000_000, seed)),
    ):
        started = time.monotonic()
        archive, (report, *_) = compress_with_reports(data, Options(deadline=started + BUDGET_SECONDS))
        taken = time.monotonic() - started
        print(
            f"{name:24} {len(data):>9} {len(archive):>9}  {report.codec:8} {report.programs:>8} {BUDGET_SECONDS:>6.0f} s"
            f" {taken:>6.1f} s",
            flush=True,
        )
        quickest = CODECS[1].encode(data, QUICKEST) or b""
        if taken > 1.1 * BUDGET_SECONDS + 1 or len(archive) > len(quickest) + MOST_OVERHEAD:
            too_long.append(f"budget {name}")
    return too_long


# Not `ru_maxrss`: what the process that starts this one holds would count, too.
_PEAK = """
import re, sys
from kolmocli.archive.options import Options
from kolmocli.archive.packer import compress_with_reports
from kolmocli.archive.opener import decompress
data = sys.stdin.buffer.read()
sys.stdout.buffer.write(compress_with_reports(data, Options(level=6))[0] if sys.argv[1] == "pack" else decompress(data))
sys.stderr.write(str(int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) // 1024))
"""


def memory(seed: int) -> list[str]:
    """The peak memory of a process that packs and of one that unpacks; the names that take too much."""
    too_much = []
    print(f"\n{'memory':24} {'bytes':>9}      pack    unpack")
    for name, data in (
        ("nothing", b""),
        ("sampler 1 MB", sampler(1_000_000, seed)),
        ("random 24 MB", random.Random(seed).randbytes(24_000_000)),
    ):
        peaks, size = [], len(data)
        for way in ("pack", "unpack"):
            done = subprocess.run([sys.executable, "-c", _PEAK, way], input=data, capture_output=True, check=True)
            data = done.stdout
            peaks.append(int(done.stderr))
        print(f"{name:24} {size:>9} {peaks[0]:>6} MB {peaks[1]:>6} MB", flush=True)
        if max(peaks) > MOST_MEMORY_MB:
            too_much.append(f"memory {name}")
    return too_much


def table(group: str, files: Files, level: int) -> list[str]:
    """The lines of a group; the names for which its claim does not hold."""
    failed, count = [], 0
    print(f"\n{group:24} {'bytes':>9} {'kolmo':>9}  " + " ".join(f"{c:>8}" for c in codecs()))
    for name, data in files:
        size, others, seconds = measure(name, data, level)
        best, count = min(others.values()), count + 1
        held = {
            "mixed": size <= best + MOST_OVERHEAD,
            "ruled": 2 * size <= best,
            "sampler": size <= 0.78 * others["xz"] and seconds < MOST_SAMPLER_SECONDS,
        }
        if group == "sampler":
            print(f"sampler: {size / len(data):.4f} of raw, {100 * (1 - size / others['xz']):.1f} % smaller than xz")
        if not held.get(group, True):
            failed.append(f"{group} {name}")
    print(f"{group}: {count} files, {len(failed)} for which the claim does not hold")
    return failed + (["mixed: too few files"] if group == "mixed" and count < LEAST_MIXED else [])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    groups = ("mixed", "ruled", "noisy", "sampler", "decode", "budget", "memory")
    parser.add_argument("--only", choices=groups)
    parser.add_argument("--real", type=Path, metavar="DIR", help="a folder of files")
    parser.add_argument("--level", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sampler-bytes", type=int, default=1_000_000)
    options = parser.parse_args()
    if options.real is not None:
        failed = typed(real(options.real), options.level)
        print("\nall claims hold" if not failed else f"\nclaims that do not hold: {', '.join(failed)}")
        return 1 if failed else 0
    if options.files:
        table("files", ((path.name, path.read_bytes()) for path in options.files), options.level)
        return 0
    failed = []
    for group in groups if options.only is None else (options.only,):
        match group:
            case "mixed":
                failed += table(group, mixed(options.seed), options.level)
            case "ruled":
                failed += table(group, ruled(), options.level)
            case "noisy":
                failed += typed(noisy(options.seed), options.level)
            case "sampler":
                data = sampler(options.sampler_bytes, options.seed)
                failed += table(group, iter([("sampler", data)]), options.level)
            case "decode":
                failed += decode(options.seed)
            case "budget":
                failed += budget(options.seed)
            case "memory":
                failed += memory(options.seed)
    print("\nall claims hold" if not failed else f"\nclaims that do not hold: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
