"""Pieces of an attempt, cut and joined: literals by column, neighbouring literals as one, smooth ones as differences."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from kolmocli.archive.opener import MAX_PROGRAM_ITEMS
from kolmocli.archive.search import smooth
from kolmocli.archive.search.proposals import Piece, literal

MOST_LITERAL = MAX_PROGRAM_ITEMS // 2
_LEAST_SMOOTH = {1: 48, 2: 12}
"""Literals of fewer items are not rewritten as differences, by bytes of an item."""
_LEAST_SMOOTH_WIDE = 8
CLEARLY = 0.95
"""A cost below this share of another is taken to be cheaper, although both are estimates."""


def by_column(piece: Piece, start: int, starts: Sequence[int]) -> Iterator[Piece]:
    """A literal in parts that end where columns end, since each column has words of its own in the residual."""
    first = bisect_right(starts, start)
    cuts = [c - start for c in starts[first : bisect_left(starts, start + piece.count)]]
    if not piece.literal or not cuts:
        yield piece
        return
    for begin, end in pairwise([0, *cuts, piece.count]):
        if begin < end:
            yield Piece(literal(end - begin), piece.fresh[begin:end], end - begin)


def joined(pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces, neighbouring literals as one where that is no longer than a program may be."""
    out: list[Piece] = []
    for piece in pieces:
        last = out[-1] if out else None
        if last and last.literal and piece.literal and last.count + piece.count <= MOST_LITERAL:
            fresh = [*last.fresh, *piece.fresh]
            out[-1] = Piece(literal(len(fresh)), fresh, len(fresh))
        else:
            out.append(piece)
    return out


def same(pieces: Sequence[Piece], others: Sequence[Piece]) -> bool:
    """Whether both are the very same pieces."""
    return len(pieces) == len(others) and all(a is b for a, b in zip(pieces, others, strict=True))


def rewritten(pieces: list[Piece], width: int, item_bits: float, saved: float = 0.0) -> Iterator[Piece]:
    """Literals as differences in the program, where these cost less than what the residual takes for an item, and `saved`
    bits for each literal."""
    least = _LEAST_SMOOTH.get(width, _LEAST_SMOOTH_WIDE)
    for piece in pieces:
        parts = [piece]
        if piece.literal and piece.count >= least:
            form, bits = smooth.best_form(np.array(piece.fresh, dtype=np.int64))
            if bits < CLEARLY * item_bits * piece.count + saved:
                cuts = range(0, piece.count, smooth.MOST_ITEMS)
                parts = [_smooth(piece.fresh[cut : cut + smooth.MOST_ITEMS], form) for cut in cuts]
        yield from parts


def _smooth(items: Sequence[int], form: smooth.Smooth) -> Piece:
    return Piece(form.program(items), (), len(items))
