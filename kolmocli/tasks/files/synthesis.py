"""`kolmo data synth`: pairs of a program and its sequence, one per line, in memory that does not grow.

Pair i depends on the seed, the split and i alone, so a file of 1,000 pairs is the beginning of one of 1,000,000.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from kolmocli.errors import UsageError
from kolmocli.language.interpreter import execute
from kolmocli.language.sampler import Pair, SamplingError, sample
from kolmocli.language.sampler_settings import PUBLISHED, SamplerConfig
from kolmocli.language.skeleton import held_out, skeleton
from kolmocli.tasks.files.digests import DigestSet
from kolmocli.tasks.files.problems import Problems
from kolmocli.tasks.files.records import sequence_key, stream_records
from kolmocli.tasks.files.separation import Taken
from kolmocli.tasks.files.streams import writing
from kolmocli.tasks.sequences.settings import Family

Part = Literal["all", "train", "eval"]
_TRIES = 100
"""Drafts in a row that are taken or excluded; more mean that the source has run dry."""
_TOLD = 1000
"""Pairs between two calls of `progress`."""


@dataclass(frozen=True, slots=True)
class Synthesis:
    """Options of `kolmo data synth`. Without `families`, the published sampler."""

    pairs: int
    seed: int = 0
    split: Part = "all"
    """`train` and `eval` are the skeletons that training and evaluation on these families see."""
    families: Mapping[str, Family] = field(default_factory=dict)
    exclude: tuple[str, ...] = ()
    distinct: bool = False
    strict: bool = False


@dataclass(slots=True)
class Synthesised:
    """Counts of sampled pairs. `excluded` and `repeated` are pairs that were drawn and not written."""

    pairs: int = 0
    items: int = 0
    excluded: int = 0
    repeated: int = 0


def synthesise(
    wanted: Synthesis,
    target: str,
    *,
    force: bool,
    warn: Callable[[str], None],
    progress: Callable[[int], None] = lambda pairs: None,
) -> Synthesised:
    """Write the pairs to `target`, whole or not at all. `progress` hears now and then how many there are.

    Raises:
        UsageError: a file to exclude cannot be read, or there are too few pairs that may be written.
        KolmoError: the target exists, or cannot be written.
    """
    done = Synthesised()
    taken = _excluded(wanted, warn)
    seen = DigestSet(wanted.pairs) if wanted.distinct else None
    with writing(target, force=force, inputs=wanted.exclude) as output:
        for bucket, pair in _drawn(wanted, taken, seen, done):
            data: dict[str, Any] = {"sequence": pair.sequence, "program": str(pair.program)}
            if bucket is not None:
                data["bucket"] = bucket
            output.write(json.dumps(data, separators=(",", ":")).encode() + b"\n")
            done.pairs += 1
            done.items += len(pair.sequence)
            if done.pairs % _TOLD == 0:
                progress(done.pairs)
    return done


def _drawn(
    wanted: Synthesis, taken: Taken, seen: DigestSet | None, done: Synthesised
) -> Iterator[tuple[str | None, Pair]]:
    """`pairs` of them, the levels of all families in turn."""
    levels = _levels(wanted.families)
    index, in_vain = 0, 0
    while done.pairs < wanted.pairs:
        bucket, knobs = levels[index % len(levels)]
        pair = _sample(wanted, bucket, knobs, index)
        index += 1
        if not taken.allows(pair.program, pair.sequence):
            done.excluded += 1
        elif seen is not None and not seen.add(sequence_key(pair.sequence)):
            done.repeated += 1
        else:
            in_vain = 0
            yield bucket, pair
            continue
        in_vain += 1
        if in_vain > _TRIES * len(levels):
            raise UsageError(
                f"--pairs {wanted.pairs}: after {done.pairs:,} nothing new was drawn {in_vain} times in a row; "
                "ask for fewer, or leave out --distinct or --exclude"
            )


def _levels(families: Mapping[str, Family]) -> list[tuple[str | None, SamplerConfig]]:
    named: list[tuple[str | None, SamplerConfig]] = [
        (f"{name}/{i}", level) for name, family in families.items() for i, level in enumerate(family.levels, start=1)
    ]
    return named or [(None, PUBLISHED)]


def _sample(wanted: Synthesis, bucket: str | None, knobs: SamplerConfig, index: int) -> Pair:
    def belongs(pair: Pair) -> bool:
        return held_out(skeleton(pair.program, execute(pair.program))) == (wanted.split == "eval")

    rng = random.Random(f"{wanted.seed}/{wanted.split}/synth/{index}")
    try:
        return sample(rng, knobs, accept=None if wanted.split == "all" else belongs)
    except SamplingError as error:
        raise UsageError(f"{bucket or 'the published sampler'}: --split {wanted.split}: {error}") from None


def _excluded(wanted: Synthesis, warn: Callable[[str], None]) -> Taken:
    """Digests of what the files to exclude hold; of their records nothing else is kept."""
    sequences: set[int] = set()
    skeletons: set[int] = set()
    for name in wanted.exclude:
        problems, read = Problems(name, warn, wanted.strict), 0
        for _, keys in stream_records(name, problems):
            read += 1
            sequences.add(keys.sequence)
            if keys.skeleton is not None:
                skeletons.add(keys.skeleton)
        problems.close(f"{read:,}")
        if not read:
            raise UsageError(f"--exclude {name}: no sequence in it")
    return Taken(frozenset(sequences), frozenset(skeletons))
