"""`kolmo data slice`: any file as sequences of equal length, one per line."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Literal

import numpy as np

from kolmocli.errors import UsageError
from kolmocli.tasks.files.blocks import BYTE, DIGIT, Cutter, LineWriter, Run
from kolmocli.tasks.files.fasta import Genome
from kolmocli.tasks.files.numbers import Table
from kolmocli.tasks.files.plain import read_bytes, read_text
from kolmocli.tasks.files.problems import Problems
from kolmocli.tasks.files.sound import audio8, audio16, mfcc
from kolmocli.tasks.files.streams import Output, reading, writing
from kolmocli.tasks.files.wav import Wav

Modality = Literal["text", "bytes", "dna", "audio8", "audio16", "mfcc", "numbers"]


@dataclass(frozen=True, slots=True)
class Slicing:
    """Options of `kolmo data slice`. With several `lengths`, blocks take them in turn, so no two blocks overlap."""

    modality: Modality
    lengths: tuple[int, ...] = (128,)
    rest: bool = False
    """The rest at the end of a run is a block too, a shorter one."""
    limit: int | None = None
    """Stop after this many sequences."""
    column: str | None = None
    strict: bool = False


@dataclass(slots=True)
class Sliced:
    """Counts of a sliced file. `values` and `left_over` count values, `bad` skipped places of the input."""

    sequences: int = 0
    values: int = 0
    left_over: int = 0
    bad: int = 0
    gaps: int = 0
    """Letters of a genome that stand for no certain base."""
    files: list[dict[str, Any]] = field(default_factory=list)


def slice_files(
    names: Sequence[str], target: str, wanted: Slicing, *, force: bool, warn: Callable[[str], None]
) -> Sliced:
    """Cut the files into sequences and write them to `target`, whole or not at all; memory does not grow with size.

    Raises:
        UsageError: a file cannot be read as this modality, or nothing came out of any of them.
        KolmoError: the target exists, or cannot be written.
    """
    total, wrong = Sliced(), ""
    with writing(target, force=force, inputs=names) as output:
        for name in names:
            if wanted.limit is not None and total.sequences >= wanted.limit:
                break
            wrong = _slice_file(name, output, wanted, warn, total) or wrong
        if not total.sequences:
            raise UsageError(f"{', '.join(names)}: {_nothing(total, wanted, wrong)}")
    return total


def _slice_file(name: str, output: Output, wanted: Slicing, warn: Callable[[str], None], total: Sliced) -> str:
    """Returns what was wrong with the first bad place."""
    problems = Problems(name, warn, wanted.strict)
    cutter = Cutter(wanted.lengths, rest=wanted.rest)
    writer = LineWriter(wanted.lengths, wanted.modality, DIGIT if wanted.modality == "dna" else BYTE)
    before = total.sequences
    details: dict[str, Any] = {}
    with (
        reading(name, unpack=wanted.modality != "bytes") as stream,
        contextlib.closing(_runs(stream, problems, wanted, details)) as runs,
    ):
        for blocks in cutter.cut(runs):
            count, lines = writer.lines(blocks)
            size = blocks.size if isinstance(blocks, np.ndarray) else len(blocks)
            room = count if wanted.limit is None else wanted.limit - total.sequences
            if count > room:
                lines = b"".join(bytes(lines).splitlines(keepends=True)[:room])
                count, size = room, sum(wanted.lengths[i % len(wanted.lengths)] for i in range(room))
            output.write(lines)
            total.sequences += count
            total.values += size
            if total.sequences == wanted.limit:
                break
    sequences = total.sequences - before
    problems.close(f"{sequences:,} sequences")
    total.left_over += cutter.left_over
    total.bad += problems.count
    total.gaps += details.get("gaps", 0)
    total.files.append({"file": name, "sequences": sequences, "bad": problems.count, **details})
    return problems.first


def _runs(stream: BinaryIO, problems: Problems, wanted: Slicing, details: dict[str, Any]) -> Generator[Run | None]:
    """The values of a file. Other facts about it go to `details`."""
    match wanted.modality:
        case "bytes":
            yield from read_bytes(stream)
        case "text":
            yield from read_text(stream, problems)
        case "numbers":
            yield from Table(problems, wanted.column).read(stream)
        case "dna":
            genome = Genome(problems)
            try:
                yield from genome.read(stream)
            finally:
                details["gaps"] = genome.gaps
        case "audio8" | "audio16" | "mfcc":
            wav = Wav(stream, problems)
            details |= {"rate": wav.format.rate, "channels": wav.format.channels, "bits": 8 * wav.format.width}
            if wanted.modality == "mfcc":
                yield from mfcc(wav.samples(), wav.format.rate, problems.name)
            else:
                yield from (audio8 if wanted.modality == "audio8" else audio16)(wav.samples())


def _nothing(total: Sliced, wanted: Slicing, wrong: str) -> str:
    if total.left_over:
        return (
            f"{total.left_over:,} values are in it, too few in a row for --length {wanted.lengths[0]}; "
            "name a shorter one, or keep them with --rest"
        )
    what = "integers" if wanted.modality == "numbers" else wanted.modality
    return f"no {what} in it" + (f"; {total.bad:,} bad line(s), such as this: {wrong}" if total.bad else "")
