"""The table of families: the heart of the live view.

A row says where a family stands, whether its pass rate is at the target, and what it teaches. Columns
have a fixed width; where the terminal is narrow, the least important are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from rich.cells import cell_len
from rich.text import Text

from kolmocli.console import printable
from kolmocli.monitor.gauges import TOO_HARD, bar, dial, scale
from kolmocli.monitor.records import BucketRecord
from kolmocli.monitor.words import compact, percent, rate

_STATES = {"tracking": ("•", "green"), "mastered": ("▲", "cyan"), "out of reach": ("▼", TOO_HARD)}
_OTHER_STATE = ("!", "magenta")
_GRADER = ("?", "bold red")
"""A family with a level whose grader may be broken."""
_GAP = 1


@dataclass(frozen=True, slots=True)
class _Column:
    """`rank` 0 is always shown; the others are added while they fit, lowest rank first."""

    head: Text
    width: int
    rank: int
    cell: Callable[[str, BucketRecord], Text]
    right: bool = True


def table(buckets: Mapping[str, BucketRecord], target: float, width: int, rows: int) -> list[Text]:
    """Exactly `1 + rows` lines of at most `width` cells; families that do not fit are counted in the last."""
    columns = _columns(buckets, target, width)
    lines = [_line([(column.head, column) for column in columns])]
    names = list(buckets)
    shown = names if len(names) <= rows else names[: rows - 1]
    for name in shown:
        lines.append(_line([(column.cell(name, buckets[name]), column) for column in columns]))
    if len(shown) < len(names):
        lines.append(Text(f"   … {len(names) - len(shown)} more", "dim"))
    return (lines + [Text()] * rows)[: 1 + rows]


def _columns(buckets: Mapping[str, BucketRecord], target: float, width: int) -> list[_Column]:
    spare = width - 80
    longest = max((cell_len(printable(name)) for name in buckets), default=0)
    name_width = max(10, min(longest, 10 + max(0, spare) // 3, 24))
    dial_width = 17 + 2 * (min(max(0, spare - (name_width - 10)), 20) // 2)
    everything = [
        _Column(Text(), 1, 0, lambda _, b: _glyph(b)),
        _Column(Text("family"), name_width, 0, lambda name, _: Text(printable(name), "bold"), right=False),
        _Column(Text("level"), 6, 4, lambda _, b: bar(_height(b), 6), right=False),
        _Column(Text(), 7, 2, lambda _, b: _level(b), right=False),
        _Column(Text("pass"), 4, 0, lambda _, b: Text(rate(b.pass_rate))),
        _Column(scale(target, dial_width), dial_width, 1, lambda _, b: _dial(b, target, dial_width)),
        _Column(Text("signal"), 6, 3, lambda _, b: Text(rate(b.signal))),
        _Column(Text("weight"), 6, 5, lambda _, b: Text(percent(b.weight))),
        _Column(Text("dead"), 4, 6, lambda _, b: _dead(b)),
        _Column(Text("shortest"), 8, 7, lambda _, b: _shortest(b)),
        _Column(Text("rollouts"), 8, 9, lambda _, b: Text(compact(b.n))),
        _Column(Text(), 12, 8, lambda _, b: Text(_standing(b), _mark(b)[1]), right=False),
    ]
    left = width + _GAP  # the last column needs no gap
    chosen = set()
    for column in sorted(everything, key=lambda c: c.rank):
        needed = column.width + _GAP
        if column.rank and needed > left:
            break
        chosen.add(id(column))
        left -= needed
    return [column for column in everything if id(column) in chosen]


def _line(cells: list[tuple[Text, _Column]]) -> Text:
    line = Text(no_wrap=True)
    for text, column in cells:
        text = text.copy()
        text.truncate(column.width, overflow="ellipsis")
        pad = " " * (column.width - text.cell_len)
        line.append_text(Text(pad) + text if column.right else text + Text(pad))
        line.append(" " * _GAP)
    line.rstrip()
    return line


def _mark(bucket: BucketRecord) -> tuple[str, str]:
    if bucket.grader:
        return _GRADER
    return _STATES.get(bucket.state or "tracking", _OTHER_STATE)


def _standing(bucket: BucketRecord) -> str:
    if bucket.grader:
        return f"grader of {min(map(printable, bucket.grader), key=len)}?"
    return printable(bucket.state or "")


def _glyph(bucket: BucketRecord) -> Text:
    return Text(*_mark(bucket))


def _height(bucket: BucketRecord) -> float | None:
    level, top = bucket.level, bucket.top
    return None if level is None or not top else level / top


def _level(bucket: BucketRecord) -> Text:
    level, top = bucket.level, bucket.top
    text = Text("–" if level is None else f"{level:.1f}")
    return text + Text(f"/{top}", "dim") if top else text


def _dial(bucket: BucketRecord, target: float, width: int) -> Text:
    return dial(bucket.pass_rate, bucket.ci, target, width)


def _dead(bucket: BucketRecord) -> Text:
    share = bucket.dead
    return Text(percent(share), "red" if share is not None and share >= 0.5 else "")


def _shortest(bucket: BucketRecord) -> Text:
    bits = bucket.shortest
    return Text("–" if bits is None else f"{bits:.0f} bits")
