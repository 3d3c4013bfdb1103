"""From an archive to the data: the whole decoder.

It needs the standard library, the interpreter of the language, and zstandard, brotli or pcodec (and with it numpy) where
the archive used them.
It runs no code from the archive: programs are straight-line calls of fixed functions, and what they may make is
bounded by the size that the header declares and by `max_output`.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from kolmocli.archive.codecs.codecs import CODECS, unpack
from kolmocli.archive.errors import ArchiveError, ArchiveLimitError
from kolmocli.archive.format import container
from kolmocli.archive.format.container import PROGRAMS, PYTHON, RESIDUAL, Member, read_member
from kolmocli.archive.format.folder import is_folder
from kolmocli.archive.format.programs import ProgramCoder
from kolmocli.archive.format.rangecoder import Decoder
from kolmocli.archive.format.recurrences import Recurrence
from kolmocli.archive.format.stored import Earlier, Fresh, Stored, StoredCall, resolve
from kolmocli.archive.format.tables import read_template, view_of_table
from kolmocli.archive.format.views import FLOATS, MOST_DECIMALS, TABLE_NUMBER, VIEWS, View, words
from kolmocli.language.interpreter import Bounds, ExecutionError, execute
from kolmocli.language.program import Program

DEFAULT_MAX_OUTPUT = 1 << 30
MOST_MEMBER_BYTES = 1 << 26
MOST_PROGRAM_BYTES = 1 << 23
"""Longest original of a member, and of one with programs."""
MOST_LISTED = 1 << 16
_WORK_PER_ITEM = 64
_WORK_AT_LEAST = 1 << 16
"""All programs together may make this many items per item of the data, and this many in any case."""
RESIDUAL_PER_BYTE = 4
"""A decimal line of two bytes (`0` and a newline) may be a residual item of eight."""
MAX_PROGRAM_ITEMS = 1 << 20
"""All values of one program together: what bounds the memory that a program takes on top of the output."""


@dataclass(frozen=True, slots=True)
class Block:
    """The items that one program made."""

    start: int
    count: int
    stored: Stored
    program: Program


RunPython = Callable[[str, int], bytes]
"""(source, most bytes) to what the program makes, in a sandbox."""


def decompress(data: bytes, max_output: int = DEFAULT_MAX_OUTPUT, run_python: RunPython | None = None) -> bytes:
    """Restore the original of an archive. An archive with a Python program needs `run_python`.

    Raises:
        ArchiveError: when the archive is damaged, truncated or no archive.
        ArchiveLimitError: when it would take more than `max_output` bytes.
        CodecMissing: when it needs a codec that is not installed.
    """
    return b"".join(decoded(data, max_output, run_python))


def decoded(data: bytes, max_output: int = DEFAULT_MAX_OUTPUT, run_python: RunPython | None = None) -> Iterator[bytes]:
    """The same in parts, one for each member, so that no more than one of them is in memory.

    Raises:
        ArchiveError: as `decompress` does, and where a member begins whose original is larger than members are.
    """
    return (decode_member(member, run_python=run_python) for member in checked_members(data, max_output))


def members(data: bytes, max_output: int = DEFAULT_MAX_OUTPUT) -> list[Member]:
    """All members, one behind the other, not yet decoded.

    Raises:
        ArchiveError: when the data are not members from the first byte to the last, or those of a folder.
        ArchiveLimitError: when together they declare more than `max_output` bytes, or are too many for a list.
    """
    found = list(islice(checked_members(data, max_output), MOST_LISTED + 1))
    if len(found) > MOST_LISTED:
        raise ArchiveLimitError(f"the archive has more than {MOST_LISTED} members, too many for a list")
    return found


def checked_members(data: bytes, max_output: int) -> Iterator[Member]:
    """Member by member, once all headers were looked at."""
    if is_folder(data):
        raise ArchiveError(
            "an archive of a folder: kolmo.open reads a file of it, and so does kolmo decompress --member"
        )
    size = sum(member.size for member in _members(data))
    if size > max_output:
        raise ArchiveLimitError(f"the archive declares {size} bytes, more than the limit of {max_output}")
    return _members(data)


def _members(data: bytes) -> Iterator[Member]:
    position = 0
    while position < len(data) or not position:
        member = read_member(data, position)
        yield member
        position += member.length


def decode_member(member: Member, blocks: list[Block] | None = None, run_python: RunPython | None = None) -> bytes:
    """The original of one member; where `blocks` is a list, what each program made is added to it."""
    if member.size > most_bytes(member):
        raise ArchiveLimitError(
            f"a member declares {member.size} bytes, more than the {most_bytes(member)} that it may"
        )
    residual_section = member.section(RESIDUAL, max(CODECS))
    program_section = member.section(PROGRAMS, PROGRAMS)
    python_section = member.section(PYTHON, PYTHON)
    residual = b""
    if residual_section is not None:
        most = member.size * (RESIDUAL_PER_BYTE if program_section else 1)
        residual = unpack(residual_section.tag, residual_section.payload, most)
    try:
        data = _run(member, program_section.payload, residual, blocks) if program_section else residual
    except (ValueError, OverflowError, TypeError, ExecutionError) as error:
        raise ArchiveError(f"the program stream is damaged ({error})") from None
    if python_section is not None:
        data = _python(python_section.payload, member.size, run_python) + data
    tags = bytes(s.tag for s in member.sections)
    if len(data) != member.size or container.digest(member.size, tags, data, member.version) != member.digest:
        raise ArchiveError("the decoded data are not the original: the archive is damaged")
    return data


def most_bytes(member: Member) -> int:
    """Largest original that is accepted: no more than kolmo makes, which bounds a decoder's memory."""
    if member.section(PROGRAMS, PYTHON) is None:
        return MOST_MEMBER_BYTES
    return MOST_PROGRAM_BYTES << 2 if member.version == 1 else MOST_PROGRAM_BYTES


def _python(payload: bytes, size: int, run_python: RunPython | None) -> bytes:
    if run_python is None:
        raise ArchiveError("the archive holds a Python program: --allow-python runs it in the sandbox")
    from kolmocli.archive.python_mode import read_source

    return run_python(read_source(payload), size)


def view_of(member: Member) -> View | None:
    """The view of a member's programs; None where it has none."""
    section = member.section(PROGRAMS, PROGRAMS)
    return _read_view(_Header(section.payload), member.version) if section else None


def _run(member: Member, stream: bytes, residual: bytes, blocks: list[Block] | None) -> bytes:
    header = _Header(stream)
    view = _read_view(header, member.version)
    count = header.number()
    if count * view.least_bytes > member.size:
        raise ArchiveError("the program stream declares more items than the data have bytes")
    coder, programs = Decoder(header.rest()), ProgramCoder(member.version)
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
    return view.join(output, fresh.rest(), member.size)


def _read_view(header: _Header, version: int) -> View:
    number = header.take(1)[0]
    if number in VIEWS:
        return VIEWS[number]
    if version > 1 and number in FLOATS:
        decimals = header.take(1)[0]
        if decimals > MOST_DECIMALS:
            raise ArchiveError("the program stream begins with a view of floats that is not known here")
        return replace(FLOATS[number], decimals=decimals)
    if version > 1 and number == TABLE_NUMBER:
        return view_of_table(read_template(header.take, header.number, version))
    raise ArchiveError("the program stream begins with an unknown view of the data")


class _Header:
    """The beginning of a program stream, taken from front to back."""

    def __init__(self, stream: bytes) -> None:
        self._stream = stream
        self._position = 0

    def take(self, length: int) -> bytes:
        end = self._position + length
        if end > len(self._stream):
            raise ArchiveError("the program stream ends within its header")
        taken = self._stream[self._position : end]
        self._position = end
        return taken

    def number(self) -> int:
        """Seven bits per byte, the lowest first, the highest bit set on all but the last; at most 9 bytes."""
        value = 0
        for shift in range(0, 63, 7):
            byte = self.take(1)[0]
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise ArchiveError("the program stream has no valid number in its header")

    def rest(self) -> bytes:
        return self._stream[self._position :]


def _append(stored: Stored, output: array[int], fresh: Residual, work: int, blocks: list[Block] | None) -> int:
    """Run one program and append its result; returns the items it made on the way."""
    most = min(work, MAX_PROGRAM_ITEMS)
    if len(stored) == 1 and blocks is None and (made := _single(stored[0], output, fresh, most)):
        return made
    sources = [a for call in stored for a in call.arguments if isinstance(a, (Fresh, Earlier, Recurrence))]
    if sum(s.count for s in sources) > MAX_PROGRAM_ITEMS:
        raise ArchiveError("a program with more literal items than it may have")
    from_residual = sum(s.count for s in sources if isinstance(s, Fresh))
    program = resolve(stored, output, fresh.take(from_residual, len(output)))
    values = execute(program, Bounds(items=most))
    if blocks is not None:
        blocks.append(Block(len(output), len(values[-1]), stored, program))
    output.extend(values[-1])
    return sum(map(len, values))


def _single(call: StoredCall, output: array[int], fresh: Residual, most: int) -> int:
    """The same for a program of one common call, without the interpreter: items made, 0 where it takes that."""
    source = call.arguments[0]
    made: Sequence[int]
    match source:
        case Fresh(count) if count <= most:
            made = fresh.take(count, len(output))
        case Earlier(distance, count) if count <= min(distance, len(output), most):
            start = len(output) - distance
            made = output[start : start + count] if start >= 0 else ()
        case _ if call.function == "range_func_interval":
            made = range(*(a for a in call.arguments if isinstance(a, int)))
        case _ if call.function == "range_func_up":
            first, last = (a for a in call.arguments if isinstance(a, int))
            made = range(first, last + 1)
        case _:
            return 0
    if len(made) > most:
        return 0
    same_words = not isinstance(made, array) or made.typecode == output.typecode
    output.extend(made if same_words else list(made))
    return len(made)


class Residual:
    """The residual as words, taken from front to back."""

    def __init__(self, view: View, data: bytes) -> None:
        self._view = view
        self._data = data
        self._position = 0

    def take(self, count: int, position: int) -> array[int]:
        """The next `count` items, for a program that begins at this item of the output."""
        typecode = self._view.word_at(position)
        end = self._position + count * array(typecode).itemsize
        if end > len(self._data):
            raise ArchiveError("the residual is too short")
        items = words(typecode, self._data[self._position : end])
        self._position = end
        return items

    def rest(self) -> bytes:
        return self._data[self._position :]
