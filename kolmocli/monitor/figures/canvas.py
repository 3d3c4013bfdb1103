"""The look of every figure: size, colours, grid, and how a figure becomes a PNG.

matplotlib is used through its objects alone. Nothing global is touched, so a figure can be drawn from any
thread and inside somebody else's notebook.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from kolmocli.console import printable, unlogged
from kolmocli.extras import needing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE_INCHES = (10.0, 5.6)
DPI = 120

# Okabe and Ito (2008): told apart with any colour vision.
BLUE, ORANGE, GREEN, RED, PURPLE, SKY, GREY = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#D55E00",
    "#CC79A7",
    "#56B4E9",
    "#6b6b6b",
)
BAND = "#dfe9e4"
_LONGEST = 200
"""Characters of a text that are drawn: longer than any of ours. A name of 100,000 would take minutes."""
_LABEL = 30
STEP = "REINFORCE step"
"""The label of the axis that most figures share."""
WINDOW = 10
"""Steps of the running mean: the one that the summary's `in_band` looks at."""


def figure(title: str, subtitle: str = "") -> Figure:
    """An empty figure of the common size with its title."""
    # Without a writable home matplotlib says in two lines where it puts its cache instead.
    with needing("a report"), unlogged("matplotlib"):
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

    fig = Figure(figsize=SIZE_INCHES, dpi=DPI, layout="constrained", facecolor="white")
    FigureCanvasAgg(fig)
    fig.get_layout_engine().set(w_pad=0.12, h_pad=0.1, wspace=0.03, hspace=0.03)  # type: ignore[union-attr, call-arg]
    fig.suptitle(title, x=0.012, ha="left", fontsize=14, fontweight="bold")
    if subtitle:
        fig.supxlabel(subtitle, x=0.012, ha="left", fontsize=9, color=GREY)
    return fig


def dress(axes: Axes, x: str, y: str, title: str = "") -> Axes:
    """Labels with units, a light grid, no box."""
    axes.set_xlabel(x, fontsize=10)
    axes.set_ylabel(y, fontsize=10)
    if title:
        axes.set_title(title, fontsize=10, loc="left")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(True, color="#e8e8e8", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=9, color="#b0b0b0")
    if x == STEP:
        axes.locator_params(axis="x", integer=True)
    return axes


def logarithmic(axes: Axes, which: Literal["x", "y"]) -> None:
    """An axis that is full already. Plain numbers and few ticks: exponents and all the small ticks cost more time than
    the rest of a figure."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    axes.set_xscale("log") if which == "x" else axes.set_yscale("log")
    axis = axes.xaxis if which == "x" else axes.yaxis
    low, high = axes.get_xlim() if which == "x" else axes.get_ylim()
    axis.set_major_locator(LogLocator(subs=(1.0,) if high > _WIDE * low else (1.0, 2.0, 5.0), numticks=8))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axis.set_minor_locator(NullLocator())


_WIDE = 500.0
"""An axis that spans more has ticks at powers of ten alone."""


def curve(axes: Axes, steps: Sequence[float], values: Sequence[float], colour: str, label: str) -> None:
    """Every step, pale, under its running mean."""
    axes.plot(steps, values, color=colour, alpha=0.3, linewidth=1.0)
    name = f"{label}, mean of {WINDOW} steps"
    axes.plot(steps, running_mean(values, WINDOW), color=colour, linewidth=2.2, label=name)


def running_mean(values: Sequence[float], window: int) -> list[float]:
    """The mean of the last `window` values, of fewer where there are fewer."""
    return [
        sum(values[max(0, i - window + 1) : i + 1]) / len(values[max(0, i - window + 1) : i + 1])
        for i in range(len(values))
    ]


def legend(axes: Axes) -> None:
    """The legend, where it hides least."""
    axes.legend(fontsize=9, frameon=False, loc="best")


def png(fig: Figure) -> bytes:
    """The figure as PNG, the same bytes for the same numbers."""
    _as_text(fig)
    buffer = io.BytesIO()
    fig.savefig(buffer, format="png", dpi=DPI, metadata={"Software": None})
    return buffer.getvalue()


def _as_text(fig: Figure) -> None:
    """Draw every text as the letters that it has. Names come from files of others: matplotlib would read a `$` as the
    beginning of mathematics and fail at most of it, and warn in the terminal of each control character."""
    from matplotlib.text import Text

    for text in fig.findobj(Text):
        assert isinstance(text, Text)
        text.set_parse_math(False)
        text.set_text(drawn(text.get_text()))


def drawn(text: str, longest: int = _LONGEST) -> str:
    """As a figure shows it. Labels of ticks are written when it is drawn, so callers that set them ask for this."""
    shown = printable(text, "\n")
    return shown if len(shown) <= longest else f"{shown[:longest]}…"


def label_of(name: str, end: int = 0) -> str:
    """A name at an axis or in a legend, which must leave room for what is drawn: a long one is cut before its last `end`."""
    shown = printable(name)
    if len(shown) > _LABEL:
        shown = f"{shown[: _LABEL - end]}…{shown[len(shown) - end :]}"
    return f" {shown}" if shown.startswith("_") else shown  # which a legend would leave out
