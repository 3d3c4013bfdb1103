"""The live view as a pure function of a snapshot: the same snapshot gives the same picture.

It always has the same height, so that a terminal redraws it in place: a header of four lines, the table
of families, the best program so far and the latest events. It reads well at 80×24.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from rich.console import Group, RenderableType
from rich.text import Text

from kolmocli.console import printable
from kolmocli.monitor.bucket_table import table
from kolmocli.monitor.gauges import bar, sparkline
from kolmocli.monitor.records import ReinforceRecord, WarmRecord
from kolmocli.monitor.snapshot import Snapshot
from kolmocli.monitor.words import compact, decimal, duration, percent, rate, so_far
from kolmocli.pace import Reached

HEADER = 5
"""Lines above the table, an empty one included; generators have one more."""
_MARGIN = 1
_LONG = 2.0
"""Seconds after which what is under way has the bar for itself."""
_WORDS = 56
"""Cells for what is said of it."""


def render(snapshot: Snapshot, width: int, height: int) -> RenderableType:
    """A picture of exactly `height` lines of at most `width` cells (sensible from 40×12 on)."""
    return Group(*lines(snapshot, width, height))


def lines(snapshot: Snapshot, width: int, height: int) -> list[Text]:
    """The lines of `render`."""
    inner = width - 2 * _MARGIN
    body = [*_header(snapshot, inner), Text()]
    below = height - len(body) - 1
    buckets = snapshot.buckets
    rows = max(1, min(len(buckets), below - _footer_least(below)))
    body += table(buckets, snapshot.target, inner, rows) if buckets else [Text(_waiting(snapshot), "dim"), Text()]
    body += _footer(snapshot, inner, height - len(body))
    body = (body + [Text()] * height)[:height]
    return [_framed(line, width) for line in body]


def _framed(line: Text, width: int) -> Text:
    framed = Text(" " * _MARGIN, no_wrap=True, overflow="ellipsis") + line
    framed.truncate(width, overflow="ellipsis")
    return framed


def _footer_least(below: int) -> int:
    """Lines kept for what stands below the table, however many families there are."""
    if below >= 16:
        return 9
    return 4 if below >= 9 else 0


def _waiting(snapshot: Snapshot) -> str:
    return f"no REINFORCE step yet: {snapshot.state}"


def _header(snapshot: Snapshot, width: int) -> list[Text]:
    step = snapshot.step
    of = f"/{snapshot.steps}" if snapshot.steps else ""
    left = Text.assemble(("kolmo", "bold blue"), "  ", (printable(snapshot.name), "bold"))
    right = [
        Text(printable(snapshot.state), "magenta"),
        Text.assemble("step ", (f"{step}{of}", "bold")),
        Text(duration(snapshot.seconds)),
    ]
    if snapshot.eta_seconds is not None:
        right.append(Text.assemble((duration(snapshot.eta_seconds), "bold"), " left"))
    gap = "  " if width < 100 else "   "
    share = step / snapshot.steps if snapshot.steps else 0.0
    return [
        _both_ends(left, _joined(right, width - left.cell_len - 2, "  "), width),
        bar(share, width, rest="─") if (at := _long(snapshot)) is None else _under_way(snapshot.state, at, width),
        _joined(_learning(snapshot, width), width, gap),
        _joined(_machine(snapshot), width, gap),
        *_generators(snapshot, width),
    ]


def _long(snapshot: Snapshot) -> Reached | None:
    return None if snapshot.reached is None or snapshot.reached.seconds < _LONG else snapshot.reached


def _under_way(state: str, reached: Reached, width: int) -> Text:
    """A bar of what is done now in the place of that of the whole run, whose steps are above it."""
    words = Text(f"{printable(state)} {so_far(reached)}".ljust(_WORDS - 1), "magenta")
    words.truncate(min(_WORDS, 2 * width // 3))
    return (
        words + Text(" ") + bar(reached.done / reached.of if reached.of else None, width - words.cell_len - 1, rest="─")
    )


def _learning(snapshot: Snapshot, width: int) -> list[Text]:
    """Value of the last step, the most important figure first."""
    metrics = snapshot.metrics
    common = metrics or WarmRecord()
    history = sparkline(snapshot.history, max(8, min(width // 6, 40)))
    passing = Text.assemble(_label("pass rate"), (rate(common.pass_rate), "bold"), " ") + history
    loss = Text.assemble(_label("loss"), decimal(common.loss))
    if isinstance(metrics, WarmRecord):
        return [passing, loss, _entropy(common)]
    played = metrics or ReinforceRecord()
    held = played.entropy_target is not None
    return [
        passing,
        *([_entropy(played)] if held else []),
        Text.assemble(_label("reward"), (rate(played.reward), "bold")),
        Text.assemble(_label("bits/rollout"), (rate(played.bits_per_rollout), "bold")),
        Text.assemble(_label("compression"), (rate(played.compression_rate), "bold")),
        Text.assemble(_label("in band"), _in_band(played)),
        Text.assemble(_label("bits"), compact(played.bits_total)),
        loss,
        *([] if held else [_entropy(played)]),
        Text.assemble(_label("dead groups"), compact(played.dead_groups)),
    ]


def _entropy(record: WarmRecord | ReinforceRecord) -> Text:
    """With what it, or S, is held at, and what holds it."""
    shown = Text.assemble(_label("entropy"), decimal(record.entropy))
    if isinstance(record, WarmRecord) or (held := record.entropy_target) is None:
        return shown
    word, value = ("bonus", held.bonus) if held.temperature is None else ("temperature", held.temperature)
    if held.of == "signal_share":
        shown.append(" S ", "dim").append(rate(record.signal_share))
    return shown.append(f" → {decimal(held.target)} by {word} {decimal(value)}", "dim")


def _in_band(played: ReinforceRecord) -> str:
    """Share of the steps in band; where a family is at an end of its ladder, that of the rest, with a word for it."""
    if played.in_band_controlled == played.in_band:
        return percent(played.in_band)
    return f"{percent(played.in_band_controlled)} while controlled"


def _machine(snapshot: Snapshot) -> list[Text]:
    box = snapshot.sandbox
    infra, speed = box.infra or 0, box.programs_per_second
    fields = [Text.assemble(_label("sandbox"), printable(box.backend or "–"))]
    if box.backend != "none":
        fields[0].append(f" {compact(box.executed)} run")
        fields += [Text(f"{compact(speed)}/s")] if speed is not None else []
        fields.append(Text(f"{infra} faults", "bold red" if infra else "dim"))
    if snapshot.model:
        fields.append(Text.assemble(_label("model"), printable(snapshot.model)))
    if snapshot.engine:
        fields.append(Text.assemble(_label("engine"), printable(snapshot.engine)))
    return fields


def _generators(snapshot: Snapshot, width: int) -> list[Text]:
    """A line for all of them: tokens a second, and what is not as it should be."""
    metrics = snapshot.metrics
    found = (metrics.generators or {}) if isinstance(metrics, ReinforceRecord) else {}
    fields = []
    for name, generator in sorted(found.items(), key=lambda item: (len(item[0]), item[0])):
        field = Text.assemble(_label(f"g{printable(name)}"), f"{compact(generator.tokens_per_second)} tok/s")
        field.append(f" {percent(generator.idle)} idle", "dim")
        if generator.lag:
            field.append(f" {generator.lag} behind", "dim")
        for count, counted in ((generator.restarts, "replaced"), (generator.infra, "faults")):
            if count:
                field.append(f" {count} {counted}", "bold red")
        fields.append(field)
    return [_joined(fields, width, "   ")] if fields else []


def _footer(snapshot: Snapshot, width: int, height: int) -> list[Text]:
    """At most `height` lines: half for the best program, the rest for events, each under its rule."""
    if height < 3:
        return []
    program = snapshot.best[1].strip("\n").split("\n") if snapshot.best else []
    events = list(snapshot.events)
    space = height - 1
    for_program = min(len(program) + 1, space - min(len(events) + 1, space // 2)) if program else 0
    for_events = space - for_program
    found: list[Text] = []
    if snapshot.best and for_program >= 2:
        head = f"best program so far, for {printable(snapshot.best[0])}"
        found = [_rule(head, width), *(Text(line) for line in _cut(program, for_program - 1))]
    shown = [_rule("events", width), *(Text(printable(e)) for e in events[-(for_events - 1) :])] if events else []
    return [Text(), *found, *(shown if for_events >= 2 else [])]


def _cut(program: Sequence[str], rows: int) -> list[str]:
    shown = [printable(line) for line in program[:rows]]
    if len(program) > rows > 1:
        shown[-1] = f"… {len(program) - rows + 1} more lines"
    return shown


def _rule(title: str, width: int) -> Text:
    text = Text(title, "dim", no_wrap=True)
    text.truncate(width - 6, overflow="ellipsis")
    return text + Text(" " + "─" * (width - text.cell_len - 1), "dim")


def _label(text: str) -> tuple[str, str]:
    return (f"{text} ", "dim")


def _joined(fields: Sequence[Text], width: int, gap: str) -> Text:
    """As many fields as fit whole, in order."""
    line = Text()
    for field, before in zip_longest(fields, [""], fillvalue=gap):
        assert isinstance(field, Text)
        if line.cell_len + len(before) + field.cell_len > width:
            break
        if field.cell_len:
            line = line + Text(before) + field
    return line


def _both_ends(left: Text, right: Text, width: int) -> Text:
    room = max(0, width - right.cell_len - 2)
    left = left.copy()
    left.truncate(room, overflow="ellipsis")
    return left + Text(" " * max(0, width - left.cell_len - right.cell_len)) + right
