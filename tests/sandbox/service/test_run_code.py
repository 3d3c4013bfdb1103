"""`POST /run_code`, asked as the callers of SandboxFusion ask."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from kolmocli.errors import UsageError
from kolmocli.sandbox import Limits, Status, Verdict
from kolmocli.sandbox.service import fusion

from .servers import Server

FLOOD = "print('x' * 3_000_000)"


def posted(server: Server, **body: Any) -> httpx2.Response:
    """With the keys that verl sends."""
    usual = {"compile_timeout": 10, "run_timeout": 5, "stdin": "", "language": "python", "files": {}, "fetch_files": []}
    return httpx2.post(f"{server.url}/run_code", json={**usual, **body}, timeout=60)


@pytest.mark.parametrize(
    "code, stdin, status, run, returned, stdout, stderr",
    [
        ("print(int(input()) + 1)", "41\n", "Success", "Finished", 0, "42\n", ""),
        ("print(int(input()) + 2)", "41\n", "Success", "Finished", 0, "43\n", ""),  # wrong, which the caller has to see
        ("print(input())\nprint([input()])", "a\n\nb", "Success", "Finished", 0, "a\n['']\n", ""),
        ("print(1)\n1 / 0", "", "Failed", "Finished", 1, "", "ZeroDivisionError"),
        ("print(", "", "Failed", "Finished", 1, "", "SyntaxError"),
        (FLOOD, "", "Failed", "Finished", 1, "", "OutputLimitExceeded"),
        ("x = [0] * 10**10", "", "Failed", "Finished", -9, "", "MemoryError"),
        ("import socket", "", "Failed", "Finished", 1, "", "DENIED"),
        ("print('\x1b[31mred')", "", "Success", "Finished", 0, "\x1b[31mred\n", ""),
    ],
    ids=["right", "wrong", "stdin", "exception", "syntax", "flood", "memory", "denied", "control"],
)
def test_what_a_program_comes_to(
    server: Server, code: str, stdin: str, status: str, run: str, returned: int, stdout: str, stderr: str
) -> None:
    answer = posted(server, code=code, stdin=stdin)
    assert answer.status_code == 200
    said = answer.json()
    assert set(said) == {"status", "message", "compile_result", "run_result", "executor_pod_name", "files"}
    assert (said["status"], said["message"], said["compile_result"], said["files"]) == (status, "", None, {})
    result = said["run_result"]
    assert set(result) == {"status", "execution_time", "return_code", "stdout", "stderr"}
    assert (result["status"], result["return_code"], result["stdout"]) == (run, returned, stdout)
    assert result["stderr"].startswith(stderr) and result["execution_time"] >= 0
    assert "\x1b" not in server.said()


def test_a_program_that_hangs_costs_its_time_and_nothing_else(server: Server) -> None:
    said = posted(server, code="while True: pass", run_timeout=0.2).json()
    assert (said["status"], said["run_result"]["status"]) == ("Failed", "TimeLimitExceeded")
    assert said["run_result"]["return_code"] is None
    assert posted(server, code="print(1)").json()["status"] == "Success"


def test_a_fault_of_the_sandbox_is_no_failure_of_the_program() -> None:
    for status in (Status.INFRA, Status.CANCELLED):
        assert '"status": "SandboxError", "message": "lost"' in fusion.answer(Verdict(status, detail="lost"))


@pytest.mark.parametrize(
    "body, code, line",
    [
        ({"language": "rust"}, 422, "language 'rust': this sandbox runs python, cpp and nodejs"),
        (
            {"language": "cpp"},
            422,
            "a job in cpp: this sandbox has no cpp; build it with kolmo sandbox build --with cpp",
        ),
        ({"files": {"a.txt": "YQ"}}, 422, "files: must be names with their contents in base64"),
        ({"files": {"a.txt": None}}, 422, "files: must be names with their contents in base64"),
        ({"files": ["a.txt"]}, 422, "files: must be an object"),
        ({"files": {"../a.txt": "YQ=="}}, 422, "a file '../a.txt': names are relative"),
        ({"files": {"a.txt": "YQ=="}, "language": "cpp"}, 422, "files are for scripts in Python"),
        (
            {"fetch_files": ["a.txt"]},
            422,
            "fetch_files: programs of this sandbox have no arguments, and leave no files",
        ),
        ({"stdin": 3}, 422, "stdin: must be text"),
        ({"run_timeout": "long"}, 422, "run_timeout: must be a number of seconds above 0"),
        ({"compile_timeout": -1}, 422, "compile_timeout: must be a number of seconds above 0"),
        (
            {"run_timeout": 60},
            422,
            "run_timeout 60: at most 10 s here; start the server with more --cpu-ms and --wall-ms",
        ),
        (
            {"memory_limit_MB": 9000},
            422,
            "memory_limit_MB 9000: at most 1024 MB here; start the server with more --memory-mb",
        ),
        ({"run_timeout": 10**400}, 422, "run_timeout: must be a number of seconds above 0"),
        ({"memory_limit_MB": 10**400}, 422, "memory_limit_MB 9.22337e+18: at most 1024 MB here"),
        ({"code": None}, 422, "the body is an object with code"),
    ],
)
def test_what_is_not_done_is_refused_in_a_line(server: Server, body: dict[str, Any], code: int, line: str) -> None:
    answer = posted(server, **{"code": "print(1)", **body})
    assert (answer.status_code, answer.json()["schema_version"]) == (code, 1)
    assert answer.json()["detail"].startswith(line) and "\n" not in answer.json()["detail"]


def test_requests_that_are_none(server: Server) -> None:
    url = f"{server.url}/run_code"
    for content, kind, code, line in (
        (b"{", "application/json", 400, "the body is no JSON"),
        (b"[" * 100_000, "application/json", 400, "the body is no JSON: nested too deeply"),
        (b"\xff", "application/json", 400, "the body is no JSON"),
        (b'{"code": "print(1)"}', "text/plain", 415, "send JSON"),
        (b"", "application/json", 400, "the body is no JSON"),
    ):
        answer = httpx2.post(url, content=content, headers={"Content-Type": kind})
        assert (answer.status_code, answer.json()["detail"][: len(line)]) == (code, line)
    assert httpx2.get(url).status_code == 405
    assert "/v1/jobs" in httpx2.post(f"{server.url}/run_jupyter", json={}).json()["detail"]


def test_a_body_that_is_too_long_is_refused_before_it_is_kept(server: Server) -> None:
    longest = server.facts()["body_bytes"]
    parts = (b"x" * (1 << 20) for _ in range((longest >> 20) + 2))  # chunked: no length is said
    answer = httpx2.post(
        f"{server.url}/run_code", content=parts, headers={"Content-Type": "application/json"}, timeout=60
    )
    assert (answer.status_code, answer.json()["detail"][:9]) == (413, "a body of")
    assert posted(server, code="print(1)").json()["status"] == "Success"


def test_limits_as_they_are_asked_for() -> None:
    most = Limits(cpu_ms=4_000, wall_ms=9_000, memory_mb=512)
    plain = {"code": "1", "language": "python"}
    job = fusion.read_job({**plain, "run_timeout": 1.5, "memory_limit_MB": 64}, most)
    assert (job.cpu_ms, job.wall_ms, job.memory_mb, job.inputs) == (1_500, 3_500, 64, ("",))
    job = fusion.read_job({**plain, "memory_limit_MB": -1}, most)  # none is said: theirs are 10 s and no limit
    assert (job.cpu_ms, job.wall_ms, job.memory_mb) == (4_000, 6_000, 512)
    with pytest.raises(UsageError, match=r"run_timeout 4\.5: at most 4 s here"):
        fusion.read_job({**plain, "run_timeout": 4.5}, most)
