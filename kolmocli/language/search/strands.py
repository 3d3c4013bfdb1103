"""The strands into which the search takes a sequence apart.

Interleaving starts at the first item, so that a program that folds values from left to right is undone from the outside: what
was interleaved last is every second item of the front. What is left of it, the core, may have been interleaved before.

    core, woven 1, tail 1, woven 2, tail 2, ...

is the core, its value interleaved with woven 1, then tail 1 appended, and so on. A strand is explained by one value or, where
it is appended, by several that are concatenated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kolmocli.language.search.nodes import Value


@dataclass(frozen=True, slots=True)
class Strand:
    """Items of the sequence that stood together before the outer interleavings; `woven` if they were woven in."""

    items: Value
    woven: bool


Weave = tuple[Strand, ...]


def plain(sequence: Sequence[int]) -> Weave:
    """The sequence as it is: the core alone."""
    return (Strand(tuple(sequence), False),)


def woven_in(weave: Weave, count: int) -> Weave:
    """The core's first `2·count` items unzipped: what was woven in had `count` items, and the rest is the core's."""
    items = weave[0].items
    core = items[0 : 2 * count : 2] + items[2 * count :]
    return (Strand(core, False), Strand(items[1 : 2 * count : 2], True), *weave[1:])


def woven_on(weave: Weave, count: int, end: int) -> Weave:
    """The core had only `count` items; the rest, as far as `end`, belongs to what was woven in. Then comes a tail."""
    items = weave[0].items
    over = items[1 : 2 * count : 2] + items[2 * count : end]
    tail = (Strand(items[end:], False),) if end < len(items) else ()
    return (Strand(items[0 : 2 * count : 2], False), Strand(over, True), *tail, *weave[1:])
