"""`POST /v1/jobs`: what goes over HTTP comes back as the pool gave it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import httpx2
import pytest
from hypothesis import given, strategies as st

from kolmocli.errors import UsageError
from kolmocli.sandbox import Call, Job, Limits, Opaque, Raised, Sandbox, Status, Verdict, open_sandbox
from kolmocli.sandbox.service import protocol

from .servers import Server

LIMITS = Limits(cpu_ms=300, wall_ms=2_000, memory_mb=64)
DEEP = json.loads("[" * 64 + "]" * 64)
"""Too deep with the lists of arguments around it: it ended the containers that read it."""

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.complex_numbers(allow_nan=False)
    | st.text(st.characters(), max_size=8) | st.binary(max_size=8) | st.builds(range, st.integers(-9, 9), st.integers(-9, 9)),
    lambda inner: st.lists(inner, max_size=4)
    | st.lists(inner, max_size=4).map(tuple)
    | st.dictionaries(st.integers() | st.text(max_size=3), inner, max_size=3)
    | st.frozensets(st.integers() | st.text(max_size=3), max_size=3),
    max_leaves=8,
)  # fmt: skip
VALUES = (
    PLAIN | st.builds(Raised, st.text(st.characters(codec="ascii"), max_size=9)) | st.builds(Opaque, st.just("deque"))
)
TIMES = st.floats(0, 1e6)


def over(verdict: Verdict, job: Job) -> Verdict:
    return protocol.read_verdicts(json.loads(protocol.verdicts_text([verdict], [job])), [job])[0]


def typed(value: Any) -> Any:
    """The value with the type of everything in it: 1, 1.0 and True are equal, and a set has no order to be compared."""
    if isinstance(value, list | tuple):
        return type(value), [typed(item) for item in value]
    if isinstance(value, dict):
        return dict, [(typed(key), typed(item)) for key, item in value.items()]
    if isinstance(value, frozenset):
        return frozenset, sorted(map(repr, value))
    return type(value), repr(value)


@given(st.sampled_from(Status), st.lists(VALUES, max_size=3).map(tuple), TIMES, TIMES, st.text(max_size=20))
def test_verdicts_of_plain_values_come_back_equal(
    status: Status, trace: Any, cpu: float, wall: float, detail: str
) -> None:
    verdict = Verdict(status, trace, cpu, wall, "a-container", 2, detail)
    back = over(verdict, Job("", plain=True))
    assert typed(back.trace) == typed(verdict.trace)
    assert repr(replace(back, trace=())) == repr(replace(verdict, trace=()))


@given(st.lists(st.none() | st.lists(st.integers(), max_size=4).map(tuple), max_size=3).map(tuple))
def test_verdicts_of_integers_come_back_equal(trace: Any) -> None:
    verdict = Verdict(Status.OK, trace, 1.5, 2.5, "c")
    assert repr(over(verdict, Job(""))) == repr(verdict)


@given(
    st.text(max_size=20), st.lists(PLAIN, max_size=3), st.dictionaries(st.sampled_from(["a", "function", "self"]), PLAIN),
    st.integers(), st.none() | st.text(max_size=4),
)  # fmt: skip
def test_jobs_come_back_equal(program: str, arguments: Any, keywords: Any, group: int, avoid: str | None) -> None:
    job = Job(program, calls=(Call.of("f", *arguments, **keywords),), group=group, avoid=avoid)
    (back,) = protocol.read_jobs(json.loads(f'{{"jobs": [{protocol.job_text(job, LIMITS)}]}}'))
    (call,), (sent,) = back.calls, job.calls
    assert (call.function, json.loads(call.code)) == (sent.function, json.loads(sent.code))  # in the order that it had
    assert replace(back, calls=job.calls) == replace(job, cpu_ms=300, wall_ms=2_000, memory_mb=64)


@given(st.dictionaries(st.from_regex(r"[a-z]{1,8}(/[a-zé .]{0,8}[a-z])?", fullmatch=True), st.binary()))
def test_files_come_back_equal(files: dict[str, bytes]) -> None:
    job = Job("", inputs=("",), files=tuple(files.items()))
    (back,) = protocol.read_jobs(json.loads(f'{{"jobs": [{protocol.job_text(job, LIMITS)}]}}'))
    assert back.files == job.files


def test_a_forged_report_is_no_defect_of_the_server() -> None:
    deep: Any = 1
    for _ in range(70):
        deep = [deep]
    back = over(Verdict(Status.OK, (deep,), container="c"), Job("", plain=True))
    assert (back.status, back.trace, back.container) == (Status.RUNTIME, (), "c")


JOBS = [
    Job("x = [3, 1, 2]\ny = sorted(x)\noutput = bytes([1]) if False else 'né\\ud800'"),
    Job("if True: pass\noutput = {1: (2, [3.5, None, True])}", plain=True),
    Job("output = [float('inf'), 2**70, b'\\xff', {1, 2}, range(3), 'a']", plain=True),
    Job("def f(x, y=1): return [x, y]\ndef g(): return 1 / 0", calls=(Call.of("f", (1, 2), y={"k": None}), Call.of("g"))),
    Job("print(open('a').read())", inputs=("",), files=(("a", b"1"),)),
    Job("print(input() * 2)", inputs=("ab\n", "é\n", "")),
    Job("sequence_1 = range_func_up(0, 9)\noutput = repeat_list(3, sequence_1)", "dsl"),
    Job("x = (", "python"),
    Job("x = 1\n1 / 0"),
    Job("import socket"),
    Job("while 1: pass", cpu_ms=50),
    Job("x = 1\ny = [0] * 5_000\nz = 1"),  # more than a client of these limits allows, and not than the server does
    Job("x = 1\ny = {1: [0] * 5_000}", plain=True),
    Job("def f(n): return [0] * n", calls=(Call.of("f", 5_000), Call.of("f", 70_000))),
    Job("x = [0]\nwhile 1: x += x"),
    Job("x = 1", group=3),
    Job("x = 2", group=3, avoid="nobody"),
]  # fmt: skip


def same(verdict: Verdict) -> Verdict:
    """What does not depend on the clock, nor on which process ran it with which others."""
    return replace(verdict, cpu_ms=0, wall_ms=0, container="", attempt=1)


def test_the_client_gives_what_the_pool_gives(server: Server, embedded_sandbox: Sandbox) -> None:
    with open_sandbox(server.url, limits=LIMITS) as client:
        here, there = embedded_sandbox.run(JOBS), client.run(JOBS)
        assert [repr(same(v)) for v in there] == [repr(same(v)) for v in here]
        assert len({v.status for v in there}) >= 6
        assert all(v.container.startswith("pid-") for v in there)
        assert client.run([]) == [] and client.run("x = 3")[0].value == (3,)
        health = client.health()
        assert (health.backend, health.executed, health.infra) == ("embedded", len(JOBS) + 1, 0)
        assert health.busy_seconds > 0 and sum(health.statuses.values()) == health.executed
        assert [found["promise"] for found in client.check()] == [
            found["promise"] for found in embedded_sandbox.check()
        ]


def test_limits_are_those_of_the_client_or_less(server: Server) -> None:
    with open_sandbox(server.url, limits=Limits(cpu_ms=50)) as client:
        assert client.run("while 1: pass")[0].status is Status.TLE_CPU
        with pytest.raises(UsageError, match=r"cpu_ms=60 of a job: from 1 to the 50"):
            client.submit(Job("1", cpu_ms=60))
    with pytest.raises(
        UsageError, match=r"cpu_ms 10001 is above the 10000 of that server; start it with a larger --cpu-ms"
    ):
        open_sandbox(server.url, limits=Limits(cpu_ms=10_001))
    with open_sandbox(server.url, limits=Limits(max_items=1 << 16)) as client:  # those of an evaluation
        assert client.run("x = [0] * 5_000")[0].value == (0,) * 5_000
    with pytest.raises(UsageError, match=r"input_bytes \d+ is above .* --input-mb"):
        open_sandbox(server.url, most=Limits(input_bytes=1 << 24))


@pytest.mark.parametrize("wrong", [{"attempt": 1e999}, {"cpu_ms": 10**400}])
def test_numbers_beyond_all_bounds_are_no_verdict(wrong: dict[str, Any]) -> None:
    said = json.loads(protocol.verdict_text(Verdict(Status.OK), Job("1"))) | wrong
    with pytest.raises(ValueError, match="a verdict that cannot be read"):
        protocol.read_verdicts({"schema_version": 1, "verdicts": [said]}, [Job("1")])


@pytest.mark.parametrize(
    "body, line",
    [
        ({}, "the body is an object with a list"),
        ({"jobs": [], "job": 1}, "job: no such key; did you mean jobs?"),
        ({"jobs": [], "schema_version": 2}, "schema_version 2: this server has 1"),
        ({"jobs": [{"program": "1"}, {}]}, "jobs[1]: a job is an object with a program"),
        ({"jobs": [{"program": "1", "cpu": 5}]}, "jobs[0].cpu: no such key; did you mean cpu_ms?"),
        ({"jobs": [{"program": 1}]}, "jobs[0].program: must be text"),
        ({"jobs": [{"program": "1", "plain": 1}]}, "jobs[0].plain: must be true or false"),
        ({"jobs": [{"program": "1", "cpu_ms": True}]}, "jobs[0].cpu_ms: must be a whole number"),
        ({"jobs": [{"program": "1", "cpu_ms": 0}]}, "cpu_ms=0 of a job"),
        ({"jobs": [{"program": "1", "language": "perl"}]}, "jobs[0].language: must be one of dsl, python, cpp, javascript"),
        ({"jobs": [{"program": "1", "inputs": [1]}]}, "jobs[0].inputs: must be a list of texts"),
        ({"jobs": [{"program": "1", "language": "dsl", "plain": True}]}, "jobs[0]: a job in the small language"),
        ({"jobs": [{"program": "1", "calls": [{"f": 1}]}]}, "jobs[0].calls[0]: a call is"),
        ({"jobs": [{"program": "1", "calls": [{"function": "a b"}]}]}, "jobs[0].calls[0]: a call of 'a b'"),
        ({"jobs": [{"program": "1", "calls": [{"function": "f", "arguments": [{"q": 1}]}]}]}, "jobs[0].calls[0]: an argument"),
        ({"jobs": [{"program": "1", "calls": [{"function": "f", "arguments": [DEEP]}]}]}, "jobs[0].calls[0]: an argument is no value"),
        ({"jobs": [{"program": "1"}] * 513}, "513 jobs in one request; send at most 512"),
    ],
)  # fmt: skip
def test_requests_that_are_wrong(server: Server, body: dict[str, Any], line: str) -> None:
    answer = httpx2.post(f"{server.url}/v1/jobs", json=body)
    assert (answer.status_code, answer.json()["detail"][: len(line)]) == (422, line)


def test_what_the_server_says_of_itself(server: Server) -> None:
    before = server.metric('jobs_total{status="SYNTAX"}')
    verdict = httpx2.post(f"{server.url}/v1/jobs", json={"jobs": [{"program": "("}]}).json()["verdicts"][0]
    assert (verdict["status"], verdict["fault"]) == ("SYNTAX", False)
    assert server.metric('jobs_total{status="SYNTAX"}') == before + 1
    assert server.metric('requests_total{path="/v1/jobs",code="200"}') >= 1
    assert (server.metric("queue_length"), server.metric("jobs_running"), server.metric("queue_limit")) == (0, 0, 2_048)
    assert 1 <= server.metric("workers") <= 2
    facts = server.facts()
    assert (facts["status"], facts["schema_version"], facts["backend"]) == ("ok", 1, "embedded")
