"""From data to an archive: search, proposals, packing, and the choice of what is really smallest."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial

from kolmocli.archive.codecs.codecs import CODECS, QUICK
from kolmocli.archive.codecs.layouts import Layout, layout_of, likely_layouts
from kolmocli.archive.codecs.packing import beside, pack
from kolmocli.archive.codecs.recognized import recognized_layouts
from kolmocli.archive.errors import ArchiveError
from kolmocli.archive.format.container import PROGRAMS, PYTHON, Section, digest, read_member, varint, write_member
from kolmocli.archive.format.programs import ProgramCoder
from kolmocli.archive.format.rangecoder import Encoder
from kolmocli.archive.noise import looks_like_noise, windows
from kolmocli.archive.opener import (
    MOST_MEMBER_BYTES,
    MOST_PROGRAM_BYTES,
    RESIDUAL_PER_BYTE,
    RunPython,
    decode_member,
)
from kolmocli.archive.options import DEFAULT_LEVEL, THOROUGH_LEVEL, Options
from kolmocli.archive.progress import Progress, Stages, part_of, silent
from kolmocli.archive.repeats import Span, smallest, spans
from kolmocli.archive.residual import packed_residual
from kolmocli.archive.search.attempts import Attempt, PackedMember, SearchContext, attempts
from kolmocli.archive.search.probe import looks_made
from kolmocli.archive.search.proposals import Piece, Proposals
from kolmocli.archive.time_budget import TimeBudget
from kolmocli.errors import UsageError

MEMBER_BYTES, PART_BYTES = MOST_MEMBER_BYTES, MOST_PROGRAM_BYTES
"""Data searched for programs at once."""
_PARTS_TRIED = 2
"""Parts searched first: where no program pays in them, the others are not searched."""
_DEFAULTS = Options()
_SEARCHING = 2e-6
"""Seconds of a byte that a time budget must leave, or all of it is for the codecs: a quick look takes most of that."""
_PARTED = 2
"""Large data need as many times that: half of the time is for the codecs of all data, and half of the rest for those of
the parts."""
_DECODING = 1.3
"""Decoding programs takes at most this many times what coding them did."""
_OUT_OF_REACH = 0.7
"""Programs below this share of what quick codecs make are smaller than what any codec makes, about."""
_REPEATING = 1e-8
"""Seconds of a byte of a repeat, which is packed and compared whatever time is left."""
_WORTH_THREADS = 1 << 14
_SAID_EVERY = 1 << 12


@dataclass(slots=True)
class MemberReport:
    """Attempts for a member and the one that was kept. Sizes in bytes."""

    size: int = 0
    packed: int = 0
    codec: str = "stored"
    view: str = "u8"
    programs: int = 0
    """Programs other than plain literals."""
    covered: int = 0
    """Items made by them without the residual."""
    proposed: int = 0
    """Kept programs that a proposer wrote."""
    sections: dict[str, int] = field(default_factory=dict)
    attempts: dict[str, int] = field(default_factory=dict)
    """Size of the member by way of packing; the smallest was kept."""


def compress(data: bytes | bytearray | memoryview, level: int = DEFAULT_LEVEL, seconds: float | None = None) -> bytes:
    """Compress data at level 0 (codecs only) to 9 (programs from 2 on). The archive is decoded and compared before it is returned.

    `data` are bytes, or what has some, as an array. `seconds` limits the time; without it the level decides.

    Raises:
        UsageError: there is no such level.
    """
    if level not in range(10):
        raise UsageError(f"level {level}: from 0 to 9")
    deadline = None if seconds is None or seconds == math.inf else time.monotonic() + seconds
    plain = data if isinstance(data, bytes) else memoryview(data).tobytes()
    return compress_with_reports(plain, Options(int(level), deadline=deadline))[0]


def compress_with_reports(
    data: bytes, options: Options = _DEFAULTS, progress: Progress = silent
) -> tuple[bytes, list[MemberReport]]:
    """The archive of the data, and a report per member. The result has been decoded and compared.

    Raises:
        AssertionError: should the archive not decode to the data, which is a defect.
    """
    if options.python and len(data) > PART_BYTES:
        raise ArchiveError(f"a Python program may make at most {PART_BYTES} bytes")
    archive = bytearray()
    reports: list[MemberReport] = []
    budget, found = TimeBudget(options.deadline), _spans(data, options)
    left = {repeats: sum(len(span) for span in found if span.repeats == repeats) for repeats in (True, False)}
    for span in found:
        budget.reserved = _REPEATING * left[True]
        mine = replace(
            options, deadline=budget.share(len(span) / left[False] if left[False] and not span.repeats else 1)
        )
        for member, report in _packed(data[span.start : span.end], mine, progress, span.repeats):
            archive += member
            reports.append(report)
        left[span.repeats] -= len(span)
    return bytes(archive), reports


def _spans(data: bytes, options: Options) -> list[Span]:
    """Repeats apart from the rest, where no view was given."""
    return [Span(0, len(data), False)] if options.directed() else spans(data)


def _packed(data: bytes, options: Options, progress: Progress, repeats: bool) -> Iterator[tuple[bytes, MemberReport]]:
    for part, mine in _parts_of(data, MEMBER_BYTES, options):
        yield from [_repeat(part)] if repeats else _members(part, mine, progress)


def _repeat(data: bytes) -> tuple[bytes, MemberReport]:
    """The member of data that are one repeat, decoded and compared."""
    codec, payload = smallest(data)
    member = _write(data, [Section(codec.number, payload)])
    report = MemberReport(size=len(data), attempts={codec.name: len(member)})
    return _verified(data, member, report, None, None)


_Members = list[tuple[bytes, MemberReport]]


def _parts_of(data: bytes, size: int, options: Options) -> Iterator[tuple[bytes, Options]]:
    """The data in parts of this size, each with its share of the time that is left when it is asked for."""
    budget, count = TimeBudget(options.deadline), max(-(-len(data) // size), 1)
    for i in range(count):
        yield data[i * size : (i + 1) * size], replace(options, deadline=budget.share(1 / (count - i)))


def _members(data: bytes, options: Options, progress: Progress) -> _Members:
    """One member, or for large data one for each part where that is smaller.

    Programs are searched in parts, which bounds the memory that they take; a codec sees all. While a part is searched for
    programs the codecs are quick: those of the whole are its rivals, and a part without programs is packed again.
    """
    if len(data) <= PART_BYTES or not options.searched():
        return [pack_member(data, options, progress)]
    if _is_noise(data, options, options.level):
        return [_stored(data)]
    budget = TimeBudget(options.deadline)
    searched = budget.enough(_PARTED * _SEARCHING * len(data))
    only_codecs = replace(options, level=0, deadline=budget.share(0.5 if searched else 1))
    whole = pack_member(data, only_codecs, progress, options.level)
    if not searched:
        return [whole]
    parts: _Members = []
    for part, mine in _parts_of(data, PART_BYTES, options):
        begin = len(parts) * PART_BYTES / len(data)
        parts.append(
            pack_member(part, mine, part_of(progress, begin, begin + len(part) / len(data)), min(options.level, QUICK))
        )
        if len(parts) == _PARTS_TRIED and not any(report.programs for _, report in parts):
            return [whole]
    for i, (part, mine) in enumerate(_parts_of(data, PART_BYTES, options)):
        if not parts[i][1].programs:
            again = pack_member(part, replace(mine, level=0), progress, options.level)
            parts[i] = min(parts[i], again, key=lambda made: len(made[0]))
    return parts if sum(len(member) for member, _ in parts) < len(whole[0]) else [whole]


def pack_member(
    data: bytes, options: Options, progress: Progress, codec_level: int | None = None
) -> tuple[bytes, MemberReport]:
    """One member, decoded and compared, and its report; the data are at most `MEMBER_BYTES`, and `PART_BYTES` where programs
    are searched. `codec_level` is the level of the codecs where it is not that of the search."""
    progress("codecs")
    level = options.level if codec_level is None else codec_level
    if _is_noise(data, options, level):
        return _stored(data)
    report, budget = MemberReport(size=len(data)), TimeBudget(options.deadline)
    stages = Stages(progress)
    searched = options.searched() and len(data) > 0 and budget.enough(_SEARCHING * len(data))
    waits = searched and QUICK < level < THOROUGH_LEVEL and budget.left() is None and looks_made(data)
    codec, payload = pack(
        data, QUICK if waits else level, budget.share(0.5 if searched else 1), _layouts(data, options, level)
    )
    best = _write(data, [Section(codec.number, payload)])
    budget.reserved = len(data) / codec.unpacking
    report.attempts[codec.name] = len(best)
    kept: Attempt | None = None
    if searched:
        proposals = Proposals(options.proposer, options.samples, options.seed, budget) if options.proposer else None

        def measure(attempt: Attempt) -> None:
            attempt.residual = packed_residual(attempt, attempt.pieces, len(data), QUICK, budget)

        context = SearchContext(options, budget, proposals, stages, measure)
        for attempt in attempts(data, len(payload), context):
            attempt.packed = _pack(attempt, data, options.level, budget, stages)
            member, label = attempt.packed.member, f"programs {attempt.view.name}"
            report.attempts[label] = min(len(member), report.attempts.get(label, len(member)))
            if len(member) < len(best):
                best, kept = member, attempt
                budget.reserved = attempt.packed.decoding
    if waits and len(best) > _OUT_OF_REACH * len(payload):
        codec, payload = pack(data, level, None, _layouts(data, options, level))
        report.attempts[codec.name] = len(payload)
        member = _write(data, [Section(codec.number, payload)])
        if len(member) < len(best):
            best, kept = member, None
    if options.python and options.run_python is not None and data:
        progress("python")
        member = _with_python(data, options.python, options.run_python, options.level)
        report.attempts["python"] = len(member)
        if len(member) < len(best):
            best, kept = member, None
    stages.begin("verify")
    return _verified(data, best, report, kept, options.run_python)


def _stored(data: bytes) -> tuple[bytes, MemberReport]:
    """The member of the data as they are."""
    return _verified(data, _write(data, [Section(0, data)]), MemberReport(size=len(data)), None, None)


def _is_noise(data: bytes, options: Options, level: int) -> bool:
    """Whether the quick codecs find nothing in large data, and neither does a search of some parts at this level. A search of
    all of it for nothing would take longest. Data whose view was given are always searched."""
    if level <= QUICK or options.deadline is not None or options.directed() or not looks_like_noise(data):
        return False
    reports = (pack_member(window, options, silent, level)[1] for window in windows(data))
    return all(report.codec == CODECS[0].name and not report.programs for report in reports)


def _verified(
    data: bytes, member: bytes, report: MemberReport, kept: Attempt | None, run_python: RunPython | None
) -> tuple[bytes, MemberReport]:
    parsed = read_member(member)
    if decode_member(parsed, run_python=run_python) != data:
        raise AssertionError("the archive does not decode to the data")
    _describe(report, member, parsed.sections, kept)
    return member, report


def _layouts(data: bytes, options: Options, level: int) -> Iterator[Layout]:
    """Layouts that the data may have: the user's, or else those of their header and of their looks."""
    if options.types:
        yield layout_of(options.types, options.header, len(data))
    elif level > 0:
        yield from recognized_layouts(data)
        yield from likely_layouts(data)


def _describe(report: MemberReport, best: bytes, sections: tuple[Section, ...], kept: Attempt | None) -> None:
    report.packed = len(best)
    for section in sections:
        name = {PROGRAMS: "programs", PYTHON: "python"}.get(section.tag, "residual")
        report.sections[name] = len(section.payload)
        if section.tag in CODECS:
            report.codec = CODECS[section.tag].name
    if kept is not None:
        report.view = kept.view.name
        report.programs = sum(not p.literal for p in kept.pieces)
        report.covered = sum(p.count - len(p.fresh) for p in kept.pieces)
        report.proposed = sum(p.proposed for p in kept.pieces)


def _with_python(data: bytes, source: str, run_python: RunPython, level: int) -> bytes:
    """The member of a Python program that makes the data or their beginning, and the rest in the best codec.

    Raises:
        ArchiveError: when the program fails, or makes something else.
    """
    from kolmocli.archive.python_mode import write_source

    made = run_python(source, len(data))
    if not made or not data.startswith(made):
        raise ArchiveError("the Python program does not make the data, nor their beginning")
    sections = [Section(PYTHON, write_source(source))]
    if len(made) < len(data):
        codec, payload = pack(data[len(made) :], level)
        sections.append(Section(codec.number, payload))
    return _write(data, sections)


def _write(data: bytes, sections: list[Section]) -> bytes:
    tags = bytes(s.tag for s in sections)
    return write_member(len(data), tuple(sections), digest(len(data), tags, data))


def _pack(attempt: Attempt, data: bytes, level: int, budget: TimeBudget, stages: Stages) -> PackedMember:
    """The attempt as a member, its end without programs where there is no time to code all of them. A third of the
    remaining time is for the programs, and as much for decoding them."""
    began, until = time.monotonic(), budget.share(1 / 3)
    coder, programs = Encoder(), ProgramCoder()
    pieces = list[Piece]()
    ahead = None
    if until is None and len(attempt.items) >= _WORTH_THREADS:  # all pieces are coded, and codecs leave a core to that
        ahead = beside(partial(packed_residual, attempt, attempt.pieces, len(data), level, budget))
    stages.begin("code")
    for piece in _in_time(attempt, until):
        if len(pieces) % _SAID_EVERY == 0:
            stages.at("code", len(pieces) / len(attempt.pieces))
        programs.code(coder, piece.program)
        pieces.append(piece)
    decoding = _DECODING * (time.monotonic() - began)
    budget.reserved += decoding
    residual = ahead() if ahead else packed_residual(attempt, pieces, len(data), level, budget)
    budget.reserved -= decoding
    attempt.residual = residual
    if residual.size > RESIDUAL_PER_BYTE * len(data):
        return PackedMember(_write(data, [Section(0, data)]))
    view, count = residual.view, sum(piece.count for piece in pieces)
    sections = [Section(PROGRAMS, bytes([view.number]) + view.header + varint(count) + coder.finish())]
    if residual.size:
        sections.append(Section(residual.codec.number, residual.payload))
    return PackedMember(_write(data, sections), decoding + residual.size / residual.codec.unpacking)


def _in_time(attempt: Attempt, until: float | None) -> Iterator[Piece]:
    """The pieces of the attempt, and from that moment on its items as they are."""
    count = 0
    for piece in attempt.pieces:
        if until is not None and time.monotonic() > until:
            yield from attempt.as_they_are(count)
            return
        yield piece
        count += piece.count
