"""What a search finds for sampled sequences, compared with the programs that made them.

    python benchmarks/solve.py --pairs 60 --seconds 0.3
    python benchmarks/solve.py --pairs 60 --model shipped --samples 16

The reference is the program that the sampler drew, in the same prefix code. It is no lower bound: a search may find a
shorter program. With `--model` the same search runs once more, and begins with the programs that the model writes; its time is its own.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
import time
from collections.abc import Sequence

import kolmocli as kolmo
from kolmocli.language.coder import coded_bits
from kolmocli.language.raw import raw_bits
from kolmocli.language.sampler import Pair, sample
from kolmocli.language.sampler_settings import PUBLISHED
from kolmocli.language.search.solver import Solution


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=1.0, help="for each sequence")
    parser.add_argument("--steps", type=int, help="of each search, instead of seconds: the same on every machine")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--model", metavar="NAME", help="whose programs join the search, as in kolmo solve --model")
    parser.add_argument("--samples", type=int, default=16, help="programs that the model writes for each sequence")
    options = parser.parse_args()
    if options.pairs < 1:
        parser.error("--pairs must be at least 1")

    rng = random.Random(options.seed)
    pairs = [sample(rng, PUBLISHED) for _ in range(options.pairs)]
    seconds = options.seconds if options.steps is None else math.inf
    effort = f"{options.seconds} s" if options.steps is None else f"{options.steps:,} steps"
    print(f"{len(pairs)} pairs, seed {options.seed}, {effort} each")
    alone = [kolmo.solve(pair.sequence, seconds=seconds, steps=options.steps) for pair in pairs]
    right = shown(alone, pairs)
    if options.model is None:
        return 0 if right else 1

    from kolmocli.policy.proposer import open_proposer  # brings torch

    began = time.perf_counter()
    known = open_proposer(options.model).propose([pair.sequence for pair in pairs], options.samples, options.seed)
    took = (time.perf_counter() - began) / len(pairs)
    print(f"with {options.samples} programs of {options.model} for each, written in {took:.2f} s")
    joined = [
        kolmo.solve(pair.sequence, seconds=seconds, steps=options.steps, known=programs)
        for pair, programs in zip(pairs, known, strict=True)
    ]
    right &= shown(joined, pairs)
    won = sum(a.bits < b.bits for a, b in zip(joined, alone, strict=True))
    lost = sum(a.bits > b.bits for a, b in zip(joined, alone, strict=True))
    print(f"  shorter than alone        {won} of {len(pairs)}, longer {lost}")
    return 0 if right else 1


def shown(solutions: Sequence[Solution], pairs: Sequence[Pair]) -> bool:
    """Whether every value is right."""
    right = sum(solution.value == pair.sequence for solution, pair in zip(solutions, pairs, strict=True))
    found = [solution.bits for solution in solutions]
    reference = [coded_bits(pair.program) for pair in pairs]
    raw = raw_bits(pair.sequence for pair in pairs)
    no_longer = sum(a <= b for a, b in zip(found, reference, strict=True))
    print(f"  right values              {right} of {len(pairs)}")
    print(f"  coded bits, found         {sum(found)}, {sum(found) / raw:.3f} of raw")
    print(f"  coded bits, reference     {sum(reference)}, {sum(reference) / raw:.3f} of raw")
    print(f"  found / reference         {sum(found) / sum(reference):.3f}")
    print(f"  no longer than reference  {no_longer} of {len(pairs)}")
    print(f"  seconds, the longest      {max(solution.seconds for solution in solutions):.2f}")
    return right == len(pairs)


if __name__ == "__main__":
    sys.exit(main())
