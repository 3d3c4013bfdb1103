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
    sampler  at least 28 % smaller than xz -9e
    levels   -0 to -9 on 300 KB of three kinds: bytes, seconds, MB/s; -9 is never larger than -1
    decode   files that are mostly residual: at least 50 MB/s, or the speed of bz2 where that was taken
    budget   18 MB and 1 MB in a time budget: done within it, a tenth more and a second, and never larger than deflate −1
    memory   the peak of a process that packs, and of one that unpacks: at most 600 MB

Exit code 1 where a claim does not hold.
"""

from __future__ import annotations

import argparse
import math
import random
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from kolmocli.archive.codecs.codecs import CODECS, QUICKEST
from kolmocli.archive.codecs.packing import pack
from kolmocli.archive.opener import decompress
from kolmocli.archive.options import Options
from kolmocli.archive.packer import compress_with_reports
from kolmocli.evaluation.baselines import codecs

if __package__:
    from benchmarks.made_files import ROOT, Files, mixed, noisy, ruled, sampler, speech, walk, words
    from benchmarks.numeric_codecs import numeric_codecs, type_of
    from benchmarks.real_files import LICENCE_FILE
else:
    from made_files import ROOT, Files, mixed, noisy, ruled, sampler, speech, walk, words
    from numeric_codecs import numeric_codecs, type_of
    from real_files import LICENCE_FILE

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
MOST_OF_XZ = 0.72
LEVEL_BYTES = 300_000
LEAST_MB_PER_SECOND = 50
LEAST_OF_CODEC = 0.7
BUDGET_SECONDS = 20.0
MOST_MEMORY_MB = 600


def measure(name: str, data: bytes, level: int) -> tuple[int, dict[str, int]]:
    """One line of the table; kolmo's size, and those of the codecs."""
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
    return len(archive), others


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
        ("speech", words("h", list(speech(rng, 300_000)))),
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
        ("walk i32 18 MB", words("i", list(walk(rng, 4_500_000)))),
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


def levels(seed: int) -> list[str]:
    """What each level makes of the same data, and how fast; the kinds of data of which the last is larger than the first."""
    worse = []
    for name, data in (
        ("sampler", sampler(LEVEL_BYTES, seed)),
        ("Python source", b"".join(path.read_bytes() for path in sorted(ROOT.rglob("kolmocli/**/*.py")))[:LEVEL_BYTES]),
        ("walk i16", words("h", list(walk(random.Random(seed), LEVEL_BYTES // 2)))),
    ):
        print(f"\n{name:24} {'bytes':>9} {'seconds':>8} {'MB/s':>6}")
        sizes = []
        for level in range(10):
            started = time.perf_counter()
            sizes.append(len(compress_with_reports(data, Options(level=level))[0]))
            taken = time.perf_counter() - started
            print(f"-{level:<23} {sizes[-1]:>9} {taken:>8.2f} {len(data) / taken / 1e6:>6.2f}", flush=True)
        if sizes[9] > sizes[1]:
            worse.append(f"levels {name}")
    return worse


def table(group: str, files: Files, level: int) -> list[str]:
    """The lines of a group; the names for which its claim does not hold."""
    failed, count = [], 0
    print(f"\n{group:24} {'bytes':>9} {'kolmo':>9}  " + " ".join(f"{c:>8}" for c in codecs()))
    for name, data in files:
        size, others = measure(name, data, level)
        best, count = min(others.values()), count + 1
        held = {
            "mixed": size <= best + MOST_OVERHEAD,
            "ruled": 2 * size <= best,
            "sampler": size <= MOST_OF_XZ * others["xz"],
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
    groups = ("mixed", "ruled", "noisy", "sampler", "levels", "decode", "budget", "memory")
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
            case "levels":
                failed += levels(options.seed)
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
