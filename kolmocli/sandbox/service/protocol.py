"""Jobs and verdicts as JSON: what `POST /v1/jobs` takes and gives. Values are in the coding of `wire/values.py`, so that a
verdict that went over HTTP equals the one that the pool gave.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from kolmocli.errors import UsageError, suggest
from kolmocli.sandbox.base import LANGUAGES, Call, Job, Limits, Status, Verdict
from kolmocli.sandbox.wire import values

SCHEMA_VERSION = 1
"""The version of all messages here. A client and a server with different ones do not talk."""
MOST_JOBS = 512
"""In one request. A client with more of them sends several."""
MOST_ARGUMENTS = 1 << 20
"""Items in the arguments of one call, as `Call.of` has it."""
MOST_ITEMS = 1 << 27
"""In one value: more than a frame has room for."""

_JOB = {field.name for field in fields(Job)}
_KINDS = {
    "program": (str, "text"),
    "language": (str, "text"),
    "plain": (bool, "true or false"),
    "calls": (list, "a list"),
    "inputs": (list, "a list"),
    "files": (dict, "an object"),
    "group": (int, "a whole number"),
    "avoid": (str, "text"),
    "cpu_ms": (int, "a whole number"),
    "wall_ms": (int, "a whole number"),
    "memory_mb": (int, "a whole number"),
}
_OPTIONAL = ("avoid", "cpu_ms", "wall_ms", "memory_mb")
_CALL = {"function", "arguments", "keywords"}


def job_text(job: Job, limits: Limits) -> str:
    """A job as JSON, with the limits that it has here: the other side may have others where a job has none."""
    said: dict[str, Any] = {"program": job.program, "language": job.language, "group": job.group}
    if job.plain:
        said["plain"] = True
    if job.calls:
        said["calls"] = [_call_object(call) for call in job.calls]
    if job.inputs:
        said["inputs"] = job.inputs
    if job.files:
        said["files"] = {name: b64encode(data).decode() for name, data in job.files}
    if job.avoid is not None:
        said["avoid"] = job.avoid
    said |= {"cpu_ms": limits.cpu_ms, "wall_ms": limits.wall_ms, "memory_mb": limits.memory_mb}
    return json.dumps(said)


def _call_object(call: Call) -> dict[str, Any]:
    arguments, keywords = json.loads(call.code)
    return {"function": call.function, "arguments": arguments, "keywords": dict(keywords["d"])}


def read_jobs(body: Any) -> list[Job]:
    """The jobs of a request from any sender. Raises UsageError with the place of what is wrong."""
    if type(body) is not dict or type(body.get("jobs")) is not list:
        raise UsageError('the body is an object with a list: {"jobs": [{"program": "output = 1"}]}')
    _require_version(body.get("schema_version", SCHEMA_VERSION))
    if unknown := body.keys() - {"jobs", "schema_version"}:
        raise UsageError(f"{min(unknown)[:60]}: no such key; {suggest(min(unknown), ('jobs', 'schema_version'))}")
    if len(body["jobs"]) > MOST_JOBS:
        raise UsageError(
            f"{len(body['jobs'])} jobs in one request; send at most {MOST_JOBS}, and the others in another"
        )
    return [_read_job(said, f"jobs[{at}]") for at, said in enumerate(body["jobs"])]


def _require_version(found: object) -> None:
    if found != SCHEMA_VERSION:
        raise UsageError(f"schema_version {str(found)[:20]}: this server has {SCHEMA_VERSION}")


def _read_job(said: Any, place: str) -> Job:
    if type(said) is not dict or "program" not in said:
        raise UsageError(f"{place}: a job is an object with a program")
    given: dict[str, Any] = {}
    for key, value in said.items():
        if key not in _JOB:
            raise UsageError(f"{place}.{key[:60]}: no such key; {suggest(key, sorted(_JOB))}")
        kind, words = _KINDS[key]
        if value is None and key in _OPTIONAL:
            continue
        if type(value) is not kind:
            raise UsageError(f"{place}.{key}: must be {words}")
        given[key] = value
    if given.get("language", "python") not in LANGUAGES:
        raise UsageError(f"{place}.language: must be one of {', '.join(LANGUAGES)}")
    given["calls"] = tuple(_read_call(call, f"{place}.calls[{at}]") for at, call in enumerate(given.get("calls", ())))
    given["inputs"] = tuple(given.get("inputs", ()))
    if any(type(text) is not str for text in given["inputs"]):
        raise UsageError(f"{place}.inputs: must be a list of texts")
    given["files"] = read_files(given.get("files", {}), f"{place}.files")
    try:
        return Job(**given)
    except UsageError as error:
        raise UsageError(f"{place}: {error}") from None


def read_files(said: Mapping[str, Any], place: str) -> tuple[tuple[str, bytes], ...]:
    """Files from any sender, contents in base64. Raises UsageError with the place of what is wrong."""
    try:
        return tuple((name, b64decode(data, validate=True)) for name, data in said.items())
    except (TypeError, ValueError):
        raise UsageError(f"{place}: must be names with their contents in base64") from None


def _read_call(said: Any, place: str) -> Call:
    if type(said) is not dict or not {"function"} <= said.keys() <= _CALL or type(said["function"]) is not str:
        raise UsageError(f'{place}: a call is {{"function": "f", "arguments": [1], "keywords": {{"unit": "m"}}}}')
    arguments, keywords = said.get("arguments", []), said.get("keywords", {})
    if type(arguments) is not list or type(keywords) is not dict:
        raise UsageError(f"{place}: arguments are a list, and keywords an object")
    try:
        # As a container reads it: what goes too deep there would end one.
        coded = [arguments, {"d": [[name, value] for name, value in keywords.items()]}]
        values.decode(coded, MOST_ARGUMENTS)
        # Its text as it came: of a set that was made and written again the items may be in another order.
        code = json.dumps(coded, separators=(",", ":"), allow_nan=False)
    except ValueError as error:
        raise UsageError(f"{place}: an argument is {error}; values are coded as docs/sandbox.md says") from None
    try:
        return replace(Call.of(said["function"]), code=code)
    except UsageError as error:
        raise UsageError(f"{place}: {error}") from None


def verdicts_text(verdicts: Sequence[Verdict], jobs: Sequence[Job]) -> str:
    """The answer to a request with these jobs."""
    said = ",".join(verdict_text(verdict, job) for verdict, job in zip(verdicts, jobs, strict=True))
    return f'{{"schema_version":{SCHEMA_VERSION},"verdicts":[{said}]}}'


def verdict_text(verdict: Verdict, job: Job) -> str:
    integers = not (job.plain or job.calls or job.inputs)
    try:
        trace = ",".join(_integers(v) if integers else values.plain_line(v, MOST_ITEMS) for v in verdict.trace)
    except values.TooLong:  # forged: what reports the values of a program does not go as deep
        detail = "a report that does not fit the program"
        return verdict_text(replace(verdict, status=Status.RUNTIME, trace=(), detail=detail), job)
    said = {
        "status": verdict.status.value,
        "fault": verdict.status.is_fault,
        "cpu_ms": verdict.cpu_ms,
        "wall_ms": verdict.wall_ms,
        "container": verdict.container,
        "attempt": verdict.attempt,
        "detail": verdict.detail,
    }
    return f'{json.dumps(said)[:-1]}, "trace": [{trace}]}}'


def _integers(value: Any) -> str:
    return "null" if value is None else values.encode(list(value), MOST_ITEMS)


def read_verdicts(said: Any, jobs: Sequence[Job]) -> list[Verdict]:
    """The verdicts of these jobs. Raises ValueError where the answer is not that of a server like ours."""
    if type(said) is not dict or type(said.get("verdicts")) is not list:
        raise ValueError("no verdicts")
    if said.get("schema_version") != SCHEMA_VERSION:
        raise ValueError(f"schema_version {str(said.get('schema_version'))[:20]}, and not {SCHEMA_VERSION}")
    if len(said["verdicts"]) != len(jobs):
        raise ValueError(f"{len(said['verdicts'])} verdicts of {len(jobs)} jobs")
    return [_read_verdict(one, job) for one, job in zip(said["verdicts"], jobs, strict=True)]


def _read_verdict(said: Any, job: Job) -> Verdict:
    try:
        trace = said["trace"]
        if job.plain or job.calls or job.inputs:
            read = tuple(values.read_line(line) for line in trace)
        else:
            read = tuple(None if line is None else tuple(line) for line in trace)
            if any(line is not None and not set(map(type, line)) <= {int} for line in read):
                raise ValueError("a trace that is none of integers")
        return Verdict(
            Status(said["status"]), read, float(said["cpu_ms"]), float(said["wall_ms"]), str(said["container"]),
            int(said["attempt"]), str(said["detail"]),
        )  # fmt: skip
    except (LookupError, TypeError, OverflowError) as error:
        raise ValueError(f"a verdict that cannot be read: {error}") from None


def bounded(verdict: Verdict, job: Job, max_items: int) -> Verdict:
    """The verdict of a sandbox whose values have at most so many items: the first longer one ends the program."""
    measured = values.plain_line if job.plain or job.calls else values.integers
    most = max_items * (values.OF_A_CALL if job.calls else 1)
    for at, value in enumerate(() if job.inputs else verdict.trace):
        try:
            measured(value, most)
        except values.TooLong as error:
            return replace(verdict, status=Status.OLE, trace=verdict.trace[:at], detail=str(error))
    return verdict


def read_limits(said: Mapping[str, Any]) -> Limits:
    """Raises ValueError."""
    try:
        return Limits(**{field.name: int(said[field.name]) for field in fields(Limits)})
    except (LookupError, TypeError, OverflowError) as error:
        raise ValueError(f"limits that cannot be read: {error}") from None
