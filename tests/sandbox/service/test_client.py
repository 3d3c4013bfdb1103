"""The client where the other side, or what is between, does not do what it should."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import httpx2
import pytest

from kolmocli.errors import EXIT_ENVIRONMENT, EXIT_USAGE, EnvironmentMissing, KolmoError, UsageError
from kolmocli.sandbox import Job, Retries, Status, open_sandbox
from kolmocli.sandbox.service import connection
from kolmocli.sandbox.service.client import Client

from .flaky import between
from .servers import Server

GARBAGE = (200, b"<html>")
SHORT = (200, b'{"schema_version": 1, "verdicts": []}')
LOST = (200, b'{"schema_version": 1, "detail": "the server ends"}')
FAULT = (
    200,
    b'{"schema_version": 1, "verdicts": [{"status": "INFRA", "fault": true, "trace": [], "cpu_ms": 0, "wall_ms": 0, '
    b'"container": "", "attempt": 1, "detail": "no container could be had"}]}',
)


def test_what_goes_wrong_on_the_way_is_asked_again(server: Server) -> None:
    troubles = (
        "reset",
        (502, b"bad gateway"),
        (503, b"{}"),
        (429, b"{}"),
        "cut",
        GARBAGE,
        SHORT,
        LOST,
        "reset",
        (500, b""),
    )
    with between(server.url, *troubles) as url, open_sandbox(url, workers=2) as client:
        verdicts = client.run([Job(f"x = {i}") for i in range(40)])
        assert [v.value for v in verdicts] == [(i,) for i in range(40)]
        health = client.health()
        assert (health.executed, health.infra, health.statuses) == (40, 0, {"OK": 40})
        assert health.replaced >= 6  # connections that gave no answer, or none to be believed


def test_a_fault_of_one_server_is_tried_on_another_once(server: Server) -> None:
    with between(server.url, FAULT) as url, open_sandbox(url, workers=1) as client:
        assert client.run("x = 3")[0].value == (3,)
        assert client.health().infra == 0
    with between(server.url, FAULT, FAULT) as url, open_sandbox(url, workers=1) as client:
        verdict = client.run("x = 3")[0]
        assert (verdict.status, verdict.detail) == (Status.INFRA, "no container could be had")
        assert client.health().infra == 1


def test_what_cannot_be_had_is_a_fault_and_no_wrong_answer(server: Server) -> None:
    troubles = ("reset",) * 8
    with between(server.url, *troubles) as url, open_sandbox(url, workers=1, retries=Retries(attempts=3)) as client:
        first, second = client.run(["x = 1"])[0], client.run(["x = 2"])[0]
    assert (first.status, second.status) == (Status.INFRA, Status.INFRA)
    assert first.detail.startswith(f"no verdict from {url}: ") and first.value is None


@pytest.mark.parametrize(
    "trouble, kind, line",
    [
        ((401, b"{}"), UsageError, "the token is missing or wrong"),
        (
            (413, b'{"detail": "a body of more than 1 MiB\\n\\u001b"}'),
            UsageError,
            r"413 a body of more than 1 MiB \\x1b",
        ),
        ((301, b""), KolmoError, "301"),
    ],
)
def test_what_no_other_try_would_mend_ends_the_batch(
    server: Server, trouble: tuple[int, bytes], kind: type[KolmoError], line: str
) -> None:
    with between(server.url, trouble) as url, open_sandbox(url, workers=1) as client:
        with pytest.raises(kind, match=line):
            client.run(["x = 1", "x = 2"])
        assert client.run("x = 3")[0].value == (3,)  # the next one is as good as any


@contextmanager
def saying(code: int, body: bytes) -> Iterator[str]:
    """Whatever it is asked, an answer that is no server's of ours."""
    with between("http://nowhere") as url:
        original = httpx2.get
        try:
            httpx2.get = lambda *_, **__: httpx2.Response(code, content=body)  # type: ignore[assignment]
            yield url
        finally:
            httpx2.get = original


@pytest.mark.parametrize(
    "code, body, line",
    [
        (
            200,
            b'{"schema_version": 2}',
            r"it has schema_version 2, this kolmo 1; install the same version on both sides",
        ),
        (200, b"<html>hello", "this is no server of kolmo sandbox serve: Expecting value"),
        (
            200,
            b'{"schema_version": 1, "backend": "", "packages": [], "most": {}, "usual": {"cpu_ms": 1e999}}',
            "this is no server of kolmo sandbox serve",
        ),
        (200, b'{"schema_version": 1, "most": {}}', "this is no server of kolmo sandbox serve"),
        (200, b"[]", "this is no server of kolmo sandbox serve"),
        (404, b'{"detail": "Not Found"}', "this is no server of kolmo sandbox serve: 404 Not Found"),
        (
            503,
            b'{"detail": "draining"}',
            r"no server answers there \(503 draining\); start one with: kolmo sandbox serve",
        ),
    ],
)
def test_greetings_that_are_wrong(code: int, body: bytes, line: str) -> None:
    with saying(code, body) as url, pytest.raises(EnvironmentMissing, match=line) as error:
        open_sandbox(url)
    assert error.value.exit_code == EXIT_ENVIRONMENT


def test_nobody_there() -> None:
    with pytest.raises(
        EnvironmentMissing, match=r"sandbox http://127.0.0.1:9: no server answers there \(Connection refused\)"
    ):
        open_sandbox("http://127.0.0.1:9")


@pytest.mark.parametrize(
    "address, line",
    [
        ("http://", "an address looks like"),
        ("http://me:secret@host:1", "an address looks like"),
        ("http://host:1/?a=b", "an address looks like"),
        ("http://host:99999", "an address looks like"),
        ("ftp://host:1", "must be one of auto, docker, embedded, or http://host:port; got 'ftp://host:1'"),
        ("dokcer", "did you mean docker?"),
    ],
)
def test_addresses_that_are_none(address: str, line: str) -> None:
    with pytest.raises(UsageError, match=line.replace("?", r"\?")) as error:
        open_sandbox(address)
    assert error.value.exit_code == EXIT_USAGE


def test_a_server_does_not_say_to_wait_for_hours() -> None:
    assert [connection._seconds(said) for said in ("2", "3600", "", "soon")] == [2.0, 30.0, None, None]


def test_what_belongs_to_the_server_is_not_asked_of_it(server: Server) -> None:
    with pytest.raises(UsageError, match="has the runtime and the image that it was started with"):
        open_sandbox(server.url, runtime="runsc")
    with pytest.raises(EnvironmentMissing, match="programs have no numpy there; start it with --with numpy"):
        open_sandbox(server.url, packages=["numpy"])
    with pytest.raises(UsageError, match="the sandbox embedded takes no token"):
        open_sandbox("embedded", token_file="token")


def test_batches_travel_in_parts_that_leave_room_for_others(server: Server) -> None:
    with open_sandbox(server.url, workers=4) as client:
        assert isinstance(client, Client)
        for count, sizes in ((1, [1]), (8, [1] * 8), (9, [2, 2, 2, 2, 1]), (1_000, [64] * 15 + [40])):
            jobs = [(Job("x"), client.limits)] * count
            assert [len(chunk.jobs) for chunk in client._chunked(None, jobs)] == sizes  # type: ignore[arg-type]
        long = [(Job("x" * 700_000), client.limits)] * 3
        assert [len(chunk.jobs) for chunk in client._chunked(None, long)] == [1, 1, 1]  # type: ignore[arg-type]
