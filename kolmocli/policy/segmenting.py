"""A sequence as its segments: ramps and repetitions of items, and of the strands of interleavings, in the language's words.

    5 5 5 5 10 12 14 16 1 90 2 91 3 92 4 93 5 94
    repeat_num 4 5 range_func_interval 10 18 2 interleave(range_func_up 1 5, range_func_up 90 94)

To count a repetition, and to see where every second item goes on, takes a small model longer to learn than all the rest
(docs/log.md). Nothing is lost: the text says what every item is. Segments are taken as they come, from the left: what is cut in two,
made of an earlier value, hidden by an operator or better left in a list is for the policy to find.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kolmocli.language.program import Call

_LEAST = 4
"""Items of a segment that stands alone."""
_LEAST_WOVEN = {2: 5, 4: 4}
"""Items of a segment that shows an interleaving, by its stride: of 4 where a strand is an interleaving itself."""


@dataclass(frozen=True, slots=True)
class Woven:
    """Two strands, item by item in turn."""

    first: list[Part]
    second: list[Part]


Part = int | Call | Woven
"""A single item, a segment, or an interleaving."""


def segmented(sequence: Sequence[int]) -> str:
    """The text."""
    return _text(parts(sequence))


def parts(sequence: Sequence[int], depth: int = 2) -> list[Part]:
    """Parts of the sequence, one after another; interleavings are looked for `depth` deep."""
    runs = {stride: _runs(sequence, stride) for stride in (1, 2, 4)[: depth + 1]}
    found: list[Part] = []
    at = 0
    while at < len(sequence):
        alone = runs[1][at]
        if alone >= _LEAST:
            found.append(_segment(sequence[at : at + alone]))
            at += alone
        elif size := _woven_items(runs, at):
            block = sequence[at : at + size]
            found.append(Woven(parts(block[::2], depth - 1), parts(block[1::2], depth - 1)))
            at += size
        else:
            found.append(sequence[at])
            at += 1
    return found


def _text(found: Sequence[Part]) -> str:
    words: list[str] = []
    for part in found:
        match part:
            case Call(function, arguments):
                words += [function, *map(str, arguments)]
            case Woven(first, second):
                words.append(f"interleave({_text(first)}, {_text(second)})")
            case item:
                words.append(str(item))
    return " ".join(words)


def _segment(items: Sequence[int]) -> Call:
    step = items[1] - items[0]
    if step == 0:
        return Call("repeat_num", (len(items), items[0]))
    if step == 1:
        return Call("range_func_up", (items[0], items[-1]))
    return Call("range_func_interval", (items[0], items[-1] + step, step))


def _woven_items(runs: dict[int, list[int]], at: int) -> int:
    """Items from here on that look interleaved: a strand of them goes on by one step. 0: too few."""
    most = 0
    for stride, least in _LEAST_WOVEN.items():
        longest = max(runs[stride][at : at + stride]) if stride in runs else 0
        if longest >= least:
            most = max(most, stride * longest)
    end = min(at + most, len(runs[1]))
    # A strand hardly ever continues its neighbour: what goes on item by item is no interleaving.
    end = next((i for i in range(at, end) if runs[1][i] >= _LEAST), end)
    return end - at if end - at >= 2 * _LEAST_WOVEN[2] else 0


def _runs(sequence: Sequence[int], stride: int) -> list[int]:
    """For every item, how many from it on, each `stride` after the one before, go on by one step."""
    lengths = [1] * len(sequence)
    for i in range(len(sequence) - stride - 1, -1, -1):
        last = i + 2 * stride
        same = last < len(sequence) and sequence[last] - sequence[i + stride] == sequence[i + stride] - sequence[i]
        lengths[i] = lengths[i + stride] + 1 if same else 2
    return lengths
