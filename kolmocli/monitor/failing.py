"""The latest answers of one bucket that failed, as a run wrote them down: what to look at when a grader seems broken."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from kolmocli.errors import UsageError, suggest
from kolmocli.monitor.events import FailingEvent
from kolmocli.monitor.reader import read_events, require_run

_MOST = 3


def failed_answers(run_dir: Path, bucket: str) -> list[str]:
    """Lines for the last few, newest first: what was asked, what was answered, and what became of it.

    Raises:
        UsageError: no run is there, or it has written down no failed answer of this bucket.
    """
    require_run(run_dir)
    found = [event for event in read_events(run_dir) if isinstance(event, FailingEvent)]
    wanted = [event for event in found if _name(event) == bucket]
    if not wanted:
        known = sorted({_name(event) for event in found})
        raise UsageError(
            f"--failing {bucket}: {run_dir} has no failed answer of it yet"
            + (f"; {suggest(bucket, known)}" if known else "; one is written down every five steps")
        )
    return [line for event in wanted[-_MOST:][::-1] for line in _shown(event)]


def _name(event: FailingEvent) -> str:
    return f"{event.family}/{event.level}"


def _shown(event: FailingEvent) -> Iterator[str]:
    yield f"step {event.step}, {_name(event)}: {event.verdict}"
    yield f"  asked: {event.target}"
    if event.made is not None:
        yield f"  made: {event.made}"
    for number, line in enumerate((event.program or "").rstrip("\n").split("\n")):
        yield f"  {'answer: ' if number == 0 else '        '}{line}"
