"""How fast files become sequences, beside plain copying, and what a million pairs cost in memory.

    python benchmarks/data.py                        # slicing: the table
    python benchmarks/data.py --pairs 1000000        # sampling: pairs per second, and peak memory for a hundredth and all
    python benchmarks/data.py --stream 2000          # slicing a file of this many megabytes: the same

Every row of the first table reads the same random bytes from a file in `--folder` and is the best of three. JSONL takes
4.2 bytes for each byte of input, so slicing is also compared with copying the file that it writes.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from kolmocli.tasks.files.blocks import Cutter
from kolmocli.tasks.files.plain import read_bytes
from kolmocli.tasks.files.slicing import Slicing, slice_files

_BUFFER = 1 << 20


def copy(source: Path, target: Path) -> None:
    """Read and write, a mebibyte at a time."""
    target.unlink(missing_ok=True)
    buffer = bytearray(_BUFFER)
    with open(source, "rb", buffering=0) as reader, open(target, "wb", buffering=0) as writer:
        while count := reader.readinto(buffer):
            writer.write(memoryview(buffer)[:count])


def cut(source: Path) -> None:
    """Blocks of 128 bytes, as the project's code sees them, and nothing written."""
    with open(source, "rb") as stream:
        for _ in Cutter([128]).cut(read_bytes(stream)):
            pass


def to_jsonl(source: Path, target: Path) -> None:
    target.unlink(missing_ok=True)
    slice_files([str(source)], str(target), Slicing("bytes"), force=True, warn=print)


def best(action: Callable[[], None], repeats: int = 3) -> float:
    """Seconds of the fastest run: what the others add is the machine's."""
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        action()
        times.append(time.perf_counter() - began)
    return min(times)


def slicing(folder: Path, megabytes: int) -> None:
    source, target, copied = folder / "in", folder / "out.jsonl", folder / "copy"
    np.random.default_rng(0).integers(0, 256, megabytes * 10**6, dtype=np.uint8).tofile(source)
    plain = best(lambda: copy(source, copied))
    rows = [
        ("copying the input", plain),
        ("reading it into blocks of 128", best(lambda: cut(source))),
        ("slicing it to JSONL", sliced := best(lambda: to_jsonl(source, target))),
        ("copying that JSONL", best(lambda: copy(target, copied))),
    ]
    size = target.stat().st_size / 10**6
    print(f"{megabytes} MB of bytes, {size:.0f} MB of JSONL")
    for name, seconds in rows:
        print(
            f"  {name:30} {seconds:6.2f} s  {megabytes / seconds:6.0f} MB of input/s  {seconds / plain:5.2f} × copying it"
        )
    print(f"  slicing takes {sliced / rows[-1][1]:.2f} × as long as copying what it writes")


def measured(count: int, what: str, *arguments: str) -> None:
    """Run `kolmo data` with these arguments and nowhere to write to; say how fast it was, and its peak memory."""
    command = [sys.executable, "-m", "kolmocli", "data", *arguments, "-o", os.devnull, "-q", "-f"]
    began = time.perf_counter()
    _, status, usage = os.wait4(subprocess.Popen(command).pid, 0)
    seconds = time.perf_counter() - began
    if status:
        raise SystemExit(f"{' '.join(command)} failed")
    print(f"{count:>9,} {what}: {count / seconds:6.0f} per second, peak memory {usage.ru_maxrss / 1024:.0f} MiB")


def sampling(pairs: int) -> None:
    for count in (pairs // 100, pairs):
        measured(count, "pairs", "synth", "--pairs", str(count))


def streaming(folder: Path, megabytes: int) -> None:
    for count in (megabytes // 10, megabytes):
        source = folder / f"{count}"
        with open(source, "wb") as file:
            file.truncate(count * 10**6)  # a hole: zeros that take no room on the disk
        for modality in ("bytes", "text"):
            measured(count, f"MB of {modality}", "slice", str(source), "--modality", modality)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=256)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()), help="where the files go")
    parser.add_argument("--pairs", type=int, help="sample this many pairs instead")
    parser.add_argument("--stream", type=int, metavar="MEGABYTES", help="slice a file of this size instead")
    options = parser.parse_args()
    if options.pairs:
        sampling(options.pairs)
        return
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        if options.stream:
            streaming(Path(folder), options.stream)
        else:
            slicing(Path(folder), options.megabytes)


if __name__ == "__main__":
    main()
