"""RunLog: what a run writes down. One object per line, and a line is on the disk whole or not at all."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

from kolmocli.errors import KolmoError, UsageError, remedy_of
from kolmocli.files import replacing
from kolmocli.monitor.events import Event
from kolmocli.monitor.reader import EVENTS, METRICS, SUMMARY
from kolmocli.monitor.records import StepRecord
from kolmocli.monitor.summary import Summary
from kolmocli.plain import finite, parsed


class Mirror(Protocol):
    """Another receiver of the steps of a run."""

    def step(self, record: StepRecord) -> None: ...

    def close(self) -> None: ...


class RunLog:
    """The only writer of metrics.jsonl, events.jsonl and summary.json in `run_dir`.

    A fresh log (`resume_step` None) refuses a folder that already has lines: nothing is overwritten. A
    resumed one keeps everything up to and including `resume_step`, and the warm start up to and including
    `warm_step` (None: all of it). It drops what came after, because those steps are done again.
    Lines reach the disk in the order of the calls. `mirror` makes another reader of the steps; it is called when the
    files are as the run goes on from them.
    """

    def __init__(
        self,
        run_dir: Path,
        resume_step: int | None = None,
        *,
        warm_step: int | None = None,
        mirror: Callable[[], Mirror] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.run_dir = Path(run_dir)
        self._clock = clock
        self.run_dir.mkdir(parents=True, exist_ok=True)
        paths = [self.run_dir / METRICS, self.run_dir / EVENTS]
        lines = [0, 0]
        if resume_step is None:
            for path in paths:
                if path.exists() and path.stat().st_size:
                    raise UsageError(f"{path}: this folder holds a run already; resume it or choose another folder")
        else:
            kept = [kept_of(path, resume_step, warm_step) for path in paths]
            lines = [part.lines for part in kept]
            for path, part in zip(paths, kept, strict=True):
                with _told(path):
                    if path.exists():
                        os.truncate(path, part.size)
        self._metrics, self._events = map(_LineFile, paths, lines)
        self._mirror = mirror() if mirror is not None else None

    def step(self, record: StepRecord) -> None:
        """Append one step to metrics.jsonl. Numbers that are not finite become null."""
        self._metrics.append(record.to_json())
        if self._mirror is not None:
            self._mirror.step(record)

    def event(self, event: Event) -> None:
        """Append one event to events.jsonl, with the time of now."""
        self._events.append(replace(event, time=round(self._clock(), 3)).to_json())

    def write_summary(self, summary: Summary) -> Path:
        """Write summary.json, complete or not at all, over the one that was there. Returns its path."""
        path = self.run_dir / SUMMARY
        with _told(path):
            write_atomically(path, json.dumps(finite(summary.to_json()), indent=2, allow_nan=False) + "\n")
        return path

    @property
    def lines(self) -> dict[str, int]:
        """Number of lines of each file: a checkpoint keeps it, so that a resumption notices a file that was cut."""
        return {METRICS: self._metrics.lines, EVENTS: self._events.lines}

    def flush(self) -> None:
        """Wait until what was written is on the disk."""
        self._metrics.flush()
        self._events.flush()

    def close(self) -> None:
        """Close the files. Idempotent."""
        self._metrics.close()
        self._events.close()
        if self._mirror is not None:
            self._mirror.close()
            self._mirror = None

    def __enter__(self) -> RunLog:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def write_atomically(path: Path, text: str) -> None:
    """Write a text file so that a reader, or a crash, sees the old one or the new one and nothing between."""
    with replacing(path) as file:
        file.write(text.encode())


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Turn errors of the disk into one line."""
    try:
        yield
    except OSError as error:
        raise KolmoError(f"{path}: {error.strerror or error}; {remedy_of(error)} and go on with --resume") from error


class _LineFile:
    """Appends JSON lines with one write each, and takes a half-written one back."""

    def __init__(self, path: Path, lines: int) -> None:
        self._path, self.lines = path, lines
        with _told(path):
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self._open = True

    def append(self, record: Mapping[str, Any]) -> None:
        line = json.dumps(finite(record), allow_nan=False, separators=(", ", ": ")).encode() + b"\n"
        self._require_place()
        with _told(self._path):
            start = os.fstat(self._file).st_size
            try:
                written = os.write(self._file, line)
                while written < len(line):  # a short write is an interrupted call or a full disk; the latter raises
                    written += os.write(self._file, line[written:])
            except BaseException:
                os.ftruncate(self._file, start)
                raise
        self.lines += 1

    def flush(self) -> None:
        self._require_place()
        with _told(self._path):
            os.fsync(self._file)

    def close(self) -> None:
        if self._open:
            self._open = False
            os.close(self._file)

    def _require_place(self) -> None:
        """A file that was removed still takes lines, and they are lost."""
        try:
            there = os.path.samestat(os.stat(self._path), os.fstat(self._file))
        except OSError:
            there = False
        if not there:
            raise KolmoError(
                f"{self._path}: was removed or replaced while the run wrote to it; put the folder back and go on with "
                "--resume, or start a new run"
            )


@dataclass(frozen=True, slots=True)
class Kept:
    """Part of a file that a resumption keeps: the first bytes, and their number of lines."""

    size: int = 0
    lines: int = 0


def kept_of(path: Path, step: int, warm_step: int | None) -> Kept:
    """Everything up to this step: not the lines of later ones, nor a half-written last line.

    Events carry no phase: those of the warm start have step 0.

    Raises:
        UsageError: it is a link, or no file, or a line of it is not JSON.
    """
    if path.is_symlink():
        raise UsageError(f"{path}: a link, and a run writes to files of its own; put the file itself there")
    if not path.exists():
        return Kept()
    if not path.is_file():
        raise UsageError(f"{path}: no file, so the run cannot be resumed from this folder; put the file back")
    size = lines = 0
    with open(path, "rb") as file:
        for line in file:
            if not line.endswith(b"\n"):
                break
            try:
                record = dict(parsed(line))
            except (ValueError, TypeError):
                raise UsageError(
                    f"{path}, line {lines + 1}: not JSON, so the run cannot be resumed from this folder; put the whole "
                    "file back"
                ) from None
            last = warm_step if record.get("phase") == "warmup" else step
            if last is not None and record.get("step", 0) > last:
                break
            size += len(line)
            lines += 1
    return Kept(size, lines)
