"""Display: how a run is shown while it goes on. All of it goes to stderr; stdout is for results.

with open_display(quiet=False) as display:
    display.update(snapshot)        # as often as something changes
    display.note("resumed at step 40")
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Self

from kolmocli.console import enduring, printable, shared_console
from kolmocli.monitor.records import BucketRecord, ReinforceRecord, WarmRecord
from kolmocli.monitor.snapshot import Snapshot
from kolmocli.monitor.words import compact, decimal, duration, percent, rate, so_far
from kolmocli.pace import Reached

if TYPE_CHECKING:
    from rich.console import Console
    from rich.live import Live


class Display:
    """Shows snapshots; this one shows nothing. Leaves the terminal as it found it, however the block ends."""

    def update(self, snapshot: Snapshot) -> None:
        """Show this state instead of the one before."""

    def note(self, text: str) -> None:
        """Say one line that stays."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Nothing to restore."""


def open_display(quiet: bool) -> Display:
    """The table on a terminal that can draw it; plain lines elsewhere, and where NO_COLOR is set; or nothing."""
    return Display() if quiet else LiveTable() if draws() else PlainLines()


def draws() -> bool:
    """Whether what is on stderr can be drawn over."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return not plain and sys.stderr.isatty() and "utf" in (sys.stderr.encoding or "").lower()


_STEP_STATES = ("rollout", "execute", "learn")
"""States of every step; others are worth a line."""


_SAID_EVERY = 15.0
"""Seconds between two lines that say how far something is."""


class Sayings:
    """Decides when progress is worth a line where each report makes one: never for work that ends soon."""

    def __init__(self) -> None:
        self._said = 0.0

    def due(self, reached: Reached | None) -> bool:
        if reached is None or not reached.done:
            return False
        if reached.seconds < self._said:
            self._said = 0.0  # it is another one
        if reached.seconds - self._said < _SAID_EVERY:
            return False
        self._said = reached.seconds
        return True


class PlainLines(Display):
    """One line per step with the numbers of the table, one when something else begins, and now and then one that says how
    far it is.

    A warm start has hundreds of steps; of those, the ones that measured the pass rate have a line.
    """

    def __init__(self) -> None:
        self._shown: tuple[object, object] | None = None
        self._state = ""
        self._sayings = Sayings()

    def update(self, snapshot: Snapshot) -> None:
        metrics = snapshot.metrics
        if metrics is not None and (metrics.phase, metrics.step) != self._shown:
            self._shown = (metrics.phase, metrics.step)
            if isinstance(metrics, ReinforceRecord) or metrics.pass_rate is not None:
                self.note(plain_line(snapshot))
        if snapshot.state != self._state and snapshot.state not in _STEP_STATES:
            self.note(f"{snapshot.name}: {snapshot.state}")
        self._state = snapshot.state
        if self._sayings.due(snapshot.reached):
            assert snapshot.reached is not None
            self.note(f"{snapshot.name}: {snapshot.state} {so_far(snapshot.reached)}")

    def note(self, text: str) -> None:
        for line in text.split("\n"):
            print(printable(line), file=sys.stderr, flush=True)


class LiveTable(Display):
    """The table of `view.render`, redrawn in place; its last picture stays when the block ends."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or shared_console()
        self._live: Live | None = None

    def update(self, snapshot: Snapshot) -> None:
        from kolmocli.monitor.view import render

        if self._live is not None:
            # One line is left free: a picture as high as the terminal scrolls it and is drawn over and over.
            size = self._console.size
            self._live.update(render(snapshot, size.width, size.height - 1), refresh=True)

    def note(self, text: str) -> None:
        for line in text.split("\n"):
            self._console.print(printable(line), markup=False, emoji=False, highlight=False)

    def __enter__(self) -> Self:
        from rich.live import Live

        self._live = Live(console=self._console, auto_refresh=False, redirect_stdout=False)
        self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None


class Enduring(Display):
    """Another display, for a run that outlives its terminal: what cannot be shown any more is not shown."""

    def __init__(self, display: Display) -> None:
        self._display = display

    def update(self, snapshot: Snapshot) -> None:
        with enduring():
            self._display.update(snapshot)

    def note(self, text: str) -> None:
        with enduring():
            self._display.note(text)

    def __enter__(self) -> Self:
        with enduring():
            self._display.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        with enduring():
            self._display.__exit__(*error)


def print_table(snapshot: Snapshot) -> None:
    """The table on stdout, with all its families; a line where stdout cannot show its characters."""
    if "utf" not in (sys.stdout.encoding or "").lower():
        print(printable(plain_line(snapshot)))
        return
    from rich.console import Console

    from kolmocli.monitor.view import HEADER, lines

    console = Console(file=sys.stdout)
    families = len(snapshot.buckets)
    # A terminal's height does not matter: this picture is not redrawn, and what is empty below it is left out.
    picture = lines(snapshot, console.width, HEADER + 1 + families + _BELOW)
    while picture and not picture[-1].plain.strip():
        picture.pop()
    for line in picture:
        console.print(line, soft_wrap=True)


_BELOW = 17
"""Lines for the best program and the latest events."""


def plain_line(snapshot: Snapshot) -> str:
    """A step as one line: `step 42/100 0:31 pass .51 … | ramps 4.3/8 .48 [.34,.61] | …`."""
    metrics = snapshot.metrics
    step = snapshot.step if metrics is None else metrics.step
    of = f"/{snapshot.steps}" if snapshot.steps else ""
    common = metrics or WarmRecord()
    played = metrics if isinstance(metrics, ReinforceRecord) else ReinforceRecord()
    head = [
        f"warm-up step {step}" if isinstance(metrics, WarmRecord) else f"step {step}{of}",
        duration(snapshot.seconds),
        f"left {duration(snapshot.eta_seconds)}",
        f"pass {rate(common.pass_rate)}",
        f"reward {rate(played.reward)}",
        f"bits {rate(played.bits_per_rollout)}",
        f"compression {rate(played.compression_rate)}",
        f"loss {decimal(common.loss)}",
        f"dead {compact(played.dead_groups)}",
        f"infra {compact(played.infra)}",
    ]
    return " | ".join([" ".join(head), *(_family(name, bucket) for name, bucket in snapshot.buckets.items())])


def _family(name: str, bucket: BucketRecord) -> str:
    level, top = bucket.level, bucket.top
    words = [name, "–" if level is None else f"{level:.1f}" + (f"/{top}" if top else "")]
    words.append(rate(bucket.pass_rate))
    if bucket.ci is not None:
        words.append(f"[{rate(bucket.ci[0])},{rate(bucket.ci[1])}]")
    words += [f"U {rate(bucket.signal)}", f"w {percent(bucket.weight)}"]
    state = bucket.state
    return " ".join(words + ([f"({state})"] if state and state != "tracking" else []))
