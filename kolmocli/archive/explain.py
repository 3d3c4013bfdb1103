"""The programs behind an archive, as text that a person can read."""

from __future__ import annotations

from collections.abc import Iterator

from kolmocli.archive.decompress import DEFAULT_MAX_OUTPUT, Block, decode_member, members
from kolmocli.archive.programs import Earlier, Fresh, StoredCall
from kolmocli.language.program import Ref

_SHOWN_ITEMS = 8


def explain(archive: bytes, max_output: int = DEFAULT_MAX_OUTPUT) -> Iterator[str]:
    """A line per block that says where it goes, and its program below."""
    for number, member in enumerate(members(archive, max_output), start=1):
        blocks: list[Block] = []
        decode_member(member, blocks)
        yield f"# member {number}: {member.size} bytes, {len(blocks)} blocks"
        if not blocks and member.size:
            yield "# no program: the whole member is in the residual"
        for block in blocks:
            yield f"# items {block.start}..{block.start + block.count - 1}"
            calls = zip(block.stored, block.program.statements, strict=True)
            for index, (call, statement) in enumerate(calls, start=1):
                items = statement.arguments[0] if call.function == "set_list" else ()  # type: ignore[union-attr]
                yield f"sequence_{index} = {call.function}({_arguments(call, items)})"


def _arguments(call: StoredCall, items: object) -> str:
    source = call.arguments[0]
    if call.function == "set_list":
        assert isinstance(items, tuple)
        shown = ", ".join(map(str, items[:_SHOWN_ITEMS])) + (", …" if len(items) > _SHOWN_ITEMS else "")
        if isinstance(source, Fresh):
            return f"[{shown}])  # ({source.count} from the residual"
        if isinstance(source, Earlier):
            return f"[{shown}])  # ({source.count} from {source.distance} items before"
        return f"[{shown}]"
    return ", ".join(f"sequence_{a.index + 1}" if isinstance(a, Ref) else str(a) for a in call.arguments)
