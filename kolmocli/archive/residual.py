"""Pack the bytes that the programs of an attempt leave, in the codec that makes them smallest."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from kolmocli.archive.codecs.codecs import CODECS
from kolmocli.archive.codecs.layouts import Layout, Stretch
from kolmocli.archive.codecs.numbers import TYPES
from kolmocli.archive.codecs.packing import pack
from kolmocli.archive.format.tables import TableView
from kolmocli.archive.format.views import View, word_bytes
from kolmocli.archive.opener import RESIDUAL_PER_BYTE
from kolmocli.archive.search.attempts import Attempt, PackedResidual
from kolmocli.archive.search.proposals import Piece
from kolmocli.archive.time_budget import TimeBudget

_TYPE_OF_WORD = {c: TYPES[("u" if c.isupper() else "i") + str(8 * array(c).itemsize)] for c in "bBhHiIq"}
_QUICK_LEVEL = 2
"""For the size of a part of the residual: near enough."""


def packed_residual(
    attempt: Attempt, pieces: Sequence[Piece], size: int, level: int, budget: TimeBudget
) -> PackedResidual:
    """The bytes that the pieces take from the residual, in the best codec; unpacked where they are too many. `size` is that of
    the data."""
    fresh: list[tuple[int, Sequence[int]]] = []
    count = 0
    for piece in pieces:
        if piece.fresh:
            fresh.append((count, piece.fresh))
        count += piece.count
    view, rest = attempt.view, attempt.rest
    if isinstance(view, TableView):
        view = view.narrowed(fresh)
    words = b"".join(word_bytes(array(view.word_at(position), items)) for position, items in fresh)
    residual = words + rest
    if not residual or len(residual) > RESIDUAL_PER_BYTE * size:
        return PackedResidual(view, CODECS[0], residual, len(residual), 0.0)
    codec, payload = pack(residual, level, budget.share(1), [_layout_of_words(view, fresh, len(rest))])
    alone = len(pack(words, _QUICK_LEVEL)[1]) if rest else len(payload)
    items = sum(len(taken) for _, taken in fresh)
    return PackedResidual(view, codec, payload, len(residual), 8.0 * alone / max(items, 1))


def _layout_of_words(view: View, fresh: list[tuple[int, Sequence[int]]], rest: int) -> Layout:
    """Layout of the numbers of each column in the residual."""
    stretches: list[tuple[int, Stretch]] = []
    for position, items in fresh:
        column, type_ = view.column_at(position), _TYPE_OF_WORD[view.word_at(position)]
        if stretches and stretches[-1][0] == column:
            stretches[-1] = column, Stretch(stretches[-1][1].records + len(items), (type_,))
        else:
            stretches.append((column, Stretch(len(items), (type_,))))
    return tuple(s for _, s in stretches) + ((Stretch(rest, typed=False),) if rest else ())
