"""The way in which a program takes its own value apart, as the search would spell it: what a guide learns from."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from kolmocli.language.program import Program
from kolmocli.language.search.known import reaching, weave_of
from kolmocli.language.search.nodes import Value
from kolmocli.language.search.strands import Strand, Weave

Unzipping = tuple[int, int]
"""The pairs and the end of a way."""


def unzippings(program: Program, sequence: Value) -> list[Unzipping] | None:
    """The ways by which the program takes the sequence apart, the outermost first; None if it does not make it."""
    if (right := reaching(program, sequence)) is None:
        return None
    weave = spelled(weave_of(right))
    found = []
    for i in range(len(weave) - 1, 0, -1):
        if weave[i].woven:
            core, woven = len(value_of(weave[:i])), len(weave[i].items)
            found.append((woven, 0) if woven <= core else (core, core + woven))
    return found


def spelled(weave: Weave) -> Weave:
    """The same weave with every tail as far inside as it can stand: behind the core, unless what was woven in is longer."""
    strands: list[Strand] = [weave[0]]
    for strand in weave[1:]:
        strands = [*strands, strand] if strand.woven else _appended(strands, strand.items)
    return tuple(strands)


def _appended(strands: list[Strand], items: Value) -> list[Strand]:
    *rest, last = strands
    if not last.woven:
        return [*rest, Strand(last.items + items, False)]
    if len(value_of(rest)) >= len(last.items):
        return [*_appended(rest, items), last]
    return [*strands, Strand(items, False)]


def value_of(strands: Sequence[Strand]) -> Value:
    """The value that the strands make."""
    value = strands[0].items
    for strand in strands[1:]:
        if strand.woven:
            both = min(len(value), len(strand.items))
            zipped = chain.from_iterable(zip(value, strand.items, strict=False))
            value = (*zipped, *value[both:], *strand.items[both:])
        else:
            value += strand.items
    return value
