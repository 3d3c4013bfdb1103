"""Sequences with what is known of them, checked, and many of them in little memory."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from kolmocli.errors import UsageError
from kolmocli.language.coder import decode, encode
from kolmocli.language.interpreter import ExecutionError, execute
from kolmocli.language.program import Program, ProgramError, parse
from kolmocli.language.skeleton import skeleton
from kolmocli.seeds import content_key
from kolmocli.tasks.files.entries import Entry, read_entries
from kolmocli.tasks.files.problems import Problems

MAX_ITEMS = 1 << 20
"""Items of a sequence: as many as all values of a program together may have."""


@dataclass(frozen=True, slots=True)
class Record:
    """A sequence; with a program, one that makes it."""

    sequence: tuple[int, ...]
    program: Program | None = None
    bucket: str | None = None
    modality: str | None = None


@dataclass(frozen=True, slots=True)
class Keys:
    """Digests that tell records apart: of the sequence, and of the program's skeleton (None without a program)."""

    sequence: int
    skeleton: int | None


def sequence_key(sequence: Sequence[int]) -> int:
    return content_key(repr(list(sequence)))


def checked(entry: Entry, max_items: int = MAX_ITEMS) -> tuple[Record, Keys]:
    """The entry as a record. Raises ValueError when the sequence is too long or the program does not make it."""
    if len(entry.sequence) > max_items:
        key = " (data.max_items)" if max_items < MAX_ITEMS else ""
        raise ValueError(f"{len(entry.sequence):,} items; at most {max_items:,} are taken{key}")
    program, shape = None, None
    if entry.program is not None:
        program, values = _executed(entry.program)
        _compare(values[-1], entry.sequence)
        shape = content_key(skeleton(program, values))
    record = Record(entry.sequence, program, entry.bucket, entry.modality)
    return record, Keys(sequence_key(entry.sequence), shape)


def _executed(text: str) -> tuple[Program, list[list[int]]]:
    """The program and the values of its statements. The published generator notes them as comments, which go."""
    try:
        program = parse("\n".join(line.partition("#")[0].rstrip() for line in text.split("\n")))
        return program, execute(program)
    except (ProgramError, ExecutionError) as error:
        raise ValueError(f"`program`: {error}") from None


def _compare(made: Sequence[int], wanted: Sequence[int]) -> None:
    if tuple(made) == tuple(wanted):
        return
    at = next((i for i, (a, b) in enumerate(zip(made, wanted, strict=False)) if a != b), None)
    what = (
        f"{len(made)} items instead of {len(wanted)}"
        if at is None
        else f"{made[at]} instead of {wanted[at]} as item {at + 1}"
    )
    raise ValueError(f"`program` makes another sequence: {what}")


class Records(Sequence[Record]):
    """Records, packed: some 150 bytes each for sequences of 76 bytes, and 130 more for a program of eight calls."""

    def __init__(self) -> None:
        self._sequences: list[bytes | array[int] | tuple[int, ...]] = []
        self._programs: list[bytes | None] = []
        self._labels: list[tuple[str | None, str | None]] = []
        self._known_labels: dict[tuple[str | None, str | None], tuple[str | None, str | None]] = {}
        self.sequence_keys = array("Q")
        self._skeleton_keys = array("Q")

    def append(self, record: Record, keys: Keys) -> None:
        label = (record.bucket, record.modality)
        self._sequences.append(_packed(record.sequence))
        self._programs.append(None if record.program is None else _bits(record.program))
        self._labels.append(self._known_labels.setdefault(label, label))
        self.sequence_keys.append(keys.sequence)
        self._skeleton_keys.append(keys.skeleton or 0)

    def __len__(self) -> int:
        return len(self._sequences)

    def __getitem__(self, index: int) -> Record:  # type: ignore[override]
        code = self._programs[index]
        program = None if code is None else decode(bin(int.from_bytes(code, "big"))[3:])
        return Record(tuple(self._sequences[index]), program, *self._labels[index])

    def length(self, index: int) -> int:
        """Items of the sequence, without unpacking it."""
        return len(self._sequences[index])

    def labels(self, index: int) -> tuple[str | None, str | None]:
        """(bucket, modality)"""
        return self._labels[index]

    def has_program(self, index: int) -> bool:
        return self._programs[index] is not None

    def keys(self, index: int) -> Keys:
        return Keys(self.sequence_keys[index], self._skeleton_keys[index] if self.has_program(index) else None)

    def skeleton_keys(self) -> Iterator[int]:
        """The skeletons of the records that have a program."""
        return (key for key, code in zip(self._skeleton_keys, self._programs, strict=True) if code is not None)

    def reference_bits(self, index: int) -> int | None:
        """Coded bits of the program: the length of its packed form."""
        code = self._programs[index]
        return None if code is None else int.from_bytes(code, "big").bit_length() - 1

    def select(self, indices: Iterable[int]) -> Records:
        """These records, packed as they are."""
        chosen = Records()
        for i in indices:
            chosen._sequences.append(self._sequences[i])
            chosen._programs.append(self._programs[i])
            chosen._labels.append(self._labels[i])
            chosen.sequence_keys.append(self.sequence_keys[i])
            chosen._skeleton_keys.append(self._skeleton_keys[i])
        return chosen


def _packed(sequence: tuple[int, ...]) -> bytes | array[int] | tuple[int, ...]:
    low, high = min(sequence), max(sequence)
    if low >= 0 and high <= 255:
        return bytes(sequence)
    return array("q", sequence) if low >= -(2**63) and high < 2**63 else sequence


def _bits(program: Program) -> bytes:
    """The program's own code, behind a 1 that keeps its leading zeros."""
    bits = "1" + encode(program)
    return int(bits, 2).to_bytes((len(bits) + 7) // 8, "big")


def nothing_in(problems: Problems) -> UsageError:
    """The error for a file without a good line."""
    what = "no sequence in it; every line needs an object with `sequence`, a list of integers"
    return UsageError(f"{problems.name}: {'no good line in it; see above' if problems.count else what}")


def stream_records(name: str, problems: Problems) -> Iterator[tuple[Record, Keys]]:
    """The good records of a file one after the other, and their keys."""
    for number, entry in read_entries(name, problems):
        try:
            found = checked(entry)
        except ValueError as error:
            problems.bad(number, error)
            continue
        yield found
