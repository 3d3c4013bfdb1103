"""From an archive to the data: the whole decoder.

It needs the standard library, the interpreter of the language, and zstandard or brotli where the archive used them.
It runs no code from the archive: programs are straight-line calls of fixed functions, and what they may make is
bounded by the size that the header declares and by `max_output`.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass

from kolmocli.archive import container
from kolmocli.archive.codecs import CODECS, unpack
from kolmocli.archive.container import PROGRAMS, RESIDUAL, Member, read_member
from kolmocli.archive.errors import ArchiveError, ArchiveLimitError
from kolmocli.archive.programs import Earlier, Fresh, ProgramCoder, Stored, resolve
from kolmocli.archive.rangecoder import Decoder
from kolmocli.archive.views import VIEWS, View
from kolmocli.language.interpreter import Bounds, ExecutionError, execute
from kolmocli.language.program import Program

DEFAULT_MAX_OUTPUT = 1 << 30
_WORK_PER_ITEM = 64
_WORK_AT_LEAST = 1 << 16
"""All programs together may make this many items per item of the data, and this many in any case."""
_RESIDUAL_PER_BYTE = 4
"""A decimal line of two bytes (`0` and a newline) may be a residual item of eight."""
MAX_PROGRAM_ITEMS = 1 << 20
"""All values of one program together: what bounds the memory that a program takes beside the output."""


@dataclass(frozen=True, slots=True)
class Block:
    """What one program made."""

    start: int
    count: int
    stored: Stored
    program: Program


def decompress(data: bytes, max_output: int = DEFAULT_MAX_OUTPUT) -> bytes:
    """The original of an archive of one or more members.

    Raises:
        ArchiveError: when the archive is damaged, truncated or no archive.
        ArchiveLimitError: when it would take more than `max_output` bytes.
        CodecMissing: when it needs a codec that is not installed.
    """
    return b"".join(decode_member(member) for member in members(data, max_output))


def members(data: bytes, max_output: int = DEFAULT_MAX_OUTPUT) -> list[Member]:
    """All members, one behind the other, not yet decoded.

    Raises:
        ArchiveError: when the data are not members from the first byte to the last.
        ArchiveLimitError: when together they declare more than `max_output` bytes.
    """
    found: list[Member] = []
    position = 0
    while position < len(data) or not found:
        found.append(read_member(data, position))
        position += found[-1].length
    size = sum(member.size for member in found)
    if size > max_output:
        raise ArchiveLimitError(f"the archive declares {size} bytes, more than the limit of {max_output}")
    return found


def decode_member(member: Member, blocks: list[Block] | None = None) -> bytes:
    """The original of one member; where `blocks` is a list, what each program made is added to it."""
    residual_section = member.section(RESIDUAL, max(CODECS))
    program_section = member.section(PROGRAMS, PROGRAMS)
    residual = b""
    if residual_section is not None:
        residual = unpack(residual_section.tag, residual_section.payload, member.size * _RESIDUAL_PER_BYTE)
    try:
        data = _run(member.size, program_section.payload, residual, blocks) if program_section else residual
    except (ValueError, OverflowError, TypeError, ExecutionError) as error:
        raise ArchiveError(f"the program stream is damaged ({error})") from None
    tags = bytes(s.tag for s in member.sections)
    if len(data) != member.size or container.digest(member.size, tags, data) != member.digest:
        raise ArchiveError("the decoded data are not the original: the archive is damaged")
    return data


def _run(size: int, stream: bytes, residual: bytes, blocks: list[Block] | None) -> bytes:
    if not stream or stream[0] not in VIEWS:
        raise ArchiveError("the program stream begins with an unknown view of the data")
    view = VIEWS[stream[0]]
    count, header = _varint(stream, 1)
    if count * view.least_bytes > size:
        raise ArchiveError("the program stream declares more items than the data have bytes")
    coder, programs = Decoder(stream[header:]), ProgramCoder()
    output = array(view.typecode)
    fresh = Residual(view, residual)
    work = max(_WORK_AT_LEAST, _WORK_PER_ITEM * count)
    while len(output) < count:
        if coder.exhausted:
            raise ArchiveError("the program stream is truncated")
        stored = programs.code(coder)
        before = len(output)
        work -= _append(stored, output, fresh, work, blocks)
        if not before < len(output) <= count:
            raise ArchiveError("a program makes no items, or more than there are")
    return view.data(output) + fresh.rest()


def _append(stored: Stored, output: array[int], fresh: Residual, work: int, blocks: list[Block] | None) -> int:
    """Run one program and append its result; returns the items it made on the way."""
    sources = [a for call in stored for a in call.arguments if isinstance(a, (Fresh, Earlier))]
    if sum(s.count for s in sources) > MAX_PROGRAM_ITEMS:
        raise ArchiveError("a program with more literal items than it may have")
    program = resolve(stored, output, fresh.take(sum(s.count for s in sources if isinstance(s, Fresh))))
    values = execute(program, Bounds(items=min(work, MAX_PROGRAM_ITEMS)))
    if blocks is not None:
        blocks.append(Block(len(output), len(values[-1]), stored, program))
    output.extend(values[-1])
    return sum(map(len, values))


def _varint(data: bytes, position: int) -> tuple[int, int]:
    """Seven bits per byte, the lowest first, the highest bit set on all but the last; at most 9 bytes."""
    value = shift = 0
    for at in range(position, min(position + 9, len(data))):
        value |= (data[at] & 127) << shift
        shift += 7
        if data[at] < 128:
            return value, at + 1
    raise ArchiveError("the program stream has no valid number of items")


class Residual:
    """The residual as items of a view, taken from front to back."""

    def __init__(self, view: View, data: bytes) -> None:
        self._data = data
        self._width = view.width
        self._typecode = view.typecode
        self._words = VIEWS[0] if self._width == 1 else View(view.number, view.name, view.typecode)
        self._position = 0

    def take(self, count: int) -> array[int]:
        end = self._position + count * self._width
        if end > len(self._data):
            raise ArchiveError("the residual is too short")
        items, _ = self._words.items(self._data[self._position : end])
        self._position = end
        return items

    def rest(self) -> bytes:
        return self._data[self._position :]
