"""The symbols that open a statement in the prefix code, their contexts, and their code words.

A symbol is a function, or one of its short forms, or a mark. Which symbols are likely depends on the kind
of statement that came before and on how many values nothing has used yet, so each such context has its own
code. The code of a context is the canonical Huffman code with the lengths in `LENGTHS`: code words in
order of length, then in order of `SYMBOLS`.
"""

from __future__ import annotations

from kolmocli.language.program import INITIATORS, SIGNATURES, Alias, Call

MERGERS = ("concatenate", "interleave")
FOLD = {"concatenate": "fold", "interleave": "fold interleaved"}
"""Merges the result so far (or the oldest unused value) with the next unused value: no operands."""
EXTEND = {"concatenate": "extend", "interleave": "extend interleaved"}
"""Merges the last value with a value that is not itself a merge: one operand."""
ALIAS, WIDE, END = "alias", "wide", "end"
SYMBOLS = (*SIGNATURES, *FOLD.values(), *EXTEND.values(), ALIAS, WIDE, END)
"""All symbols, in the order that breaks ties in the canonical code."""

_KINDS = ("initiator", "operator", "merger")
_UNUSED = 3
CONTEXTS = 1 + len(_KINDS) * _UNUSED
"""The start, then for each kind of the statement before: at most 1, 2, or more unused values."""

# fmt: off
LENGTHS: tuple[tuple[int, ...], ...] = (
    (2, 2, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 4),
    (2, 3, 3, 2, 7, 7, 7, 8, 8, 9, 9, 8, 8, 7, 9, 6, 9, 9, 9, 9, 9, 9, 9, 5, 7, 9, 9, 3),
    (3, 3, 2, 2, 6, 6, 7, 7, 8, 9, 9, 8, 7, 7, 10, 7, 10, 10, 10, 10, 10, 3, 5, 10, 10, 10, 10, 9),
    (3, 3, 3, 3, 5, 5, 5, 6, 6, 8, 8, 6, 6, 5, 9, 7, 10, 10, 10, 10, 9, 2, 5, 10, 10, 9, 9, 9),
    (9, 9, 9, 9, 4, 6, 4, 5, 5, 9, 8, 6, 6, 5, 6, 5, 1, 3, 8, 9, 6, 9, 9, 9, 9, 9, 9, 6),
    (9, 9, 9, 9, 4, 6, 4, 5, 5, 8, 8, 6, 6, 4, 7, 6, 1, 3, 9, 9, 6, 7, 9, 9, 9, 9, 9, 9),
    (9, 9, 9, 9, 4, 5, 3, 4, 5, 7, 7, 5, 5, 4, 7, 6, 2, 4, 8, 9, 5, 3, 5, 9, 9, 9, 9, 9),
    (8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 7, 7, 7, 7, 7, 2, 3, 7, 7, 1),
    (9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 8, 8, 8, 8, 8, 1, 2, 3, 4, 8, 8, 8),
    (9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 8, 8, 8, 8, 8, 1, 3, 2, 4, 8, 8, 8),
)
# fmt: on
"""Length of each symbol's code word per context; 0: not possible there. Fitted to 30,000 sampled programs
(seed 12345) with each count raised to 0.15 % of its context or more; `benchmarks/coder.py --fit` prints it."""


def kind_of(function: str) -> str:
    """Kind of a statement that calls this function (or is an alias)."""
    if function in INITIATORS:
        return "initiator"
    return "merger" if function in MERGERS else "operator"


class Scan:
    """State that coder and decoder share before a statement: its context, and the values by use and kind."""

    __slots__ = ("count", "kind", "plain", "unused")

    def __init__(self) -> None:
        self.count = 0
        self.kind: str | None = None
        self.unused: list[int] = []
        self.plain: list[int] = []
        """Statements that are not mergers."""

    def context(self) -> int:
        if self.kind is None:
            return 0
        return 1 + _KINDS.index(self.kind) * _UNUSED + min(max(len(self.unused), 1), _UNUSED) - 1

    def fold(self) -> tuple[int, int] | None:
        """The operands of a fold, if there are two."""
        if self.kind == "merger":
            others = [i for i in self.unused if i != self.count - 1]
            return (self.count - 1, others[0]) if others else None
        return (self.unused[0], self.unused[1]) if len(self.unused) > 1 else None

    def symbol(self, statement: Call | Alias) -> str:
        """The shortest form of the statement, leaving `wide` aside."""
        if isinstance(statement, Alias):
            return ALIAS
        name = statement.function
        if name in MERGERS:
            first, second = statement.refs()
            if (first, second) == self.fold():
                return FOLD[name]
            if first == self.count - 1 and second in self.plain:
                return EXTEND[name]
        return name

    def feed(self, statement: Call | Alias) -> None:
        for index in statement.refs():
            if index in self.unused:
                self.unused.remove(index)
        self.kind = "operator" if isinstance(statement, Alias) else kind_of(statement.function)
        if self.kind != "merger":
            self.plain.append(self.count)
        self.unused.append(self.count)
        self.count += 1


def canonical_code(lengths: tuple[int, ...]) -> list[str]:
    """The code words of the canonical Huffman code with these lengths, as strings of 0 and 1."""
    words = [""] * len(lengths)
    word, width = 0, 0
    for index in sorted((i for i in range(len(lengths)) if lengths[i]), key=lambda i: (lengths[i], i)):
        word <<= lengths[index] - width
        width = lengths[index]
        words[index] = format(word, f"0{width}b")
        word += 1
    return words
