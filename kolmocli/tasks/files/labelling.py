"""`kolmo data label`: reference programs by search for sequences that come without one, in the order of the file.

A sequence of which nothing shorter than its literal list is found keeps no program: a policy that imitates the file would
learn from it to copy. Finished lines are in `OUTPUT.partial` line by line, so that a search of hours can go on where it was stopped.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

from kolmocli.errors import KolmoError, UsageError
from kolmocli.files import STANDARD, check_output
from kolmocli.language.coder import coded_bits, literal_bits
from kolmocli.language.program import Program
from kolmocli.language.search.solver import solvable, solve
from kolmocli.plain import parsed
from kolmocli.tasks.files.problems import Problems
from kolmocli.tasks.files.records import Record, nothing_in, stream_records


@dataclass(frozen=True, slots=True)
class Labelling:
    """Options of `kolmo data label`. With `shorten`, programs that the file has are searched for shorter ones too."""

    seconds: float = 1.0
    shorten: bool = False
    strict: bool = False
    resume: bool = False


@dataclass(slots=True)
class Labelled:
    """Counts of a labelled file. `bits` and `literal_bits` are of the sequences that have a program now."""

    sequences: int = 0
    found: int = 0
    shortened: int = 0
    kept: int = 0
    literals: int = 0
    bits: int = 0
    literal_bits: int = 0
    resumed: int = 0

    def add(self, record: Record, program: Program | None) -> None:
        self.sequences += 1
        if program is None:
            self.literals += 1
            return
        if record.program is None:
            self.found += 1
        elif program != record.program:
            self.shortened += 1
        else:
            self.kept += 1
        self.bits += coded_bits(program)
        self.literal_bits += literal_bits(record.sequence)


def label(
    source: str,
    target: str,
    wanted: Labelling,
    *,
    force: bool,
    warn: Callable[[str], None],
    progress: Callable[[int], None] = lambda sequences: None,
) -> Labelled:
    """Write every sequence of `source` to `target`, with the shortest program known.

    Raises:
        UsageError: the source cannot be read or holds no sequence, or what is there to go on from is of another file.
        KolmoError: the target, or an unfinished one, exists, or it cannot be written.
    """
    done, problems = Labelled(), Problems(source, warn, wanted.strict)
    with _opened(source, target, wanted, force) as (output, earlier):
        for record in _records(source, problems):
            line = next(earlier, None)
            if line is None:
                program = _program(record, wanted)
                output.write(_line(record, program))
                output.flush()
            else:
                program = _taken(record, line, f"{target}.partial:{done.sequences + 1}")
                done.resumed += 1
            done.add(record, program)
            progress(done.sequences)
        if next(earlier, None) is not None:
            raise UsageError(f"{target}.partial has more lines than {source} has sequences; it is of another file")
        problems.close(f"{done.sequences:,}")
        if not done.sequences:
            raise nothing_in(problems)
    return done


def _records(source: str, problems: Problems) -> Iterator[Record]:
    for number, (record, _) in enumerate(stream_records(source, problems), start=1):
        try:
            solvable(record.sequence)
        except UsageError as error:
            problems.bad(f"sequence {number}", error)
            continue
        yield record


def _program(record: Record, wanted: Labelling) -> Program | None:
    if record.program is not None and not wanted.shorten:
        return record.program
    known = () if record.program is None else (record.program,)
    solution = solve(record.sequence, seconds=wanted.seconds, known=known)
    if record.program is not None and solution.bits >= coded_bits(record.program):
        return record.program
    return None if solution.source == "literal" else solution.program


def _line(record: Record, program: Program | None) -> bytes:
    data: dict[str, Any] = {"sequence": record.sequence}
    more = {"program": program and str(program), "bucket": record.bucket, "modality": record.modality}
    data |= {key: value for key, value in more.items() if value is not None}
    return json.dumps(data, separators=(",", ":")).encode() + b"\n"


def _taken(record: Record, line: bytes, where: str) -> Program | None:
    """The program of a line that an earlier run wrote for the same sequence."""
    from kolmocli.tasks.files.entries import entry
    from kolmocli.tasks.files.records import checked

    try:
        earlier, _ = checked(entry(parsed(line)))
    except ValueError as error:
        raise UsageError(f"{where}: {error}; begin again with --force") from None
    if earlier.sequence != record.sequence:
        raise UsageError(f"{where}: another sequence than the file has there; begin again with --force")
    return earlier.program


@contextmanager
def _opened(source: str, target: str, wanted: Labelling, force: bool) -> Iterator[tuple[BinaryIO, Iterator[bytes]]]:
    """The file for new lines, and the whole lines of an earlier run. The target appears when the block ends well."""
    if target == STANDARD:
        if wanted.resume:
            raise UsageError("--resume goes on with a file: name it with -o")
        yield sys.stdout.buffer, iter(())
        return
    check_output(source, target, force, binary=False)
    partial = Path(f"{target}.partial")
    if partial.exists() and not wanted.resume and not force:
        raise KolmoError(f"{partial}: an earlier run was stopped; --resume goes on with it, --force begins again")
    try:
        done = _whole_lines(partial) if wanted.resume and partial.exists() else []
        with open(partial, "ab" if done else "wb") as output:
            output.truncate(sum(map(len, done)))
            yield cast(BinaryIO, output), iter(done)
        os.replace(partial, target)
    except OSError as error:
        raise KolmoError(f"{partial}: cannot be written: {error.strerror or error}") from None


def _whole_lines(partial: Path) -> list[bytes]:
    """A line that was cut when the run was stopped is searched for again."""
    return [line for line in partial.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]
