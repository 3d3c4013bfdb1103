"""What a guide saves the search: the search alone beside the same search that is guided, at equal steps or equal seconds.

    python benchmarks/guide.py --pairs 1000 --seed 1
    python benchmarks/guide.py --pairs 300 --seed 1 --seconds 1
    python benchmarks/guide.py --pairs 100 --seed 3 --bounds
    python benchmarks/guide.py --archive 100000

Sequences are those of the published sampler. Each figure is bits ÷ bits of the search alone, with a 95 % interval over the
pairs; behind it are both searches' bits ÷ those of the sampler's programs. Seconds are of one core's CPU. With `--bounds`,
two more searches stand beside them: `known` is given the program that the sampler drew, with the way in which it takes the
sequence apart and all values that it names, and `longer` has four times the steps or seconds. `--weights` is another guide
than the one that ships (`guide_train.py`).

`--archive BYTES` packs sampled sequences instead: as it is, and with a guided search for each literal that the archive's own
search leaves, as `kolmo compress --model` asks a policy.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from paired import positive

import kolmocli as kolmo
from kolmocli.archive.options import Options
from kolmocli.archive.packer import compress_with_reports
from kolmocli.evaluation.intervals import ratio_interval
from kolmocli.language.coder import coded_bits
from kolmocli.language.guide import NetworkGuide, shipped_guide
from kolmocli.language.guide.teacher import unzippings
from kolmocli.language.sampler import Pair, sample
from kolmocli.language.sampler_settings import PUBLISHED

LONG = 96
"""Items. Above it most is left to find."""
LONGER = 4
STEPS_A_LITERAL = 100_000


class Searched(NamedTuple):
    """Bits for one sequence of `items`, made with so many interleavings; CPU seconds of the two searches."""

    items: int
    woven: int
    alone_seconds: float
    guided_seconds: float
    reference: int
    """The sampler's program."""
    alone: int
    guided: int
    known: int | None = None
    longer: int | None = None


def searched(pair: Pair, guide: NetworkGuide, limit: dict[str, Any], bounds: bool) -> Searched:
    def bits(**more: Any) -> int:
        return kolmo.solve(pair.sequence, **{**limit, **more}).bits

    began = time.process_time()
    alone = bits()
    between = time.process_time()
    guided = bits(guide=guide)
    ended = time.process_time()
    woven = len(unzippings(pair.program, tuple(pair.sequence)) or ())
    found = Searched(
        len(pair.sequence), woven, between - began, ended - between, coded_bits(pair.program), alone, guided
    )
    if not bounds:
        return found
    longer = {name: value and LONGER * value for name, value in limit.items()}
    return found._replace(known=bits(known=[pair.program]), longer=bits(**longer))


def ratio(found: Sequence[Searched], name: str) -> str:
    bits, alone = [float(getattr(each, name)) for each in found], [float(each.alone) for each in found]
    within = ratio_interval(bits, alone)
    return f"{sum(bits) / sum(alone):.3f}" + ("" if within is None else f" [{within[0]:.3f}, {within[1]:.3f}]")


def shown(found: Sequence[Searched], title: str, bounds: bool) -> str:
    if not found:
        return f"{title}: no pair"
    shorter, longer = sum(f.guided < f.alone for f in found), sum(f.guided > f.alone for f in found)
    more = f"; known {ratio(found, 'known')}; {LONGER} times as long {ratio(found, 'longer')}" if bounds else ""
    reference = sum(f.reference for f in found)
    beside = [sum(bits) / reference for bits in ((f.alone for f in found), (f.guided for f in found))]
    more += f"; ÷ the sampler's programs {beside[0]:.3f} alone, {beside[1]:.3f} guided"
    return f"{title}: {len(found)} pairs; guided {ratio(found, 'guided')}, shorter for {shorter}, longer for {longer}{more}"


class GuidedSearch:
    """A proposer of programs for archives."""

    def __init__(self, guide: NetworkGuide) -> None:
        self._guide = guide

    def propose(self, targets: Sequence[tuple[int, ...]], samples: int, seed: int) -> list[list[kolmo.Program]]:
        return [
            [kolmo.solve(target, seconds=math.inf, steps=STEPS_A_LITERAL, guide=self._guide).program]
            for target in targets
        ]


def pack(size: int, seed: int, guide: NetworkGuide) -> None:
    rng, data = random.Random(seed), b""
    while len(data) < size:
        data += bytes(sample(rng, PUBLISHED).sequence)
    for name, proposer in (("alone", None), ("guided", GuidedSearch(guide))):
        began = time.process_time()
        packed, _ = compress_with_reports(data[:size], Options(proposer=proposer))
        print(f"{size:,} bytes, {name}: {len(packed):,} bytes in {time.process_time() - began:.1f} s of CPU")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=positive, default=300)
    parser.add_argument("--steps", type=positive, default=1_000_000, help="of one search (default: %(default)s)")
    parser.add_argument("--seconds", type=float, help="of one search, in place of steps")
    parser.add_argument("--least", type=positive, default=1, metavar="ITEMS", help="shorter sequences are left out")
    parser.add_argument("--bounds", action="store_true", help="the sampler's program known, and a longer search")
    parser.add_argument("--archive", type=positive, metavar="BYTES", help="of sampled sequences, packed instead")
    parser.add_argument("--weights", type=Path, metavar="FILE", help="of another guide (default: the one that ships)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    o = parser.parse_args()
    guide = shipped_guide() if o.weights is None else NetworkGuide(dict(np.load(o.weights)))
    if o.archive:
        return pack(o.archive, o.seed, guide)
    limit = {"seconds": math.inf, "steps": o.steps} if o.seconds is None else {"seconds": o.seconds, "steps": None}

    rng, found = random.Random(o.seed), list[Searched]()
    while len(found) < o.pairs:
        pair = sample(rng, PUBLISHED)
        if len(pair.sequence) >= o.least:
            found.append(searched(pair, guide, limit, o.bounds))
    if o.json:
        print(json.dumps([each._asdict() for each in found]))
        return
    seconds = [sum(getattr(f, name) for f in found) / len(found) for name in ("alone_seconds", "guided_seconds")]
    each = f"{o.steps:,} steps" if o.seconds is None else f"{o.seconds:g} s"
    print(f"{len(found)} pairs, seed {o.seed}, {each} each; CPU {seconds[0]:.2f} s alone, {seconds[1]:.2f} s guided")
    print(shown(found, "all", o.bounds))
    print(shown([f for f in found if f.items > LONG], f"longer than {LONG} items", o.bounds))
    for woven in range(5):
        of_these = [f for f in found if min(f.woven, 4) == woven]
        print(shown(of_these, f"{woven}{' or more' if woven == 4 else ''} interleavings", o.bounds))


if __name__ == "__main__":
    main()
