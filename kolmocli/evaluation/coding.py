"""Cost of programs: coded bits for those of the language, one packed stream of text for free Python.

Text is stored as an archive would: all programs in one stream, a NUL after each, which no program contains, through
the best codec. A program on its own would pay for the codec's frame and for the words that all of them share.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Protocol

from kolmocli.evaluation.baselines import best_stream_bits, stream_bits
from kolmocli.language.coder import literal_bits
from kolmocli.language.raw import raw_bits
from kolmocli.tasks.outcome import Outcome
from kolmocli.tasks.sequences.python import python_literal_bits
from kolmocli.tasks.sequences.task import SequenceTask

Pair = tuple[SequenceTask, Outcome]


class Coding(Protocol):
    """Storage of the correct programs of an evaluation."""

    def choices(self, correct: Sequence[Pair]) -> Iterator[list[Pair]]:
        """The selections of programs that a compressor weighs against leaving their sequences to a codec."""
        ...

    def bits(self, outcomes: Sequence[Outcome], codec: str | None = None) -> float:
        """Bits of these programs together; where a codec is part of the coding, `codec`, or the best one."""
        ...

    def weight(self, outcome: Outcome) -> float:
        """The program's part of `bits`, up to a factor that is the same for all."""
        ...


class CodedBits:
    """The project's own prefix code: programs of the language, each by itself, without any codec."""

    def choices(self, correct: Sequence[Pair]) -> Iterator[list[Pair]]:
        """The programs that are shorter than the literal."""
        yield [(task, o) for task, o in correct if o.bits is not None and o.bits < _literal_bits(task)]

    def bits(self, outcomes: Sequence[Outcome], codec: str | None = None) -> float:
        return sum(math.ceil(o.bits or 0) for o in outcomes)

    def weight(self, outcome: Outcome) -> float:
        return math.ceil(outcome.bits or 0)


def _literal_bits(task: SequenceTask) -> int:
    return (literal_bits if task.language == "dsl" else python_literal_bits)(task.target)


class SolidText:
    """The text of programs as one stream."""

    def choices(self, correct: Sequence[Pair]) -> Iterator[list[Pair]]:
        """All of them; or those that are shorter than the sequence even as they are; or none."""
        short = [(task, o) for task, o in correct if 8 * len(_utf8(o.text)) < raw_bits([task.target])]
        yield from {len(chosen): chosen for chosen in (list(correct), short, list[Pair]())}.values()

    def bits(self, outcomes: Sequence[Outcome], codec: str | None = None) -> float:
        data = b"".join(_utf8(o.text) + b"\0" for o in outcomes)
        return best_stream_bits(data) if codec is None else stream_bits(codec, data)

    def weight(self, outcome: Outcome) -> float:
        return len(_utf8(outcome.text)) + 1


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


CODED, TEXT = CodedBits(), SolidText()
