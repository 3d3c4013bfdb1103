"""From the bytes that came out of a sandbox to a verdict. Everything after the header is hostile."""

from __future__ import annotations

import json
import signal
from typing import Any

from kolmocli.console import printable
from kolmocli.sandbox.base import Job, Limits, Status, Value, Verdict
from kolmocli.sandbox.wire import frames, values

_KILLED = {
    frames.CPU: Status.TLE_CPU,
    frames.WALL: Status.TLE_WALL,
    frames.OUTPUT: Status.OLE,
    frames.LATE: Status.TLE_WALL,
}
_INTEGERS = {int}
_SAID = {s.value: s for s in (Status.OK, Status.SYNTAX, Status.RUNTIME, Status.MLE, Status.OLE, Status.DENIED)}


def read(payload: bytes, job: Job, limits: Limits, container: str, attempt: int) -> Verdict:
    """Read the payload of a RESULT frame for this job. Raises FrameError when the header, which is ours, is short."""
    if len(payload) < frames.REPORT.size:
        raise frames.FrameError("a result without its header")
    status, reason, _, cpu_us, wall_us, _, _ = frames.REPORT.unpack_from(payload)
    output, ended = payload[frames.REPORT.size :], not status and reason not in _KILLED
    if job.inputs:
        count, trace, said, detail = _read_runs(output, len(job.inputs), limits, ended)
    else:
        count, trace, said, detail = read_output(output, job, limits)
    if reason in _KILLED:
        outcome, detail = _KILLED[reason], _REASONS[reason]
    elif status & 0x7F:
        number = status & 0x7F
        outcome = Status.TLE_CPU if number == signal.SIGXCPU else Status.SIGNAL
        detail = f"signal {number}"
    elif status:
        outcome, detail = Status.RUNTIME, f"exit status {status >> 8}"
    elif said is None:
        outcome, detail = Status.RUNTIME, detail or "ended before its last statement"
    elif said is Status.OK and (len(trace) != count or count != (len(job.calls) or len(job.inputs) or count)):
        outcome, detail = Status.RUNTIME, "a report that does not fit the program"
    else:
        outcome = said
    return Verdict(outcome, trace, cpu_us / 1000, wall_us / 1000, container, attempt, detail)


def is_starved(verdict: Verdict, limits: Limits) -> bool:
    """Ended at the very last: time spent waiting for a processor is not counted until then, so that it waited for one."""
    return verdict.status is Status.TLE_WALL and verdict.wall_ms >= frames.STARVED * limits.wall_ms


_REASONS = {
    frames.CPU: "over the CPU time",
    frames.WALL: "over the wall time",
    frames.OUTPUT: "over the output limit",
    frames.LATE: "over the wall time",
}


def read_output(output: bytes, job: Job, limits: Limits) -> tuple[int, tuple[Any, ...], Status | None, str]:
    """(statements of the program, values of those that finished, how it says it ended, its words)."""
    body, mark, last = output.rpartition(b"!")
    said, detail = None, ""
    if mark and last.endswith(b"\n") and (not body or body.endswith(b"\n")):
        word, _, rest = last[:-1].partition(b" ")
        said = _SAID.get(word.decode("ascii", "replace"))
        detail = printable(rest[:200].decode("utf-8", "replace"))
    else:
        body = output
    head, _, rest = body.partition(b"\n")
    if not head.isdigit() or len(head) > 9:
        return 0, (), said, detail
    count = int(head)
    whole = rest[: rest.rfind(b"\n") + 1]
    if len(whole) > limits.output_bytes:
        return count, (), Status.OLE, "over the output limit"
    try:
        lines = json.loads("[" + ",".join(whole.decode("ascii").split("\n")[:-1]) + "]")
    except (ValueError, RecursionError):
        return count, (), Status.RUNTIME, "a report that cannot be read"
    try:
        if len(lines) > count:
            raise ValueError("too many lines")
        if job.plain or job.calls:
            most = limits.max_items * (values.OF_A_CALL if job.calls else 1)
            return count, tuple(values.read_line(line, most) for line in lines), said, detail
        return count, tuple(_integers(line, limits.max_items) for line in lines), said, detail
    except ValueError:
        return count, (), Status.RUNTIME, "a report that does not fit the program"


def _read_runs(
    output: bytes, count: int, limits: Limits, ended: bool
) -> tuple[int, tuple[Any, ...], Status | None, str]:
    """What a script printed for each input until one ended it, how the last one ended, and in which words. Unless that
    `ended` by itself, whatever it says is not to be believed."""
    if len(output) > limits.output_bytes + _FRAMING + frames.LENGTH.size * count:
        return count, (), Status.OLE, "over the output limit"
    made: list[str | values.Raised] = []
    said, detail = None, ""
    try:
        runs = list(frames.unlisted(output))
        for run in runs if ended else runs[:-1]:
            said, detail = None, ""
            printed, mark, last = bytes(run).rpartition(frames.END)
            if not mark or not last.endswith(b"\n"):
                break
            word, _, rest = last[:-1].partition(b" ")
            detail = printable(rest[:200].decode("utf-8", "replace"))
            if word == b"RAISED":
                said, name = Status.OK, detail[: values.LONGEST_NAME]
                made.append(values.Raised(name))
                detail = ""
                continue
            said = _SAID.get(word.decode("ascii", "replace"))
            if said is not Status.OK:
                break
            made.append(printed.decode("utf-8", "replace"))
    except frames.FrameError:
        return count, (), Status.RUNTIME, "a report that does not fit the program"
    return count, tuple(made[:count]), said, detail


_FRAMING = 4_096


def _integers(line: object, max_items: int) -> Value | None:
    if line is None:
        return None
    if type(line) is not list or len(line) > max_items or not set(map(type, line)) <= _INTEGERS:
        raise ValueError("no sequence of integers")
    return tuple(line)
