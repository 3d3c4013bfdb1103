"""The programs behind an archive, as objects that print as a person reads them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kolmocli.archive.codecs.codecs import CODECS
from kolmocli.archive.format.cells import FIXED, LISTED, MIXED, SHORT, TIME, TRIMMED, WORD
from kolmocli.archive.format.container import PYTHON, Member
from kolmocli.archive.format.recurrences import Recurrence
from kolmocli.archive.format.stored import Earlier, Fresh, StoredCall
from kolmocli.archive.format.tables import TableView
from kolmocli.archive.format.views import FloatView, View
from kolmocli.archive.opener import DEFAULT_MAX_OUTPUT, Block, decode_member, members, view_of
from kolmocli.archive.python_mode import read_source
from kolmocli.language.program import Call, Ref

_SHOWN_ITEMS = 8
_SHOWN_TEXT = 40


@dataclass(frozen=True, slots=True)
class BlockExplanation:
    """A program and what it makes: items `start` to `start + count` (excluded) of its member."""

    start: int
    count: int
    place: str
    """The same for a person: columns and rows where the data are a table."""
    program: str

    def __str__(self) -> str:
        return f"# {self.place}\n{self.program}"


@dataclass(frozen=True, slots=True)
class MemberExplanation:
    """Contents of one member of an archive."""

    size: int
    """Bytes of the original."""
    packed: int
    """Bytes of the member."""
    notes: tuple[str, ...]
    """Its kind, and the type of its items where that is not a byte."""
    blocks: tuple[BlockExplanation, ...] = ()
    python: str | None = None
    """The source of its Python program, which explaining does not run."""

    def __str__(self) -> str:
        notes = (f"# {note}" for note in self.notes)
        return "\n".join([*notes, *map(str, self.blocks), *([] if self.python is None else [self.python])])


@dataclass(frozen=True, slots=True)
class Explanation:
    """Contents of an archive, member by member; `print` it, or look into it."""

    members: tuple[MemberExplanation, ...]

    def __str__(self) -> str:
        return "\n".join(map(str, self.members))


def explain(archive: bytes, max_output: int = DEFAULT_MAX_OUTPUT) -> Explanation:
    """Show the programs behind an archive. All but its Python programs are run for this.

    Raises:
        ArchiveError: as `decompress` does.
    """
    return Explanation(tuple(_explained(m, number) for number, m in enumerate(members(archive, max_output), start=1)))


def _explained(member: Member, number: int) -> MemberExplanation:
    blocks: list[Block] = []
    head = f"member {number}: {_sizes(member)}"
    python = member.section(PYTHON, PYTHON)
    if python is not None:
        source = read_source(python.payload)
        return MemberExplanation(
            member.size, member.length, (f"{head}, a Python program (not run for this)",), (), source
        )
    decode_member(member, blocks)
    head = f"{head}, {_count(len(blocks), 'block')}"
    view = view_of(member)
    if view is None:
        nothing = "no program: the whole member is in the residual" if member.size else "nothing"
        return MemberExplanation(member.size, member.length, (head, nothing))
    explained = tuple(_block(block, view) for block in blocks)
    return MemberExplanation(member.size, member.length, (head, *_seen_as(view)), explained)


def _block(block: Block, view: View) -> BlockExplanation:
    lines = []
    for index, (call, statement) in enumerate(zip(block.stored, block.program.statements, strict=True), start=1):
        items = statement.arguments[0] if isinstance(statement, Call) else ()
        source = _source(call.arguments[0], items, block.start, view)
        lines.append(f"sequence_{index} = {call.function}({_arguments(call, items)}){source}")
    return BlockExplanation(block.start, block.count, _place(block.start, block.count, view), "\n".join(lines))


def _sizes(member: Member) -> str:
    residual = next((s for s in member.sections if s.tag in CODECS), None)
    packed = f" ({len(residual.payload)} of them the residual, {CODECS[residual.tag].name})" if residual else ""
    return f"{_count(member.size, 'byte')} in {member.length}{packed}"


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" + ("" if number == 1 else "s")


def _seen_as(view: View) -> Iterator[str]:
    """The type of an item, where it is not a byte."""
    if isinstance(view, FloatView):
        yield f"items are {view.name} times {10**view.decimals}"
    elif isinstance(view, TableView):
        t = view.template
        cells = iter(range(1, len(t.columns) + 1))
        names = ["{word}" if c.kind == WORD else f"{{column {next(cells)}}}" for c in t.columns]
        row = t.literals[0].decode("latin-1") + "".join(
            name + text.decode("latin-1") for name, text in zip(names, t.literals[1:], strict=True)
        )
        yield f"{_count(t.rows, 'row')} of {row!r}"
        for column, number in zip(t.numbers(), range(1, len(t.columns) + 1), strict=False):
            if column.kind in (FIXED, SHORT, TRIMMED):
                yield f"items of column {number} are its numbers times {10**column.places}"
            elif column.kind == TIME:
                yield f"items of column {number} are moments, written as {column.pattern}"
            elif column.kind == LISTED:
                yield f"items of column {number} are words of a list of {column.places}"
            if column.flags & MIXED:
                yield f"column {number} has {_count(column.numbers, 'number')}, counted without the words between them"
    elif view.name != "u8":
        yield f"items are {view.name}"


def _place(start: int, count: int, view: View) -> str:
    last = start + count - 1
    if not isinstance(view, TableView):
        return f"items {start}..{last}"
    starts = view.starts(last + 1)
    first_column, last_column = view.column_at(start), view.column_at(last)
    first, last = start - starts[first_column], last - starts[last_column]
    cells = ["number" if column.flags & MIXED else "row" for column in view.template.numbers()]
    if first_column == last_column:
        return f"column {first_column + 1}, {cells[first_column]}s {first}..{last}"
    return f"column {first_column + 1}, {cells[first_column]} {first} to column {last_column + 1}, {cells[last_column]} {last}"


def _arguments(call: StoredCall, items: object) -> str:
    if call.function != "set_list":
        return ", ".join(f"sequence_{a.index + 1}" if isinstance(a, Ref) else str(a) for a in call.arguments)
    assert isinstance(items, tuple)
    return "[" + ", ".join(map(str, items[:_SHOWN_ITEMS])) + (", …" if len(items) > _SHOWN_ITEMS else "") + "]"


def _source(argument: object, items: object, start: int, view: View) -> str:
    """A comment that says where the items of a list come from; `start` is where the block begins."""
    match argument:
        case Fresh(count):
            return f"  # {count} from the residual{_text(items, view)}"
        case Earlier(distance, count) if count > distance:
            return f"  # {_place(start - distance, distance, view)}, again and again for {count} items"
        case Earlier(distance, count):
            return f"  # {_place(start - distance, count, view)}, again"
        case Recurrence():
            return f"  # {argument}, {argument.count} items"
        case tuple() if len(argument) > _SHOWN_ITEMS:
            return f"  # {len(argument)} items{_text(items, view)}"
    return ""


def _text(items: object, view: View) -> str:
    """The same bytes as text, where they are printable."""
    if view.name != "u8" or not isinstance(items, tuple) or not all(32 <= x < 127 or x in (9, 10) for x in items):
        return ""
    more = "…" if len(items) > _SHOWN_TEXT else ""
    return f": {bytes(items[:_SHOWN_TEXT]).decode()!r}{more}"
