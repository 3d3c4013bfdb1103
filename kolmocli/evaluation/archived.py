"""The programs of an evaluation as a real archive: its bytes are counted, and they decode to the sequences.

All sequences stand one behind the other. Programs that are used are stored as they are, the rest is the residual of
the archive. Where one sequence ends and the next begins is not stored, as it is not for the codecs.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from kolmocli.archive.codecs.packing import pack
from kolmocli.archive.format.container import PROGRAMS, Section, digest, read_member, varint, write_member
from kolmocli.archive.format.programs import MAX_STATEMENTS, ProgramCoder
from kolmocli.archive.format.rangecoder import Encoder
from kolmocli.archive.format.stored import stored
from kolmocli.archive.format.views import BY_NAME, View, word_bytes
from kolmocli.archive.opener import decode_member
from kolmocli.archive.search.proposals import literal
from kolmocli.evaluation.coding import CODED, Pair
from kolmocli.language.interpreter import Bounds, ExecutionError, execute
from kolmocli.language.program import Program, canonical
from kolmocli.language.raw import raw_bits
from kolmocli.tasks.outcome import Outcome
from kolmocli.tasks.sequences.task import SequenceTask

_WORK_PER_ITEM = 32
"""Items that a program may make on the way to one item: half of what a decoder allows all of them together."""
_VIEWS = ("u8", "i16le", "u16le", "i32le", "u32le", "i64le")


def archive_rate(pairs: Sequence[Pair]) -> float | None:
    """Bits of the archive ÷ raw bits, for judged outcomes with programs of the language.

    None without a sequence, or with items that no archive holds. Raises AssertionError should the archive not decode
    to the sequences, which is a defect.
    """
    raw, view = raw_bits(task.target for task, _ in pairs), _view(pairs)
    return 8 * len(archive(pairs, view)) / raw if raw and view is not None else None


def archive(pairs: Sequence[Pair], view: View) -> bytes:
    """One member with the correct programs that are shorter than their literals, and all other sequences."""
    correct = [(task, outcome) for task, outcome in pairs if outcome.passed]
    used = {id(outcome) for _, outcome in next(CODED.choices(correct))}
    blocks = [(task.target, _storable(task, o) if id(o) in used else None) for task, o in pairs]
    data = word_bytes(array(view.typecode, [x for target, _ in blocks for x in target]))
    sections = _sections(blocks, view)
    member = write_member(len(data), sections, digest(len(data), bytes(s.tag for s in sections), data))
    if decode_member(read_member(member)) != data:
        raise AssertionError("the archive does not decode to the sequences")
    return member


def _sections(blocks: Sequence[tuple[tuple[int, ...], Program | None]], view: View) -> tuple[Section, ...]:
    """The program stream, in which a run of sequences without a program is one literal, and the residual."""
    coder, programs, fresh, waiting = Encoder(), ProgramCoder(), array(view.typecode), 0
    for target, program in blocks:
        if program is None:
            fresh.extend(target)
            waiting += len(target)
            continue
        if waiting:
            programs.code(coder, literal(waiting))
            waiting = 0
        programs.code(coder, stored(program))
    if waiting:
        programs.code(coder, literal(waiting))
    count = sum(len(target) for target, _ in blocks)
    stream = bytes([view.number]) + view.header + varint(count) + coder.finish()
    residual = word_bytes(fresh)
    codec, payload = pack(residual)
    return (Section(PROGRAMS, stream), *([Section(codec.number, payload)] if residual else []))


def _storable(task: SequenceTask, outcome: Outcome) -> Program | None:
    """The program as an archive takes it; None for one that makes too much on the way: decoders have limits."""
    program = canonical(outcome.program) if outcome.program else None
    if program is None or len(program) > MAX_STATEMENTS:
        return None
    try:
        execute(program, Bounds(items=_WORK_PER_ITEM * len(task.target)))
    except ExecutionError:
        return None
    return program


def _view(pairs: Sequence[Pair]) -> View | None:
    """The narrowest view that holds every item."""
    low = min((min(task.target) for task, _ in pairs), default=0)
    high = max((max(task.target) for task, _ in pairs), default=0)
    for name in _VIEWS:
        view = BY_NAME[name]
        bits, signed = 8 * view.width, view.typecode.islower()
        if (-(1 << (bits - 1)) if signed else 0) <= low and high < 1 << (bits - signed):
            return view
    return None
