"""A server's life: who may use it, how much it holds, how it ends."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest

from kolmocli.errors import UsageError
from kolmocli.sandbox import Job, Retries, Sandbox, Status, open_sandbox
from kolmocli.sandbox.pool.pool import Pool
from kolmocli.sandbox.service.access import TOKEN_VARIABLE, allows, is_loopback, read_token
from kolmocli.sandbox.service.app import App
from kolmocli.sandbox.service.client import Client
from kolmocli.sandbox.service.connection import Address, Connection, Lost
from kolmocli.sandbox.service.places import Full, Places
from tests.conftest import command_environment

from .servers import COMMAND, Server, serving, wait_until

TOKEN = "0123456789abcdef-wanted"
SLOW = {"program": "while 1: pass", "cpu_ms": 1_000}
BRIEF = {"program": "while 1: pass", "cpu_ms": 40}


def test_a_client_that_goes_away_gives_back_its_places_and_a_full_queue_says_so(tmp_path: Path) -> None:
    """A batch longer than the queue goes alone. The worker takes a few of its jobs; when its client leaves, the others are dropped."""
    with serving(tmp_path, "--workers", "1", "--queue", "2") as server:
        body = httpx2.Request("POST", server.url, json={"jobs": [BRIEF] * 200}).content
        head = f"POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        with socket.create_connection(("127.0.0.1", int(server.port))) as client:
            client.sendall(head.encode() + body)
            wait_until(lambda: server.facts()["unsettled"] > 2)
        wait_until(lambda: server.metric("clients_gone_total") == 1 and server.facts()["unsettled"] == 0)
        assert server.metric('jobs_total{status="CANCELLED"}') > 0

        with ThreadPoolExecutor(1) as elsewhere:
            first = elsewhere.submit(httpx2.post, f"{server.url}/v1/jobs", json={"jobs": [SLOW] * 2}, timeout=60)
            wait_until(lambda: server.facts()["unsettled"] == 2)
            refused = httpx2.post(f"{server.url}/run_code", json={"code": "print(1)", "language": "python"})
            assert (refused.status_code, refused.json()["detail"][:17]) == (429, "the queue is full")
            assert 1 <= int(refused.headers["Retry-After"]) <= 30
            with open_sandbox(server.url) as client:  # it waits for as long, and nothing is lost
                verdicts = client.run([Job(f"x = {i}") for i in range(8)])
            assert [v.value for v in verdicts] == [(i,) for i in range(8)]
            assert [v["status"] for v in first.result().json()["verdicts"]] == ["TLE_CPU"] * 2
        assert server.metric('requests_total{path="/run_code",code="429"}') == 1


def test_a_beat_tells_who_waits_that_the_server_lives(
    embedded_sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer that takes longer than the beat begins with blanks; JSON does not mind."""
    monkeypatch.setattr("kolmocli.sandbox.service.app.BEAT_S", 0.02)
    assert isinstance(embedded_sandbox, Pool)
    places = Places(10, 1 << 20, lambda: 0, lambda: None)
    app = App(embedded_sandbox, places, None, 1 << 20, {}, print)

    async def asked() -> httpx2.Response:
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://here") as client:
            return await client.post("/v1/jobs", json={"jobs": [{"program": "while 1: pass"}]})

    answer = asyncio.run(asked())
    assert answer.text.startswith("\n") and answer.json()["verdicts"][0]["status"] == "TLE_CPU"
    assert "content-length" not in answer.headers


def test_who_has_no_token_runs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "token"
    file.write_text(TOKEN + "\n")
    with serving(tmp_path, "--workers", "1", "--token-file", str(file)) as server:
        for headers in (
            {},
            {"Authorization": f"Bearer {TOKEN}x"},
            {"Authorization": TOKEN},
            {"Authorization": "Bearer"},
        ):
            for method, path in (
                ("POST", "/run_code"),
                ("POST", "/v1/jobs"),
                ("GET", "/metrics"),
                ("GET", "/v1/check"),
            ):
                answer = httpx2.request(
                    method, server.url + path, headers=headers, json={"code": "1", "language": "python"}
                )
                assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
        assert server.facts() == {"schema_version": 1, "status": "ok"}  # enough for what asks whether it lives
        right = {"Authorization": f"Bearer {TOKEN}"}
        assert httpx2.get(f"{server.url}/metrics", headers=right).status_code == 200
        with pytest.raises(UsageError, match=r"the token is missing or wrong; set KOLMO_SANDBOX_TOKEN"):
            open_sandbox(server.url)
        with open_sandbox(server.url, token_file=file) as client:
            assert client.run("x = 3")[0].value == (3,)
        monkeypatch.setenv(TOKEN_VARIABLE, TOKEN)
        with open_sandbox(server.url) as client:
            assert client.run("x = 3")[0].value == (3,)
        monkeypatch.setenv(TOKEN_VARIABLE, TOKEN + "x")
        with pytest.raises(UsageError, match="the token is missing or wrong"):
            open_sandbox(server.url)
        assert TOKEN not in server.said()


def test_what_is_accepted_is_answered_before_the_end(tmp_path: Path) -> None:
    with serving(tmp_path, "--workers", "1") as server, ThreadPoolExecutor(1) as elsewhere:
        slow = elsewhere.submit(
            httpx2.post,
            f"{server.url}/v1/jobs",
            json={"jobs": [{**SLOW, "cpu_ms": 2_000}, {"program": "x = 4"}]},
            timeout=60,
        )
        wait_until(lambda: server.facts()["unsettled"] == 2)
        server.process.send_signal(signal.SIGTERM)
        wait_until(lambda: httpx2.get(f"{server.url}/healthz").status_code == 503)
        refused = httpx2.post(f"{server.url}/run_code", json={"code": "print(1)", "language": "python"})
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
        assert [v["status"] for v in slow.result().json()["verdicts"]] == ["TLE_CPU", "OK"]
        assert server.process.wait(60) == 0
        assert "new ones are refused" in server.said() and "Traceback" not in server.said()


def test_a_killed_server_loses_nothing_that_the_client_cannot_run_again(tmp_path: Path) -> None:
    jobs = [Job(f"t = 0\nfor i in range(3000): t += i\nx = {i}", group=i // 8) for i in range(400)]
    with serving(tmp_path, "--workers", "1") as first, open_sandbox(first.url, workers=4) as client:
        future = client.submit(jobs)
        wait_until(lambda: client.health().executed > 0)
        first.process.kill()
        first.process.wait()
        before = client.health().executed
        assert before < len(jobs), "it was over before the server died"
        with serving(tmp_path, "--workers", "1", port=first.port) as second:
            verdicts = future.result(120)
            assert [v.value for v in verdicts] == [(i,) for i in range(400)]
            assert {v.status for v in verdicts} == {Status.OK}
            workers = {int(v.container.removeprefix("pid-")) for v in verdicts}
            assert len(workers) >= 2 and client.health().replaced > 0
            with open_sandbox(second.url, retries=Retries(drought_s=0.3)) as hasty:
                assert hasty.run("x = 1")[0].status is Status.OK
                second.process.kill()
                second.process.wait()
                verdict = hasty.run("x = 1")[0]
            assert (verdict.status, verdict.status.is_fault) == (Status.INFRA, True)
            assert verdict.detail.startswith(f"no verdict from {second.url}: ")
    wait_until(lambda: not any(os.path.exists(f"/proc/{number}") for number in workers))  # none outlives its server


def test_what_another_thread_closed_is_not_opened_again(server: Server) -> None:
    line = Connection(Address.of(server.url), None, 5.0)
    assert line.ask("GET", "/healthz", longest=1 << 20).code == 200
    opened = line._open
    line.end()
    line._open = opened  # as a thread sees it that was about to ask
    with pytest.raises(Lost):
        line.ask("GET", "/healthz", longest=1 << 20)


def test_closing_ends_what_waits(server: Server) -> None:
    client = open_sandbox(server.url, workers=1)
    future = client.submit(["while 1: pass"] * 3)
    ending = threading.Thread(target=client.close)
    ending.start()
    assert {v.status for v in future.result(60)} == {Status.CANCELLED}
    ending.join()
    with pytest.raises(RuntimeError, match="the sandbox is closed"):
        client.submit("x = 1")
    client.close()
    wait_until(lambda: server.facts()["unsettled"] == 0)


def test_what_is_submitted_while_it_closes_does_not_wait_for_ever(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = open_sandbox(server.url, workers=1)
    assert isinstance(client, Client)
    chunked = client._chunked

    def closing(*arguments: Any) -> Any:
        client.close()
        return chunked(*arguments)

    monkeypatch.setattr(client, "_chunked", closing)
    with pytest.raises(RuntimeError, match="the sandbox is closed"):
        client.submit("x = 1")


@pytest.mark.parametrize("backend", ["embedded", "over HTTP"])
def test_a_fork_neither_waits_for_threads_that_it_lacks_nor_closes_what_is_not_its_own(
    backend: str, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_sandbox("embedded" if backend == "embedded" else server.url, workers=1) as sandbox:
        with monkeypatch.context() as child:
            child.setattr(os, "getpid", lambda: 1)
            with pytest.raises(UsageError, match="open one here"):
                sandbox.run("x = 1")
            sandbox.close()
        assert sandbox.run("x = 3")[0].value == (3,)
        assert sandbox.health().replaced == 0


@pytest.mark.parametrize(
    "arguments, code, line",
    [
        (("--host", "0.0.0.0"), 2, "--host 0.0.0.0: other machines reach it and could run programs here; give it a --token-file"),
        (("--host", "192.0.2.7", "--token-file", "token"), 2, "--host 192.0.2.7: cannot be listened on: "),
        (("--host", "no such host"), 2, "--host no such host: no such host or address"),
        (("--token-file", "none"), 2, "none: the token cannot be read: No such file or directory"),
        (("--token-file", "short"), 2, "short: a token has 16 characters at least, this one 3"),
        (("--token-file", "two"), 2, "two: a token is one line of printable ASCII without blanks"),
        (("--backend", "docker"), 4, "no Docker engine answers"),
        (("--backend", "embedded", "--runtime", "runsc"), 2, "the embedded sandbox has no runtime"),
    ],
)  # fmt: skip
def test_a_server_that_cannot_start_says_why_in_a_line(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    code: int,
    line: str,
) -> None:
    from kolmocli.cli.main import main

    monkeypatch.chdir(tmp_path)
    for name, text in (("token", TOKEN), ("short", "abc"), ("two", f"{TOKEN}\n{TOKEN}")):
        (tmp_path / name).write_text(text)
    assert main(["sandbox", "serve", "--port", "0", *arguments]) == code
    said = capsys.readouterr()
    assert said.out == "" and said.err.startswith(f"kolmo: error: {line}") and said.err.count("\n") == 1


def test_a_port_that_is_taken(server: Server, tmp_path: Path) -> None:
    command = [*COMMAND, "--port", server.port, "--backend", "embedded"]
    done = subprocess.run(command, env=command_environment(), capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.strip() == (
        f"kolmo: error: --port {server.port}: another program listens there on 127.0.0.1; name another port, or 0 for any that is free"
    )


def test_the_command_line_takes_an_address(server: Server, tmp_path: Path) -> None:
    (tmp_path / "p.py").write_text("x = [1, 2]")
    command = [*COMMAND[:-1], "run", "--language", "python", "--sandbox", server.url, "p.py"]
    done = subprocess.run(command, env=command_environment(), capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stdout[:9], done.stdout[-5:]) == (0, "p.py: OK ", " 1 2\n")


def test_places() -> None:
    taken = 0
    places = Places(10, 100, lambda: taken, lambda: 2.0)
    places.require(1_000)  # alone
    taken = 8
    places.require(2)
    with pytest.raises(Full) as full:
        places.require(8)
    assert full.value.seconds == 3  # six too many, two a second
    with places.holding() as first:
        first(200)  # alone, it is bounded by the longest body
        with places.holding() as second, pytest.raises(Full):
            second(1)
    with places.holding() as first, places.holding() as second:
        first(60)
        second(40)
        with pytest.raises(Full):
            second(1)


def test_tokens(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_bytes(TOKEN.encode() + b"\r\n")
    assert read_token(file) == TOKEN
    for wrong in (b"\xff" * 20, b"a b c d e f g h i j", b"x" * 5_000):
        file.write_bytes(wrong)
        with pytest.raises(UsageError, match="a token"):
            read_token(file)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="not a regular file"):
        read_token(tmp_path / "pipe")
    assert allows(None, None) and allows("t", b"Bearer t")
    assert not any(allows("t", header) for header in (None, b"", b"t", b"Bearer ", b"bearer t", b"Bearer \xff"))
    assert is_loopback("127.0.0.1") and is_loopback("localhost") and is_loopback("::1") and not is_loopback("0.0.0.0")
