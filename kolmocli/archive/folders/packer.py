"""From files to the archive of a folder: which of them share a member.

Files of one kind are smaller together, since a codec finds in one what it has seen in another. Numbers and programs are
smaller alone, since what makes them small is found at their beginning and ends with them. So everything is tried: each file
alone, those with one ending together, and at last all that is neither explained by programs nor numbers. The trials have quick codecs; what is kept is packed
again at the level that was asked for. Nothing depends on the time, or on the order in which a file system lists its files.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TypeVar

from kolmocli.archive.codecs.codecs import CODECS, NUMBERS, QUICK, SPLIT
from kolmocli.archive.folders.tree import Found
from kolmocli.archive.format.folder import Entry, write_folder, write_index
from kolmocli.archive.options import Options
from kolmocli.archive.packer import MEMBER_BYTES, PART_BYTES, MemberReport, compress_with_reports, pack_member
from kolmocli.archive.progress import Progress, silent, without_share
from kolmocli.archive.time_budget import TimeBudget

_NOISE = 0.97
"""A file that takes this share of its size alone is packed already: in a member with others it would only be in their way."""
T = TypeVar("T")
_OF_NUMBERS = (CODECS[NUMBERS].name, CODECS[SPLIT].name)
_LEAST_NOISE = 1 << 10
"""Bytes: a shorter file does not tell."""
_FINAL = 0.4
"""Share of a time budget that is left for packing what was chosen."""


@dataclass(frozen=True, slots=True)
class Block:
    """Files that share members, and these."""

    files: tuple[Found, ...]
    members: bytes
    reports: tuple[MemberReport, ...]
    final: bool = False

    @property
    def size(self) -> int:
        return sum(entry.size for entry, _ in self.files)

    @property
    def data(self) -> bytes:
        return b"".join(contents for _, contents in self.files)

    @property
    def alone(self) -> bool:
        """Whether it is small by what it is, not by what it shares with others: by programs, as numbers, or since it is large."""
        return self.final or any(report.programs or report.codec in _OF_NUMBERS for report in self.reports)

    @property
    def noise(self) -> bool:
        return self.size >= _LEAST_NOISE and len(self.members) > _NOISE * self.size


def pack_folder(
    found: Sequence[Found], options: Options, progress: Progress = silent
) -> tuple[bytes, list[MemberReport]]:
    """The archive of the entries, and a report per member. Every member has been decoded and compared."""
    say = without_share(progress)
    with_contents = sorted((f for f in found if f[0].size), key=_kind_of_name)
    blocks = list(_chosen(with_contents, options, say))
    members = b"".join(block.members for block in blocks)
    entries: list[Entry] = [entry for block in blocks for entry, _ in block.files]
    entries += [entry for entry, _ in found if not entry.size]
    say("index")
    index, _ = compress_with_reports(write_index(entries, members), Options(options.level))
    return write_folder(index, members), [report for block in blocks for report in block.reports]


def _kind_of_name(found: Found) -> tuple[str, bytes]:
    """Files of one kind stand together: by the ending of the name, then by path."""
    path = found[0].path
    return PurePosixPath(path.decode("latin-1")).suffix.lower(), path


def _chosen(files: Sequence[Found], options: Options, say: Progress) -> Iterator[Block]:
    budget = TimeBudget(options.deadline)
    alone = [
        _tried((file,), replace(options, deadline=deadline), say)
        for file, deadline in _shares(files, lambda f: f[0].size, budget, (1 - _FINAL) / 2)
    ]
    alone.sort(key=lambda block: block.noise)
    blocks: list[Block] = []
    for group, deadline in _shares(_runs(alone, PART_BYTES, _alike), _size, budget, (1 - _FINAL) / 2):
        blocks += _together(group, replace(options, deadline=deadline), say)
    rest: list[Block] = []
    for noise in (False, True):
        plain = [b for b in blocks if not b.alone and b.noise == noise]
        for group, deadline in _shares(_runs(plain, MEMBER_BYTES, lambda _: 0), _size, budget, (1 - _FINAL) / 2):
            rest += _together(group, replace(options, level=0, deadline=deadline), say, options.level)
    kept = [b for b in blocks if b.alone] + rest
    for block, deadline in _shares(kept, lambda b: b.size, budget, 1):
        yield _finished(block, replace(options, deadline=deadline), say)


def _shares(
    things: Iterable[T], size: Callable[[T], int], budget: TimeBudget, part: float
) -> Iterator[tuple[T, float | None]]:
    """Each with the moment at which its share of that part of the time is over."""
    things = list(things)
    left = sum(map(size, things))
    for thing in things:
        yield thing, budget.share(part * size(thing) / max(left, 1))
        left -= size(thing)


def _alike(block: Block) -> tuple[bool, str]:
    return block.noise, _kind_of_name(block.files[0])[0]


def _size(group: Sequence[Block]) -> int:
    return sum(block.size for block in group)


def _runs(blocks: Sequence[Block], most: int, key: Callable[[Block], object]) -> Iterator[list[Block]]:
    """Blocks of one key, one after the other, up to this number of bytes."""
    for _, alike in itertools.groupby(blocks, key):
        run: list[Block] = []
        for block in alike:
            if run and _size(run) + block.size > most:
                yield run
                run = []
            run.append(block)
        yield run


def _together(group: list[Block], options: Options, say: Progress, level: int | None = None) -> list[Block]:
    """One block of them all where that is smaller, else the same."""
    if len(group) == 1:
        return group
    one = _tried(tuple(file for block in group for file in block.files), options, say, level)
    return [one] if len(one.members) < sum(len(block.members) for block in group) else group


def _tried(files: tuple[Found, ...], options: Options, say: Progress, level: int | None = None) -> Block:
    """The files as one block, by quick codecs where a search for programs or the other ways may be better."""
    data = b"".join(contents for _, contents in files)
    if len(data) > (PART_BYTES if options.searched() else MEMBER_BYTES):
        members, reports = compress_with_reports(data, options, say)
        return Block(files, members, tuple(reports), final=True)
    member, report = pack_member(data, options, say, min(options.level if level is None else level, QUICK))
    return Block(files, member, (report,))


def _finished(block: Block, options: Options, say: Progress) -> Block:
    """The block as small as the level makes it."""
    if block.final or any(report.programs for report in block.reports):
        return block
    member, report = pack_member(block.data, replace(options, level=0), say, options.level)
    return replace(block, members=member, reports=(report,)) if len(member) < len(block.members) else block
