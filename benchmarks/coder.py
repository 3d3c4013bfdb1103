"""What a program costs in bits, as a share of the raw sequence, on freshly sampled pairs.

    python benchmarks/coder.py                 # the table, 20,000 pairs
    python benchmarks/coder.py --fit           # the code lengths that kolmocli/language/opcodes.py holds

Text rows are one solid stream of all programs. "golfed" gives functions and variables one-letter names. The intervals are
95 % over pairs: sequences have a heavy tail, so that shares of 20,000 pairs move by half a hundredth from seed to seed.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import heapq
import lzma
import random
import time
from collections.abc import Sequence

from kolmocli.evaluation.intervals import ratio_interval
from kolmocli.language.coder import coded_bits, literal_bits, uniform_prior_bits
from kolmocli.language.opcodes import CONTEXTS, END, SYMBOLS, WIDE, Scan
from kolmocli.language.program import INITIATORS, SIGNATURES, Program, Ref
from kolmocli.language.sampler import Pair, sample

FIT_SEED = 12345
FIT_PAIRS = 30_000


def golfed(program: Program) -> str:
    """The program with one letter per function and per variable."""
    names = {name: chr(ord("A") + i) for i, name in enumerate(SIGNATURES)}
    lines = []
    for call in program.statements:
        arguments = (chr(97 + a.index) if isinstance(a, Ref) else str(a).replace(" ", "") for a in call.arguments)
        lines.append(f"{names[call.function]}({','.join(arguments)})")
    return "\n".join(lines)


def codecs(data: bytes) -> dict[str, int]:
    return {
        "gzip": len(gzip.compress(data, 9)),
        "bz2": len(bz2.compress(data, 9)),
        "xz": len(lzma.compress(data, preset=9 | lzma.PRESET_EXTREME)),
    }


def share(bits: Sequence[float], pairs: list[Pair]) -> str:
    """Of all raw bits, with its interval."""
    raw = [8 * len(p.sequence) for p in pairs]
    interval = ratio_interval(bits, raw)
    assert interval is not None
    return f"{sum(bits) / sum(raw):.3f} ({interval[0]:.3f}–{interval[1]:.3f})"


def table(pairs: list[Pair]) -> None:
    raw = sum(len(p.sequence) for p in pairs)
    started = time.perf_counter()
    coded = [coded_bits(p.program) for p in pairs]
    seconds = time.perf_counter() - started
    print(f"{len(pairs)} pairs, {raw} items of one byte; share of raw")
    print(f"  coded bits (static prefix code)   {share(coded, pairs)}   {seconds / len(pairs) * 1e6:.0f} µs each")
    print(f"  literal bits (one set_list)       {share([literal_bits(p.sequence) for p in pairs], pairs)}")
    print(f"  uniform prior (no code)           {share([uniform_prior_bits(p.program) for p in pairs], pairs)}")
    rows = {
        "program text": "\n\n".join(str(p.program) for p in pairs).encode(),
        "program text, golfed": "\n\n".join(golfed(p.program) for p in pairs).encode(),
        "sequence as bytes": b"".join(bytes(p.sequence) for p in pairs),
    }
    for name, data in rows.items():
        sizes = "  ".join(f"{codec} {size / raw:.3f}" for codec, size in codecs(data).items())
        print(f"  {name:33} {sizes}   (plain {len(data) / raw:.3f})")


def fitted_lengths(programs: list[Program]) -> list[tuple[int, ...]]:
    """Huffman code lengths per context for these programs: how `LENGTHS` was made."""
    counts = [[0] * len(SYMBOLS) for _ in range(CONTEXTS)]
    for program in programs:
        scan = Scan()
        for statement in program.statements:
            counts[scan.context()][SYMBOLS.index(scan.symbol(statement))] += 1
            scan.feed(statement)
        counts[scan.context()][SYMBOLS.index(END)] += 1
    return [_huffman(row, possible=None if i else (*INITIATORS, WIDE, END)) for i, row in enumerate(counts)]


def _huffman(counts: list[int], possible: tuple[str, ...] | None) -> tuple[int, ...]:
    floor = max(1.0, 0.0015 * sum(counts))
    lengths = [0] * len(counts)
    used = [i for i, name in enumerate(SYMBOLS) if possible is None or name in possible]
    heap = [(max(float(counts[i]), floor), i, [i]) for i in used]
    heapq.heapify(heap)
    while len(heap) > 1:
        (weight, first, some), (other_weight, second, others) = heapq.heappop(heap), heapq.heappop(heap)
        for i in some + others:
            lengths[i] += 1
        heapq.heappush(heap, (weight + other_weight, min(first, second), some + others))
    return tuple(lengths)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fit", action="store_true", help="print code lengths fitted to fresh samples")
    options = parser.parse_args()
    if options.fit:
        rng = random.Random(FIT_SEED)
        for lengths in fitted_lengths([sample(rng).program for _ in range(FIT_PAIRS)]):
            print(f"    ({', '.join(map(str, lengths))}),")
        return
    rng = random.Random(options.seed)
    table([sample(rng) for _ in range(options.pairs)])


if __name__ == "__main__":
    main()
