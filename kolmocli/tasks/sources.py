"""Which tasks a configuration trains on and which it evaluates on."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from kolmocli.config import Config
from kolmocli.errors import UsageError
from kolmocli.tasks.base import TaskSource
from kolmocli.tasks.datasets import DatasetTasks, Record, read_records
from kolmocli.tasks.kolmogorov import KolmogorovTasks

_HELD_OUT = 0.1
"""Share of the sequences of a training file that is kept for evaluation when no other file is named."""


def training_source(config: Config, warn: Callable[[str], None]) -> TaskSource:
    """The training file, without what is held out of it or occurs in the evaluation file; else the families."""
    if config.data.train is None:
        return KolmogorovTasks(config.families, "train", config.seed)
    records = read_records(Path(config.data.train), warn)
    if config.data.eval is None:
        unseen = frozenset(r.sequence for r in records if _is_held_out(r))
    else:
        unseen = frozenset(r.sequence for r in read_records(Path(config.data.eval), lambda text: None))
    kept = [r for r in records if r.sequence not in unseen]
    if not kept:
        raise UsageError(f"{config.data.train}: every sequence is held out for evaluation; nothing is left to train on")
    return DatasetTasks(kept, "train", config.seed, unseen)


def evaluation_source(config: Config, warn: Callable[[str], None]) -> TaskSource:
    """The evaluation file; else what is held out of the training file; else held-out tasks of the families."""
    if config.data.eval is not None:
        return DatasetTasks(read_records(Path(config.data.eval), warn), "eval", config.seed)
    if config.data.train is None:
        return KolmogorovTasks(config.families, "eval", config.seed)
    held = [r for r in read_records(Path(config.data.train), lambda text: None) if _is_held_out(r)]
    if not held:
        raise UsageError(f"{config.data.train}: too few sequences to hold some out; name a file with --eval-data")
    return DatasetTasks(held, "eval", config.seed)


def _is_held_out(record: Record) -> bool:
    """By a hash of the sequence, so that a sequence that occurs twice is on one side only."""
    digest = hashlib.blake2b(repr(record.sequence).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") < _HELD_OUT * 2**64
