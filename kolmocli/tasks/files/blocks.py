"""Cutting a stream of values into blocks, and writing blocks as lines of JSON, fast.

A line is `{"sequence":[  7,255],"modality":"bytes"}`. Every byte takes four characters, a comma included (a base
two), so all lines of a length are equally long and whole arrays of them are looked up in a table at once. JSON allows
the spaces.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Run = Bytes | list[int]
"""Consecutive values: an array of bytes, or a list of integers of any size."""

BYTE, DIGIT = 4, 2
"""Characters of one value and its comma: of 0 to 255, and of 0 to 9."""


@cache
def _pairs(cell: int) -> NDArray[Any]:
    """The text of two neighbours, by their value as a little-endian word: half as many look-ups as one by one."""
    width = cell - 1
    top = 256 if cell == BYTE else 10
    text = b"".join(b"%*d,%*d," % (width, i % 256 % top, width, (i >> 8) % top) for i in range(1 << 16))
    return np.frombuffer(text, dtype=f"u{2 * cell}")


class Cutter:
    """Cuts runs into blocks of `lengths`, again and again in this order.

    `None` in the stream is a break: no block reaches across it, and the next one begins the round again. The rest
    before a break is too short for a block; it is counted in `left_over`, or is a block too with `rest`.
    """

    def __init__(self, lengths: Sequence[int], *, rest: bool = False) -> None:
        self.lengths = tuple(lengths)
        self.round = sum(lengths)
        self.left_over = 0
        self._rest = rest

    def cut(self, runs: Iterable[Run | None]) -> Iterator[Bytes | list[int]]:
        """Whole rounds as arrays [n, round] of bytes; single blocks, [length], where a round is not whole.

        Lists stay lists, a block each.
        """
        held: Any = None
        for run in runs:
            if run is None:
                yield from self._end(held)
                held = None
                continue
            held = run if held is None or not len(held) else _joined(held, run)
            whole = len(held) // self.round
            if whole and isinstance(held, list):
                for start in range(0, whole * self.round, self.round):
                    yield from self._blocks(held[start : start + self.round])
            elif whole:
                yield held[: whole * self.round].reshape(whole, self.round)
            held = held[whole * self.round :]
        yield from self._end(held)

    def _blocks(self, values: Any) -> Iterator[Any]:
        start = 0
        for length in self.lengths:
            if start + length > len(values):
                break
            yield values[start : start + length]
            start += length
        if start < len(values) and self._rest:
            yield values[start:]
        elif start < len(values):
            self.left_over += len(values) - start

    def _end(self, held: Any) -> Iterator[Any]:
        if held is not None and len(held):
            yield from self._blocks(held)


def _joined(a: Any, b: Any) -> Any:
    return a + b if isinstance(a, list) else np.concatenate([a, b])


class LineWriter:
    """Turns what a `Cutter` yields into the bytes of JSONL; `cell` is `BYTE` or `DIGIT`."""

    def __init__(self, lengths: Sequence[int], modality: str, cell: int = BYTE) -> None:
        self._cell = cell
        self._tail = f'],"modality":{json.dumps(modality)}}}\n'.encode()
        self._lengths = tuple(lengths)
        self._template = self._round_template()
        self._page: Bytes = np.empty((0, len(self._template)), np.uint8)

    def lines(self, blocks: Bytes | list[int]) -> tuple[int, memoryview | bytes]:
        """(number of lines, their bytes). The bytes are good until the next call."""
        if isinstance(blocks, np.ndarray) and blocks.ndim == 2:
            return len(blocks) * len(self._lengths), self._rounds(blocks)
        values = blocks if isinstance(blocks, list) else blocks.tolist()
        return 1, b'{"sequence":' + json.dumps(values, separators=(",", ":")).encode()[:-1] + self._tail

    def _rounds(self, blocks: Bytes) -> memoryview:
        text = _text(blocks, self._cell)
        if len(self._page) < len(blocks):
            self._page = np.tile(self._template, (len(blocks), 1))
        page = self._page[: len(blocks)]
        source, target = 0, 0
        for length in self._lengths:
            target += len(_HEAD)
            width = self._cell * length - 1  # without the last comma
            page[:, target : target + width] = text[:, source : source + width]
            source += width + 1
            target += width + len(self._tail)
        return page.reshape(-1).data

    def _round_template(self) -> Bytes:
        """The lines of one round with nothing in them."""
        return np.frombuffer(
            b"".join(_HEAD + b" " * (self._cell * n - 1) + self._tail for n in self._lengths), np.uint8
        )


_HEAD = b'{"sequence":['


def _text(blocks: Bytes, cell: int) -> Bytes:
    """[n, m] values to [n, cell·m] characters."""
    count, width = blocks.shape
    flat = blocks.reshape(-1)
    if len(flat) % 2:
        flat = np.append(flat, np.uint8(0))
    pairs = np.take(_pairs(cell), flat.view("<u2"), mode="clip")
    return pairs.view(np.uint8)[: cell * count * width].reshape(count, cell * width)
