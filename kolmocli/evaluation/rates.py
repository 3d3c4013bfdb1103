"""Compression rates: bits after ÷ bits before, with every flag paid and only correct programs counted.

    compression rate = (bits of the programs that are used
                        + bits of the left-over sequences, as one stream of the best standard codec
                        + 1 flag bit per task) / raw bits of all sequences

Lower is better; plain bytes are 1. The intervals are those of a ratio over independent tasks. They take what a
solid stream costs per byte as given, and share it out among its sequences by the bytes that deflate needs for each.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

from kolmocli.evaluation.baselines import best_solid_bits, solid_bits
from kolmocli.evaluation.coding import CODED, Coding, Pair
from kolmocli.evaluation.intervals import Interval, ratio_interval
from kolmocli.language.raw import pack, raw_bits
from kolmocli.language.uniform_prior import uniform_prior_bits

_MANY_BITS = 1 << 20
"""From so much on xz decides which selection of programs is used. The report has its size with the best codec:
asking all of them for every selection took longer than running the programs, and they rank selections alike."""


@dataclass(frozen=True, slots=True)
class Rate:
    """A ratio of sizes and its 95 % interval; None where there is nothing to divide by, or no spread."""

    value: float | None
    interval: Interval | None = None


def compression(pairs: Sequence[Pair], coding: Coding) -> Rate:
    """By the rule at the top, for the selection of programs that takes least. One judged outcome per task."""
    raw = raw_bits(task.target for task, _ in pairs)
    if not raw:
        return Rate(None)
    correct = [(task, outcome) for task, outcome in pairs if outcome.passed]
    chosen = _cheapest(pairs, list(coding.choices(correct)), coding, None if raw < _MANY_BITS else "xz")
    return Rate(_stored_bits(pairs, chosen, coding, None) / raw, _spread(pairs, chosen, coding))


def _cheapest(pairs: Sequence[Pair], choices: list[list[Pair]], coding: Coding, codec: str | None) -> list[Pair]:
    """The selection that takes the fewest bits with this codec (None: with the best), the first of equals."""
    return choices[0] if len(choices) == 1 else min(choices, key=lambda c: _stored_bits(pairs, c, coding, codec))


def _stored_bits(pairs: Sequence[Pair], used: Sequence[Pair], coding: Coding, codec: str | None) -> float:
    """All bits when these programs are used: theirs, those of the left-over sequences, and the flags."""
    rest = left_over(pairs, used)
    sequences = best_solid_bits(rest) if codec is None else solid_bits(codec, rest)
    return coding.bits([o for _, o in used], codec) + sequences + len(pairs)


def left_over(pairs: Sequence[Pair], used: Sequence[Pair]) -> list[tuple[int, ...]]:
    """The sequences for which no program is used."""
    kept = {id(outcome) for _, outcome in used}
    return [task.target for task, outcome in pairs if id(outcome) not in kept]


def uniform_prior(pairs: Sequence[Pair]) -> float | None:
    """The compression rate when every program costs what the published uniform prior says, which is no code."""
    raw = raw_bits(task.target for task, _ in pairs)
    correct = [(task, outcome) for task, outcome in pairs if outcome.passed]
    used = next(CODED.choices(correct))
    programs = math.fsum(uniform_prior_bits(o.program) for _, o in used if o.program is not None)
    return (programs + best_solid_bits(left_over(pairs, used)) + len(pairs)) / raw if raw else None


def precision(pairs: Sequence[Pair], codec: str, coding: Coding) -> Rate:
    """Bits of the correct programs ÷ bits of one solid `codec` stream of exactly their sequences.

    Lower is better, and below 1 the programs beat the codec: "precision" of the KoLMogorov Test (Yoran
    et al., 2025), on raw bytes.
    """
    correct = [(task, outcome) for task, outcome in pairs if outcome.passed]
    programs = coding.bits([o for _, o in correct], codec)
    sequences = solid_bits(codec, [task.target for task, _ in correct])
    if not sequences:
        return Rate(None)
    parts = _shared(programs, [coding.weight(o) for _, o in correct])
    wholes = _shared(sequences, [_deflated(task.target) for task, _ in correct])
    return Rate(programs / sequences, ratio_interval(parts, wholes))


def _spread(pairs: Sequence[Pair], used: Sequence[Pair], coding: Coding) -> Interval | None:
    kept = {id(outcome) for _, outcome in used}
    programs = iter(_shared(coding.bits([o for _, o in used]), [coding.weight(o) for _, o in used]))
    rest = left_over(pairs, used)
    sequences = iter(_shared(best_solid_bits(rest), [_deflated(s) for s in rest]))
    parts = [1 + next(programs if id(outcome) in kept else sequences) for _, outcome in pairs]
    return ratio_interval(parts, [raw_bits([task.target]) for task, _ in pairs])


def _shared(total: float, weights: Sequence[float]) -> list[float]:
    whole = sum(weights)
    return [total * weight / whole for weight in weights] if whole else [0.0] * len(weights)


def _deflated(sequence: Sequence[int]) -> float:
    return len(zlib.compress(pack(sequence), 6))
