"""What a search saves that is guided to the sampler's own program: the search alone beside the same search that is given it.

    python benchmarks/guide.py --pairs 300 --longer 4

Sequences are those of the published sampler, and every search has the same steps. `known` is given the program that the sampler drew,
with the way in which it takes the sequence apart and all values that it names. A guide that learns from such programs proposes no more
than that; one that finds shorter programs than the sampler's could do better.
`longer` has several times the steps instead, `best` is the shortest program of all three. Each is bits ÷ bits of the search alone, with
a 95 % interval over the pairs; seconds are those of one search alone.
"""

from __future__ import annotations

import argparse
import json
import math
import random
from collections.abc import Sequence
from typing import NamedTuple

import kolmocli as kolmo
from kolmocli.evaluation.intervals import ratio_interval
from kolmocli.language.sampler import Pair, sample
from kolmocli.language.sampler_settings import PUBLISHED

LONG = 96
"""Items. Above it most is left to find."""


class Searched(NamedTuple):
    """Bits for one sequence of `items`."""

    items: int
    seconds: float
    alone: int
    known: int
    longer: int

    @property
    def best(self) -> int:
        return min(self[2:])


def searched(pair: Pair, steps: int, times: int) -> Searched:
    sequence = pair.sequence
    alone = kolmo.solve(sequence, seconds=math.inf, steps=steps)
    known = kolmo.solve(sequence, seconds=math.inf, steps=steps, known=[pair.program])
    longer = kolmo.solve(sequence, seconds=math.inf, steps=times * steps)
    return Searched(len(sequence), alone.seconds, alone.bits, known.bits, longer.bits)


def ratio(found: Sequence[Searched], name: str) -> str:
    bits, alone = [float(getattr(each, name)) for each in found], [float(each.alone) for each in found]
    within = ratio_interval(bits, alone)
    return f"{sum(bits) / sum(alone):.3f}" + ("" if within is None else f" [{within[0]:.3f}, {within[1]:.3f}]")


def shown(found: Sequence[Searched], title: str, times: int) -> str:
    if not found:
        return f"{title}: no pair"
    shorter = sum(each.best < each.alone for each in found)
    return (
        f"{title}: {len(found)} pairs; known {ratio(found, 'known')}; {times} times the steps {ratio(found, 'longer')}; "
        f"best {ratio(found, 'best')}; shorter for {shorter}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=300)
    parser.add_argument("--steps", type=int, default=1_000_000, help="of one search")
    parser.add_argument("--longer", type=int, default=4, metavar="TIMES")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if min(options.pairs, options.steps, options.longer) < 1:
        parser.error("--pairs, --steps and --longer must be at least 1")

    rng = random.Random(options.seed)
    pairs = [sample(rng, PUBLISHED) for _ in range(options.pairs)]
    found = [searched(pair, options.steps, options.longer) for pair in pairs]
    if options.json:
        print(json.dumps([each._asdict() for each in found]))
        return
    seconds = sum(each.seconds for each in found) / len(found)
    print(f"{len(found)} pairs, seed {options.seed}, {options.steps:,} steps each: {seconds:.2f} s")
    print(shown(found, "all", options.longer))
    print(shown([each for each in found if each.items > LONG], f"longer than {LONG} items", options.longer))


if __name__ == "__main__":
    main()
