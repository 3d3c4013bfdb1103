"""From data to an archive: search, proposals, packing, and the choice of what is really smallest."""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from kolmocli.archive.codecs import CODECS, pack
from kolmocli.archive.container import PROGRAMS, Section, digest, read_member, write_member
from kolmocli.archive.decompress import MAX_PROGRAM_ITEMS, decode_member
from kolmocli.archive.programs import ProgramCoder
from kolmocli.archive.proposals import Asked, Piece, Proposer, literal
from kolmocli.archive.rangecoder import Encoder
from kolmocli.archive.views import BY_NAME, View

MEMBER_BYTES = 1 << 26
SAFE = 1 << 61
"""Items below this have differences, and differences of those, that fit 64 bits."""
CHUNK_ITEMS = 1 << 18
"""Items searched at once: what bounds the memory of the search."""
DEFAULT_LEVEL = 6


@dataclass(frozen=True, slots=True)
class Options:
    level: int = DEFAULT_LEVEL
    view: str = "auto"
    proposer: Proposer | None = None
    samples: int = 16
    seed: int = 0
    deadline: float | None = None
    """Moment of `time.monotonic` after which no further attempt is begun."""

    def late(self) -> bool:
        return self.deadline is not None and time.monotonic() > self.deadline


@dataclass(slots=True)
class Report:
    """What was tried and what was kept. Sizes in bytes."""

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


def compress(
    data: bytes, options: Options = Options(), progress: Callable[[str], None] | None = None
) -> tuple[bytes, list[Report]]:
    """The archive of the data, and a report per member. The result has been decoded and compared.

    Raises:
        AssertionError: should the archive not decode to the data, which is a defect.
    """
    archive = bytearray()
    reports = []
    for start in range(0, max(len(data), 1), MEMBER_BYTES):
        member, report = _member(data[start : start + MEMBER_BYTES], options, progress or (lambda _: None))
        archive += member
        reports.append(report)
    return bytes(archive), reports


def _member(data: bytes, options: Options, say: Callable[[str], None]) -> tuple[bytes, Report]:
    report = Report(size=len(data))
    say("codecs")
    codec, payload = pack(data, options.level)
    best = _write(data, [Section(codec.number, payload)] if data else [])
    report.attempts[codec.name] = len(best)
    kept: tuple[View, list[Piece]] | None = None
    ratio = len(payload) / max(len(data), 1)
    if options.level > 0 and data:
        asked = Asked(options.proposer, options.samples, options.seed, options.late) if options.proposer else None
        for view in _views(data, options):
            if options.late():
                break
            for member, pieces in _attempts(data, view, options, ratio, asked, say):
                label = f"programs {view.name}"
                report.attempts[label] = min(len(member), report.attempts.get(label, len(member)))
                if len(member) < len(best):
                    best, kept = member, (view, pieces)
    say("verify")
    parsed = read_member(best)
    if decode_member(parsed) != data:
        raise AssertionError("the archive does not decode to the data")
    _describe(report, best, parsed.sections, kept)
    return best, report


def _describe(
    report: Report, best: bytes, sections: tuple[Section, ...], kept: tuple[View, list[Piece]] | None
) -> None:
    report.packed = len(best)
    for section in sections:
        name = "programs" if section.tag == PROGRAMS else "residual"
        report.sections[name] = len(section.payload)
        if section.tag in CODECS:
            report.codec = CODECS[section.tag].name
    if kept is not None:
        view, pieces = kept
        report.view = view.name
        report.programs = sum(not p.literal for p in pieces)
        report.covered = sum(p.count - len(p.fresh) for p in pieces)
        report.proposed = sum(p.proposed for p in pieces)


def _write(data: bytes, sections: list[Section]) -> bytes:
    tags = bytes(s.tag for s in sections)
    return write_member(len(data), tuple(sections), digest(len(data), tags, data))


def _views(data: bytes, options: Options) -> list[View]:
    if options.view != "auto":
        return [BY_NAME[options.view]]
    from kolmocli.archive.guess import likely_views

    return likely_views(data)


def _attempts(
    data: bytes, view: View, options: Options, ratio: float, asked: Asked | None, say: Callable[[str], None]
) -> Iterator[tuple[bytes, list[Piece]]]:
    """Members made with programs, from the first to the most refined."""
    import numpy as np

    from kolmocli.archive.search import search
    from kolmocli.archive.segments import programs_of

    items, rest = view.items(data)
    if not items or max(items) >= SAFE or min(items) <= -SAFE:
        return
    values = np.array(items, dtype=np.int64)
    full = 8.0 * view.width
    for literal_bits in _literal_costs(full, ratio):
        if options.late():
            return
        pieces: list[Piece] = []
        for start in range(0, len(values), CHUNK_ITEMS):
            say(f"search {view.name} {100 * start // len(values)} %")
            chunk = values[start : start + CHUNK_ITEMS]
            segments = search(chunk, literal_bits, full, passes=1 if options.level < 4 else 2)
            made = zip(segments, programs_of(chunk.tolist(), segments), strict=True)
            pieces += [Piece(program, fresh, s.end - s.start) for s, (program, fresh) in made]
        if asked is not None and view.name == "u8" and not options.late():
            say("policy")
            pieces = asked.replace(pieces, literal_bits)
        pieces = _joined(pieces)
        if all(p.literal for p in pieces):
            continue
        yield _pack(data, view, pieces, rest, options), pieces


def _literal_costs(full: float, ratio: float) -> list[float]:
    """What an item of the residual may cost: all its bits, or what the codecs make of the whole data."""
    return [full] if ratio > 0.9 else [full, full * ratio]


def _joined(pieces: list[Piece]) -> list[Piece]:
    """Neighbouring literals as one."""
    out: list[Piece] = []
    for piece in pieces:
        if out and out[-1].literal and piece.literal and out[-1].count + piece.count <= MAX_PROGRAM_ITEMS // 2:
            fresh = [*out[-1].fresh, *piece.fresh]
            out[-1] = Piece(literal(len(fresh)), fresh, len(fresh))
        else:
            out.append(piece)
    return out


def _pack(data: bytes, view: View, pieces: list[Piece], rest: bytes, options: Options) -> bytes:
    coder, programs = Encoder(), ProgramCoder()
    fresh = array(view.typecode)
    count = 0
    for piece in pieces:
        programs.code(coder, piece.program)
        fresh.extend(piece.fresh)
        count += piece.count
    stream = bytes([view.number]) + varint(count) + coder.finish()
    words = View(view.number, view.name, view.typecode)
    residual = words.data(fresh) + rest
    sections = [Section(PROGRAMS, stream)]
    if residual:
        codec, payload = pack(residual, options.level)
        sections.append(Section(codec.number, payload))
    return _write(data, sections)


def varint(value: int) -> bytes:
    """Seven bits per byte, the lowest first; the highest bit is set on all but the last."""
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)
