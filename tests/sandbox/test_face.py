"""What a user of the library writes: `with`, texts or jobs, limits of a job, and where warnings go."""

from __future__ import annotations

import logging
import subprocess
import sys
from concurrent.futures import Future
from typing import Any

import pytest

from kolmocli.errors import UsageError
from kolmocli.sandbox import Call, Health, Job, Limits, Sandbox, Status, Verdict, open_sandbox
from kolmocli.sandbox.base import Programs, jobs_of, limited

from .conftest import LIMITS

NO_ENGINE = "unix:///nonexistent.sock"
MEMORY = "output = len([0] * (2 << 20))"
"""16 MiB in Python and 32 in the embedded interpreter: above a limit of 8, below one of 40."""


def test_texts_are_python_and_jobs_are_what_they_say(sandbox: Sandbox) -> None:
    verdicts = sandbox.run(["output = [1, 2] * 3", Job("output = set_list([4])", "dsl"), "1 / 0"])
    assert [v.status for v in verdicts] == [Status.OK, Status.OK, Status.RUNTIME]
    assert [v.value for v in verdicts] == [(1, 2, 1, 2, 1, 2), (4,), None]


@pytest.mark.parametrize(
    "wrong",
    [
        {"language": "js"}, {"inputs": "3\n"}, {"inputs": (b"3\n",)}, {"program": b"1"}, {"calls": Call.of("f")}, {"calls": (("f", 1),)},
        {"inputs": ("",), "files": {"a.txt": b"1"}}, {"inputs": ("",), "files": (("a.txt", "1"),)},
    ],
)  # fmt: skip
def test_a_job_of_no_kind_is_refused(wrong: dict[str, Any]) -> None:
    """It ran as Python, or once for each character."""
    with pytest.raises(UsageError):
        Job(**{"program": "print(input())"} | wrong)


def test_parts_of_a_job_that_are_no_tuples_become_some(embedded_sandbox: Sandbox) -> None:
    """What can be read only once broke the pool."""
    once: Any = (text for text in ("1", "2"))
    assert embedded_sandbox.run(Job("print(input())", inputs=once))[0].trace == ("1\n", "2\n")
    listed: Any = ["1", "2"]
    assert Job("", inputs=listed) in {Job("", inputs=("1", "2"))}


def test_the_most_bounds_the_usual() -> None:
    [(_, limits)] = limited("1", Limits(), Limits(cpu_ms=50, memory_mb=1_024))
    assert (limits.cpu_ms, limits.memory_mb) == (50, 128)


@pytest.mark.parametrize("backend", ["embedded", "http://127.0.0.1:9"])
def test_fewer_workers_than_none_are_refused(backend: str) -> None:
    with pytest.raises(UsageError, match="workers=-1"):
        open_sandbox(backend, workers=-1)


@pytest.mark.parametrize("limit", ["cpu_ms", "wall_ms", "memory_mb", "output_bytes"])
@pytest.mark.parametrize("value", [0, -1, 1.5, "5", True, 1 << 32])
def test_what_is_no_limit_is_named(limit: str, value: Any) -> None:
    with pytest.raises(UsageError, match=limit):
        Limits(**{limit: value})


@pytest.mark.parametrize("alone", ["output = 7", Job("output = 7")])
def test_one_program_is_a_batch_of_one(sandbox: Sandbox, alone: Programs) -> None:
    [verdict] = sandbox.run(alone)
    assert verdict.value == (7,)


def test_a_job_can_lower_its_cpu_time(sandbox: Sandbox) -> None:
    quick, usual = sandbox.run([Job("while 1: pass", cpu_ms=50), Job("while 1: pass")])
    assert (quick.status, usual.status) == (Status.TLE_CPU, Status.TLE_CPU)
    assert 50 <= quick.cpu_ms < 200 <= usual.cpu_ms


def test_a_job_can_lower_its_wall_time(sandbox: Sandbox) -> None:
    [verdict] = sandbox.run(Job("while 1: pass", wall_ms=20))
    assert verdict.status is Status.TLE_WALL
    assert verdict.cpu_ms < LIMITS.cpu_ms


def test_a_job_can_lower_its_memory_and_no_other_job_sees_it(sandbox: Sandbox) -> None:
    """Many at once, so that small and usual ones stand in every container side by side."""
    verdicts = sandbox.run([Job(MEMORY), Job(MEMORY, memory_mb=8)] * 20)
    assert [v.status for v in verdicts] == [Status.OK, Status.MLE] * 20


def test_a_small_job_still_has_what_its_limit_says(sandbox: Sandbox) -> None:
    [verdict] = sandbox.run(Job(MEMORY, memory_mb=40))
    assert verdict.value == (2 << 20,)


@pytest.mark.parametrize(
    ("job", "message"),
    [
        (Job("1", cpu_ms=LIMITS.cpu_ms + 1), "cpu_ms=301 of a job: from 1 to the 300 of its sandbox"),
        (Job("1", wall_ms=10**9), "from 1 to the 2000"),
        (Job("1", memory_mb=0), "from 1 to the 64"),
    ],
)
def test_a_job_cannot_raise_a_limit(embedded_sandbox: Sandbox, job: Job, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        embedded_sandbox.submit(["1", job])


CALLS = (Call.of("f", 1),)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"language": "dsl", "plain": True}, "a job in the small language has no plain values"),
        ({"language": "dsl", "calls": CALLS}, "no calls and no inputs"),
        ({"language": "dsl", "inputs": ("1",)}, "they are for Python"),
        ({"calls": CALLS, "inputs": ("1",)}, "a job has calls or inputs, never both"),
    ],
)
def test_a_job_is_of_one_kind(more: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message) as raised:
        Job("x = 1", **more)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("name", ["", "f.g", "f()", "1f", "lambda", "f g", "x; f"])
def test_only_a_name_can_be_called(name: str) -> None:
    with pytest.raises(UsageError, match="only functions that have a name of their own can be called"):
        Call.of(name)


def test_an_image_brings_its_own_packages() -> None:
    with pytest.raises(UsageError, match="either the image mine:1 or packages"):
        open_sandbox(image="mine:1", packages=["numpy"])
    with pytest.raises(UsageError, match="the embedded sandbox has no image mine:1"):
        open_sandbox("embedded", image="mine:1")


def test_closed_behind_with() -> None:
    with open_sandbox("embedded", workers=1) as sandbox:
        assert sandbox.run("1")[0].status is Status.OK
    with pytest.raises(RuntimeError, match="closed"):
        sandbox.run("1")


def test_auto_warns_through_logging(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setenv("DOCKER_HOST", NO_ENGINE)
    with caplog.at_level(logging.WARNING, "kolmocli.sandbox"), open_sandbox("auto", workers=1) as sandbox:
        assert sandbox.health().backend == "embedded"
    assert "embedded, because no Docker engine answers" in caplog.text


def test_auto_warns_whom_it_is_told_to(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("DOCKER_HOST", NO_ENGINE)
    lines: list[str] = []
    open_sandbox("auto", workers=1, warn=lines.append).close()
    assert len(lines) == 1
    assert (*capfd.readouterr(), caplog.text) == ("", "", "")


def test_a_sandbox_of_ones_own_inherits_run_and_with() -> None:
    class Echo(Sandbox):
        limits = Limits()
        closed = False

        def submit(self, programs: Programs) -> Future[list[Verdict]]:
            future: Future[list[Verdict]] = Future()
            future.set_result([Verdict(Status.OK, ((len(job.program),),)) for job in jobs_of(programs)])
            return future

        def health(self) -> Health:
            return Health("echo")

        def check(self) -> list[dict[str, Any]]:
            return []

        def close(self) -> None:
            self.closed = True

    with Echo() as sandbox:
        assert [v.value for v in sandbox.run(["ab", Job("abc")])] == [(2,), (3,)]
    assert sandbox.closed


def test_neither_torch_nor_docker_nor_the_interpreter_is_imported_before_it_is_needed() -> None:
    heavy = "{'torch', 'docker', 'requests', 'numpy', 'pydantic_monty'}"
    script = f"import sys, kolmocli.sandbox; assert not {heavy} & sys.modules.keys(), {heavy} & sys.modules.keys()"
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)
