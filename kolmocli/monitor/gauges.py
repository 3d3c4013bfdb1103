"""Small pictures made of characters: a bar, a dial with an interval and a target, a sparkline."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

_SPARKS = "▁▂▃▄▅▆▇█"

ON_TARGET, TOO_EASY, TOO_HARD = "green", "cyan", "yellow"


def bar(share: float | None, width: int, rest: str = "·") -> Text:
    """A thin line that is filled to `share` (0..1), in halves of a cell.

    Thin, because bars of full blocks in neighbouring rows grow together into one shape.
    """
    halves = round(2 * width * min(1.0, max(0.0, share or 0.0)))
    full, half = divmod(halves, 2)
    done = "━" * full + ("╸" if half else "")
    return Text.assemble((done, "blue"), (rest * (width - len(done)), "dim"))


def dial(value: float | None, interval: Sequence[float] | None, target: float, width: int) -> Text:
    """The line from 0 to 1 with the target as a cross, the interval thick, the value as a dot.

    `──┼━●━──`: the colour says whether the interval holds the target (green), lies above it (cyan, too
    easy) or below it (yellow, too hard); the place of the dot says the same without colour.
    """
    mark = _cell(target, width)
    if value is None:
        return Text.assemble(("─" * mark + "┼" + "─" * (width - mark - 1), "dim"))
    low, high = interval if interval is not None else (value, value)
    style = verdict_style(low, high, target)
    first, last, dot = _cell(low, width), _cell(high, width), _cell(value, width)
    text = Text()
    for i in range(width):
        inside = first <= i <= last
        if i == dot:
            text.append("●", f"bold {style}")
        elif i == mark:
            text.append("╋" if inside else "┼", style if inside else "")
        else:
            text.append("━" if inside else "─", style if inside else "dim")
    return text


def scale(target: float, width: int) -> Text:
    """The head of a column of dials: 0, the target, 1."""
    mark = _cell(target, width)
    cells = [" "] * width
    cells[0], cells[-1], cells[mark] = "0", "1", "▾"
    return Text("".join(cells), "dim")


def sparkline(values: Sequence[float], width: int) -> Text:
    """The last `width` values between 0 and 1, one character each."""
    top = len(_SPARKS) - 1
    levels = (round(top * min(1.0, max(0.0, v))) for v in values[-width:] if width)
    return Text("".join(_SPARKS[level] for level in levels), "blue")


def verdict_style(low: float, high: float, target: float) -> str:
    """The colour of an interval seen from the target."""
    if low > target:
        return TOO_EASY
    return TOO_HARD if high < target else ON_TARGET


def _cell(share: float, width: int) -> int:
    return round(min(1.0, max(0.0, share)) * (width - 1))
