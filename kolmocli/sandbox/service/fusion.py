"""`POST /run_code` in the shape of SandboxFusion: what its callers send, and what they read in the answer.

A program is a script with one input. The differences are in docs/sandbox.md: three languages, no files back, nothing that went
to stderr, and no output of a script that an exception ended.
"""

from __future__ import annotations

import json
import math
import re
import sys
from typing import Any

from kolmocli.errors import UsageError
from kolmocli.sandbox.base import Job, Language, Limits, Status, Verdict
from kolmocli.sandbox.service.protocol import read_files
from kolmocli.sandbox.wire.values import Raised

_TIMES = (Status.TLE_CPU, Status.TLE_WALL)
_LANGUAGES: dict[object, Language] = {"python": "python", "python3": "python", "cpp": "cpp", "nodejs": "javascript"}
_USUAL_S = 10.0
"""Time limit of a request without `run_timeout`, as theirs."""
_WAIT_MS = 2_000
"""Wall time beyond the CPU time. On a busy machine an honest program waits, and one that sleeps costs a place for no longer."""
_EXIT = re.compile(r"exit status (\d{1,3})")
_KILLED = -9
"""Return code of a killed process."""
_MESSAGES = {Status.SYNTAX: "SyntaxError", Status.MLE: "MemoryError", Status.OLE: "OutputLimitExceeded"}
"""Text before the detail of a verdict, in the place of the interpreter's."""


def read_job(body: Any, most: Limits) -> Job:
    """The job of a request. Raises UsageError for what this server does not do: nothing in a request is ignored."""
    if type(body) is not dict or type(body.get("code")) is not str:
        raise UsageError('the body is an object with code: {"code": "print(1)", "language": "python"}')
    named = body.get("language")
    if type(named) is not str or named not in _LANGUAGES:
        raise UsageError(f"language {str(named)[:40]!r}: this sandbox runs python, cpp and nodejs")
    for key in ("fetch_files", "args"):
        if body.get(key):
            raise UsageError(
                f"{key}: programs of this sandbox have no arguments, and leave no files; send all in code, files and stdin"
            )
    files = body.get("files") or {}
    if type(files) is not dict:
        raise UsageError("files: must be an object")
    stdin = body.get("stdin")
    if stdin is not None and type(stdin) is not str:
        raise UsageError("stdin: must be text")
    _seconds(body, "compile_timeout")
    seconds, memory = _seconds(body, "run_timeout"), body.get("memory_limit_MB")
    if memory is not None and type(memory) is not int:
        raise UsageError("memory_limit_MB: must be a whole number")
    longest = min(most.cpu_ms, most.wall_ms) / 1000
    seconds = min(_USUAL_S, longest) if seconds is None else seconds
    memory = most.memory_mb if memory is None or memory <= 0 else memory
    _within("run_timeout", seconds, longest, "s", "--cpu-ms and --wall-ms")
    _within("memory_limit_MB", memory, most.memory_mb, "MB", "--memory-mb")
    ms = math.ceil(seconds * 1000)
    wall_ms = min(ms + _WAIT_MS, most.wall_ms)
    return Job(
        body["code"], _LANGUAGES[named], inputs=(stdin or "",), files=read_files(files, "files"),
        cpu_ms=ms, wall_ms=wall_ms, memory_mb=memory,
    )  # fmt: skip


def _seconds(body: dict[str, Any], key: str) -> float | None:
    given = body.get(key)
    if given is None:
        return None
    if type(given) not in (int, float) or not 0 < given <= sys.float_info.max:
        raise UsageError(f"{key}: must be a number of seconds above 0")
    return float(given)


def _within(key: str, asked: float, most: float, unit: str, flag: str) -> None:
    if asked > most:
        shown = f"{min(asked, sys.maxsize):g}"  # a longer one is no float
        raise UsageError(f"{key} {shown}: at most {most:g} {unit} here; start the server with more {flag}")


def answer(verdict: Verdict, language: Language = "python") -> str:
    """The answer for this verdict. What is compiled has a result of that too, and none of a run where it failed."""
    status, run = _run_result(verdict)
    compiled: dict[str, Any] | None = None
    if language == "cpp" and not verdict.status.is_fault:
        failed = verdict.status is Status.SYNTAX
        compiled = {"status": "Finished", "execution_time": None, "return_code": int(failed), "stdout": ""}
        compiled["stderr"] = f"{verdict.detail}\n" if failed else ""
        run = None if failed else run
    said = {
        "status": status,
        "message": verdict.detail if status == "SandboxError" else "",
        "compile_result": compiled,
        "run_result": run,
        "executor_pod_name": verdict.container or None,
        "files": {},
    }
    return json.dumps(said)


def _run_result(verdict: Verdict) -> tuple[str, dict[str, Any] | None]:
    printed = verdict.trace[0] if verdict.trace else None
    if verdict.status.is_fault:
        return "SandboxError", _result("Error", verdict, None, stderr=verdict.detail)
    if verdict.status in _TIMES:
        return "Failed", _result("TimeLimitExceeded", verdict, None)
    if verdict.status is Status.OK and type(printed) is str:
        return "Success", _result("Finished", verdict, 0, stdout=printed)
    if verdict.status is Status.OK and isinstance(printed, Raised):
        status = _EXIT.fullmatch(printed.error)
        return "Failed", _result("Finished", verdict, int(status[1]) if status else 1, stderr=f"{printed.error}\n")
    code = _KILLED if verdict.status in (Status.MLE, Status.SIGNAL, Status.POISON) else 1
    name = _MESSAGES.get(verdict.status, verdict.status.value)
    words = verdict.detail if verdict.detail.startswith(name) else f"{name}: {verdict.detail}"
    return "Failed", _result("Finished", verdict, code, stderr=f"{words}\n")


def _result(status: str, verdict: Verdict, code: int | None, *, stdout: str = "", stderr: str = "") -> dict[str, Any]:
    return {
        "status": status,
        "execution_time": verdict.wall_ms / 1000,
        "return_code": code,
        "stdout": stdout,
        "stderr": stderr,
    }
