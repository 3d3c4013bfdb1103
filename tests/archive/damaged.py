"""Thousands of damaged archives of all kinds, in one process: none may decode to something else, hang, or take much memory.

python -m tests.archive.damaged [COUNT] [SEED]
"""

import contextlib
import random
import signal
import struct
import sys

import numpy as np

from kolmocli.archive.folders.packer import pack_folder
from kolmocli.archive.folders.reader import open_folder
from kolmocli.archive.format.folder import (
    Entry,
    Kind,
    check_path,
    check_together,
    is_folder,
    read_folder,
    write_folder,
)
from kolmocli.archive.opener import decompress
from kolmocli.archive.options import Options
from kolmocli.archive.packer import compress
from kolmocli.errors import KolmoError

from . import samples
from .test_recognized import npy, npz, wav

COUNT, SEED = 10_000, 7
LIMIT = 1 << 20
MOST_SECONDS = 20
_WALK = np.cumsum(np.random.default_rng(0).integers(-9, 10, 400))


def originals():
    """Name and contents of one archive of each kind."""
    files = dict(samples.SMALL) | dict(samples.RULED)
    files |= {"npy": npy(_WALK.astype(">i4").reshape(100, 4)), "npz": npz(a=_WALK / 4, b=_WALK.astype("i2"))}
    files |= {"wav": wav(_WALK.astype("<i2").tobytes(), 2, 2), "stations, more": samples.stations(80)}
    for name, data in files.items():
        yield name, compress(data, 3), data
    rng = random.Random(1)
    found = [(Entry(name.encode(), rng.choice((Kind.FILE, Kind.PROGRAM)), len(d)), d) for name, d in files.items()]
    found += [(Entry(b"link", Kind.LINK, target=b"/etc"), b""), (Entry(b"d/empty", Kind.FOLDER), b"")]
    for number, some in enumerate((found, found[:3], found[5:9], found[-6:], [])):
        archive = pack_folder(some, Options(2))[0]
        yield f"folder {number}", archive, dict(some)


def decoded(archive):
    if not is_folder(archive):
        return decompress(archive, LIMIT)
    folder = open_folder(archive, LIMIT)
    made = dict.fromkeys(folder.entries, b"")
    for entry, piece in folder.pieces(folder.entries):
        made[entry] += piece
    for entry in made:
        check_path(entry.path)
    check_together(list(made))
    return made


def damage(archive, others, rng):
    """The archive with some harm done to it."""
    data = bytearray(archive)
    at = rng.randrange(len(data))
    match rng.randrange(7):
        case 0:
            for _ in range(rng.randrange(1, 9)):
                data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        case 1:
            del data[at:]
        case 2:
            data[at : at + rng.randrange(1, 40)] = rng.randbytes(rng.randrange(40))
        case 3:
            other = rng.choice(others)
            data[at:] = other[rng.randrange(len(other)) :]
        case 4:
            data[at : at + 8] = struct.pack("<Q", rng.choice((0, 1 << 31, (1 << 64) - 1, rng.getrandbits(40))))
        case 5:
            first = rng.randrange(min(len(data), 24))
            data[first] = rng.randrange(256)
        case _:
            data += rng.choice(others)
    return bytes(data)


def harm_index(archive, rng):
    """A folder whose index is another, well packed: only what it says can be wrong."""
    parts = read_folder(archive)
    index = bytearray(decompress(parts.index))
    for _ in range(rng.randrange(1, 4)):
        index[rng.randrange(len(index))] = rng.choice(b"/.\0\1\2\3\xff") if rng.random() < 0.5 else rng.randrange(256)
    return write_folder(compress(bytes(index), 0), parts.members)


def peak():
    """Bytes, the most that this process had."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM"))


def main(count=COUNT, seed=SEED):
    rng, kinds = random.Random(seed), list(originals())
    archives = [archive for _, archive, _ in kinds]
    wholes = {data for _, _, data in kinds if isinstance(data, bytes)}
    signal.signal(signal.SIGALRM, lambda *_: sys.exit(f"one took more than {MOST_SECONDS} s"))
    right = refused = 0
    for number in range(count):
        name, archive, original = kinds[number % len(kinds)]
        by_index = is_folder(archive) and rng.random() < 0.3
        harmed = harm_index(archive, rng) if by_index else damage(archive, archives, rng)
        signal.alarm(MOST_SECONDS)
        with contextlib.suppress(KolmoError):
            made = decoded(harmed)
            right += 1
            # whole archives may meet where two were put together; an index that was harmed may name files otherwise
            joined = isinstance(made, bytes) and any(made.startswith(whole) for whole in wholes)
            if made != original and not by_index and not joined:
                sys.exit(f"{name}, number {number} of seed {seed}: decodes to something else")
            continue
        refused += 1
    signal.alarm(0)
    print(f"{count} damaged archives: {refused} refused, {right} right, at most {peak() >> 20} MB")
    return 0 if peak() < 500 << 20 else f"{peak() >> 20} MB are too many"


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
