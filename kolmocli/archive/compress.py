"""From data to an archive: search, proposals, packing, and the choice of what is really smallest."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from kolmocli.archive.attempts import Attempt, Options, Packed, Say, attempts
from kolmocli.archive.codecs import CODECS, pack
from kolmocli.archive.container import PROGRAMS, PYTHON, Section, digest, read_member, varint, write_member
from kolmocli.archive.decompress import RESIDUAL_PER_BYTE, RunPython, decode_member
from kolmocli.archive.errors import ArchiveError
from kolmocli.archive.programs import ProgramCoder
from kolmocli.archive.proposals import Asked
from kolmocli.archive.rangecoder import Encoder
from kolmocli.archive.tables import TableView
from kolmocli.archive.views import word_bytes

MEMBER_BYTES = 1 << 26
PART_BYTES = 1 << 23
"""Data searched for programs at once."""
_PARTS_TRIED = 2
"""Where no program pays in the first parts, the others are not searched."""
_DEFAULTS = Options()
_QUICK_LEVEL = 2
"""For the size of a part of the residual: near enough."""


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
    data: bytes, options: Options = _DEFAULTS, progress: Callable[[str], None] | None = None
) -> tuple[bytes, list[Report]]:
    """The archive of the data, and a report per member. The result has been decoded and compared.

    Raises:
        AssertionError: should the archive not decode to the data, which is a defect.
    """
    if options.python and len(data) > PART_BYTES:
        raise ArchiveError(f"a Python program may make at most {PART_BYTES} bytes")
    archive = bytearray()
    reports: list[Report] = []
    for start in range(0, max(len(data), 1), MEMBER_BYTES):
        made = _members(data[start : start + MEMBER_BYTES], options, progress or (lambda _: None))
        archive += b"".join(member for member, _ in made)
        reports += (report for _, report in made)
    return bytes(archive), reports


Made = list[tuple[bytes, Report]]


def _members(data: bytes, options: Options, say: Say) -> Made:
    """One member, or for large data one for each part where that is smaller.

    Programs are searched in parts, which bounds the memory that they take; a codec sees all.
    """
    if len(data) <= PART_BYTES or options.level == 0:
        return [_member(data, options, say)]
    whole = _member(data, replace(options, level=0, deadline=options.for_codecs()), say, options.level)
    parts: Made = []
    for start in range(0, len(data), PART_BYTES):
        parts.append(_member(data[start : start + PART_BYTES], options, say))
        if len(parts) == _PARTS_TRIED and not any(report.programs for _, report in parts):
            return [whole]
    return parts if sum(len(member) for member, _ in parts) < len(whole[0]) else [whole]


def _member(data: bytes, options: Options, say: Say, codec_level: int | None = None) -> tuple[bytes, Report]:
    report = Report(size=len(data))
    say("codecs")
    codec, payload = pack(data, options.level if codec_level is None else codec_level, options.for_codecs())
    best = _write(data, [Section(codec.number, payload)])
    report.attempts[codec.name] = len(best)
    kept: Attempt | None = None
    if options.level > 0 and data:
        asked = Asked(options.proposer, options.samples, options.seed, options.late) if options.proposer else None
        for attempt in attempts(data, len(payload), options, asked, say):
            attempt.packed = _pack(attempt, data, options.level)
            member, label = attempt.packed.member, f"programs {attempt.view.name}"
            report.attempts[label] = min(len(member), report.attempts.get(label, len(member)))
            if len(member) < len(best):
                best, kept = member, attempt
    if options.python and options.run_python is not None and data:
        say("python")
        member = _with_python(data, options.python, options.run_python, options.level)
        report.attempts["python"] = len(member)
        if len(member) < len(best):
            best, kept = member, None
    say("verify")
    parsed = read_member(best)
    if decode_member(parsed, run_python=options.run_python) != data:
        raise AssertionError("the archive does not decode to the data")
    _describe(report, best, parsed.sections, kept)
    return best, report


def _describe(report: Report, best: bytes, sections: tuple[Section, ...], kept: Attempt | None) -> None:
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


def _pack(attempt: Attempt, data: bytes, level: int) -> Packed:
    coder, programs = Encoder(), ProgramCoder()
    view, count = attempt.view, 0
    fresh: list[tuple[int, Sequence[int]]] = []
    for piece in attempt.pieces:
        programs.code(coder, piece.program)
        if piece.fresh:
            fresh.append((count, piece.fresh))
        count += piece.count
    if isinstance(view, TableView):
        view = view.narrowed(fresh)
    words = b"".join(word_bytes(array(view.word_at(position), items)) for position, items in fresh)
    residual = words + attempt.rest
    if len(residual) > RESIDUAL_PER_BYTE * len(data):
        return Packed(_write(data, [Section(0, data)]))
    sections = [Section(PROGRAMS, bytes([view.number]) + view.header + varint(count) + coder.finish())]
    if not residual:
        return Packed(_write(data, sections))
    codec, payload = pack(residual, level)
    share = len(payload) / len(residual)
    items = sum(len(taken) for _, taken in fresh)
    member = _write(data, [*sections, Section(codec.number, payload)])
    alone = len(pack(words, _QUICK_LEVEL)[1]) if attempt.rest else len(payload)
    return Packed(member, share, 8.0 * alone / max(items, 1))
