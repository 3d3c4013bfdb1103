"""`kolmo data show`: what is in a file of sequences, in one pass and little memory."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from kolmocli.language.coder import coded_bits, literal_bits
from kolmocli.language.raw import raw_bits
from kolmocli.tasks.files.digests import DigestSet
from kolmocli.tasks.files.problems import Problems
from kolmocli.tasks.files.records import Record, nothing_in, stream_records

_VALUES = 4096
"""Different values that are counted one by one; of more, only the range is kept."""
_BINS = 12


@dataclass
class Statistics:
    """Grows with the number of different lengths, buckets and values (to a limit), and by 16 to 32 bytes per
    different sequence."""

    records: int = 0
    items: int = 0
    bad: int = 0
    low: int | None = None
    high: int | None = None
    lengths: Counter[int] = field(default_factory=Counter)
    values: Counter[int] = field(default_factory=Counter)
    many_values: bool = False
    buckets: Counter[str] = field(default_factory=Counter)
    modalities: Counter[str] = field(default_factory=Counter)
    sequences: DigestSet = field(default_factory=DigestSet)
    programs: int = 0
    statements: int = 0
    raw_bits: int = 0
    coded_bits: int = 0
    coded_raw_bits: int = 0
    literal_bits: int = 0
    examples: list[Record] = field(default_factory=list)

    def add(self, record: Record, key: int, examples: int, rng: random.Random) -> None:
        sequence = record.sequence
        self.records += 1
        self.items += len(sequence)
        self.lengths[len(sequence)] += 1
        self.low = min(sequence) if self.low is None else min(self.low, min(sequence))
        self.high = max(sequence) if self.high is None else max(self.high, max(sequence))
        if not self.many_values:
            self.values.update(sequence)
            self.many_values = len(self.values) > _VALUES
        self.sequences.add(key)
        if record.bucket is not None:
            self.buckets[record.bucket] += 1
        if record.modality is not None:
            self.modalities[record.modality] += 1
        raw = raw_bits([sequence])
        self.raw_bits += raw
        self.literal_bits += literal_bits(sequence)
        if record.program is not None:
            self.programs += 1
            self.statements += len(record.program)
            self.coded_bits += coded_bits(record.program)
            self.coded_raw_bits += raw
        _keep(self.examples, record, self.records, examples, rng)

    def report(self) -> dict[str, Any]:
        """JSON-ready. Shares are of raw size; a number that does not exist is None."""
        return {
            "records": self.records,
            "bad": self.bad,
            "distinct": len(self.sequences),
            "items": self.items,
            "length": {
                "min": min(self.lengths), "median": _quantile(self.lengths, 0.5), "p95": _quantile(self.lengths, 0.95),
                "max": max(self.lengths), "mean": self.items / self.records, "histogram": histogram(self.lengths),
            },
            "value": {
                "min": self.low, "max": self.high,
                "distinct": None if self.many_values else len(self.values),
                "bits_per_item": None if self.many_values else _entropy(self.values),
                "histogram": None if self.many_values else histogram(self.values),
            },
            "modalities": dict(self.modalities.most_common()),
            "buckets": dict(sorted(self.buckets.items())),
            "programs": {
                "count": self.programs,
                "statements": self.statements / self.programs if self.programs else None,
                "coded_rate": self.coded_bits / self.coded_raw_bits if self.programs else None,
            },
            "literal_rate": self.literal_bits / self.raw_bits,
            "examples": [_example(record) for record in self.examples],
        }  # fmt: skip


def describe(name: str, *, examples: int, seed: int, strict: bool, warn: Callable[[str], None]) -> dict[str, Any]:
    """The report on a file.

    Raises:
        UsageError: it cannot be read, nothing good is in it, or, with `strict`, a line of it is bad.
    """
    problems, statistics, rng = Problems(name, warn, strict), Statistics(), random.Random(seed)
    for record, keys in stream_records(name, problems):
        statistics.add(record, keys.sequence, examples, rng)
    problems.close(f"{statistics.records:,}")
    if not statistics.records:
        raise nothing_in(problems)
    statistics.bad = problems.count
    return {"file": name, **statistics.report()}


def histogram(counts: Counter[int]) -> list[dict[str, int]]:
    """At most twelve bins of equal width, from the lowest to the highest: `{from, to, count}`, both ends in it."""
    low, high = min(counts), max(counts)
    width = max(1, -(-(high - low + 1) // _BINS))
    bins = [0] * (-(-(high - low + 1) // width))
    for value, count in counts.items():
        bins[(value - low) // width] += count
    return [
        {"from": low + i * width, "to": min(low + (i + 1) * width - 1, high), "count": n} for i, n in enumerate(bins)
    ]


def _quantile(counts: Counter[int], share: float) -> int:
    """The smallest value that at least this share of the counts does not exceed."""
    needed = share * counts.total()
    for value in sorted(counts):
        needed -= counts[value]
        if needed <= 0:
            return value
    return max(counts)


def _entropy(counts: Counter[int]) -> float:
    """Bits per item if each were coded by its frequency alone."""
    total = counts.total()
    return -math.fsum(n / total * math.log2(n / total) for n in counts.values())


def _keep(kept: list[Record], record: Record, seen: int, size: int, rng: random.Random) -> None:
    """Reservoir sampling: after n records each is among the kept ones with probability size / n."""
    if len(kept) < size:
        kept.append(record)
    elif (place := rng.randrange(seen)) < size:
        kept[place] = record


def _example(record: Record) -> dict[str, Any]:
    return {
        "sequence": list(record.sequence),
        "program": None if record.program is None else str(record.program),
        "bucket": record.bucket,
    }
