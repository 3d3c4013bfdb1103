"""How many integer sequences of the OEIS a search writes shorter, and how many it can continue.

    python benchmarks/oeis.py stripped.gz --sample 1000 --seconds 1
    python benchmarks/oeis.py loda-programs/oeis --sample 300

Takes the file `stripped` (https://oeis.org/stripped.gz), `.seq` files, LODA's `.asm` files, or folders of these
(https://github.com/loda-lang/loda-programs). The data are the OEIS Foundation's, CC BY-SA 4.0, and not part of this project.

Of the sequences whose terms are all bytes, a sample is solved: in fewer bits than the literal list, and than its share of
one xz stream of all. For the continuation the last terms are kept back, the rest is solved, and the program is asked to go on.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import kolmocli as kolmo
from kolmocli.evaluation.baselines import solid_bits
from kolmocli.evaluation.continuation import predict
from kolmocli.evaluation.intervals import wilson
from kolmocli.language.raw import raw_bits
from kolmocli.tasks.files.entries import read_entries
from kolmocli.tasks.files.problems import Problems

KEPT_BACK = 4


def files(names: Sequence[str]) -> Iterator[str]:
    for name in names:
        path = Path(name)
        yield from (map(str, sorted([*path.rglob("*.asm"), *path.rglob("*.seq")])) if path.is_dir() else [name])


def byte_sequences(names: Sequence[str], least: int) -> tuple[int, list[tuple[str, tuple[int, ...]]]]:
    """How many sequences there are, and those of at least this many terms that are all bytes, by their numbers."""
    count, found = 0, {}
    for name in files(names):
        problems = Problems(name, lambda line: print(line, file=sys.stderr))
        for _, entry in read_entries(name, problems):
            count += 1
            if len(entry.sequence) >= least and min(entry.sequence) >= 0 and max(entry.sequence) <= 255:
                found[entry.task_id or str(count)] = entry.sequence
    return count, sorted(found.items())


def share(hits: int, of: int) -> str:
    low, high = wilson(hits, of)
    return f"{hits:,} of {of:,}, {100 * hits / of:.1f} % ({100 * low:.1f}–{100 * high:.1f})"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE|FOLDER")
    parser.add_argument("--sample", type=int, default=300, help="sequences to solve; 0: all")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each search")
    parser.add_argument("--steps", type=int, help="of each search, instead of seconds: the same on every machine")
    parser.add_argument("--least", type=int, default=16, help="terms that a sequence must have")
    parser.add_argument("--seed", type=int, default=0, help="which sequences")
    parser.add_argument(
        "--show", type=int, default=0, help="print this many of the shortest programs, relative to their literals"
    )
    options = parser.parse_args()
    if options.least <= 3 * KEPT_BACK:
        parser.error(f"--least must be above {3 * KEPT_BACK}: {KEPT_BACK} terms are kept back")

    count, found = byte_sequences(options.files, options.least)
    if not found:
        print("no sequence of bytes in it", file=sys.stderr)
        return 1
    chosen = found if not options.sample else random.Random(options.seed).sample(found, min(options.sample, len(found)))
    sequences = [sequence for _, sequence in chosen]
    started = time.monotonic()
    seconds = options.seconds if options.steps is None else math.inf
    solutions = [kolmo.solve(sequence, seconds=seconds, steps=options.steps) for sequence in sequences]
    right = sum(solution.value == sequence for solution, sequence in zip(solutions, sequences, strict=True))
    raw, xz = raw_bits(sequences), solid_bits("xz", sequences)
    bits, literal = sum(s.bits for s in solutions), sum(s.literal_bits for s in solutions)
    shorter = sum(s.bits < s.literal_bits for s in solutions)
    half = sum(2 * s.bits <= s.literal_bits for s in solutions)
    below = sum(s.bits < xz / raw * raw_bits([q]) for s, q in zip(solutions, sequences, strict=True))
    continued = []
    for sequence in sequences:
        seen, rest = sequence[:-KEPT_BACK], sequence[-KEPT_BACK:]
        program = kolmo.solve(seen, seconds=seconds, steps=options.steps).program
        continued.append(predict(program, seen, KEPT_BACK) == rest)
    n = len(chosen)
    effort = f"{options.seconds} s" if options.steps is None else f"{options.steps:,} steps"
    print(f"{count:,} sequences, {len(found):,} of at least {options.least} terms that are bytes")
    print(f"{n:,} of them, seed {options.seed}, {effort} for each search, {time.monotonic() - started:.0f} s in all")
    print(f"  right values                      {right:,} of {n:,}")
    print(f"  fewer bits than the literal       {share(shorter, n)}")
    print(f"  at most half of the literal       {share(half, n)}")
    print(f"  fewer than their share of xz      {share(below, n)}")
    print(
        f"  bits in all ÷ raw                 programs {bits / raw:.3f}, literals {literal / raw:.3f}, xz of all {xz / raw:.3f}"
    )
    print(f"  the last {KEPT_BACK} terms predicted        {share(sum(continued), n)}")
    ranked = sorted(zip(chosen, solutions, strict=True), key=lambda item: item[1].bits / item[1].literal_bits)
    for (name, sequence), solution in ranked[: options.show]:
        print(f"\n{name}, {len(sequence)} terms, {solution.bits} bits, literal {solution.literal_bits}\n{solution}")
    return 0 if right == n else 1


if __name__ == "__main__":
    sys.exit(main())
