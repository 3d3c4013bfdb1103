"""Where no engine answers: the reason is said, and no socket is left open for the garbage collector to complain of."""

from __future__ import annotations

import gc
import json
import socket
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from docker.errors import DockerException

from kolmocli.cli.doctor import examine_docker
from kolmocli.errors import EnvironmentMissing
from kolmocli.sandbox import Limits, open_sandbox
from kolmocli.sandbox.docker.containers import ContainerMaker
from kolmocli.sandbox.docker.image import build, client, why_no_engine
from kolmocli.sandbox.docker.sweeper import sweep
from kolmocli.sandbox.pool.link import LinkError


@pytest.fixture(scope="module", autouse=True)
def only_what_is_new() -> None:
    """All that was made before is not looked through again by every collection."""
    gc.freeze()


@contextmanager
def nothing_left_open() -> Iterator[None]:
    """Sockets that are dropped open warn when they are collected, where no exception can be raised."""
    said: list[str] = []
    gc.collect()
    hook = sys.unraisablehook
    sys.unraisablehook = lambda found: said.append(f"{found.exc_value} {found.object!r}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            yield
            gc.collect()
    finally:
        sys.unraisablehook = hook
    assert said == []


@pytest.fixture(params=["no socket", "nobody behind it", "tcp", "no host at all"])
def host(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    path = tmp_path / "engine.sock"
    if request.param == "nobody behind it":
        with socket.socket(socket.AF_UNIX) as gone:
            gone.bind(str(path))
    hosts = {"tcp": "tcp://127.0.0.1:1", "no host at all": "npipe://here"}
    found = hosts.get(request.param, f"unix://{path}")
    monkeypatch.setenv("DOCKER_HOST", found)
    return found


def refused_container() -> None:
    maker = ContainerMaker("none", Limits(), 1)
    try:
        with pytest.raises(LinkError):
            maker.make()
    finally:
        maker.close()


def refused(kind: type[Exception], ask: Callable[[], object]) -> None:
    with pytest.raises(kind):
        ask()


ASKED: dict[str, Callable[[], object]] = {
    "client": lambda: refused(DockerException, client),
    "why_no_engine": lambda: why_no_engine() or pytest.fail("nobody is there"),
    "examine_docker": lambda: examine_docker()["answers"] and pytest.fail("nobody is there"),
    "sweep": lambda: refused(DockerException, sweep),
    "build": lambda: refused(EnvironmentMissing, build),
    "open_sandbox": lambda: refused(EnvironmentMissing, lambda: open_sandbox("docker")),
    "make": refused_container,
}


@pytest.mark.parametrize("ask", ASKED.values(), ids=ASKED)
@pytest.mark.usefixtures("host")
def test_nothing_is_left_open(ask: Callable[[], object]) -> None:
    with nothing_left_open():
        ask()


class Engine:
    """As little of an engine as a client needs to be made, on a Unix socket, until it is shut."""

    def __init__(self, path: Path, body: dict[str, Any]) -> None:
        self.body = json.dumps(body).encode()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen()
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def serve(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return  # it was shut
            with connection:
                if not connection.recv(1 << 16):
                    continue  # somebody who only looked whether there is an engine
                head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(self.body)}\r\n\r\n"
                connection.sendall(head.encode() + self.body)

    def shut(self) -> None:
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join()


def test_an_engine_that_has_gone_away_leaves_nothing_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that was made in time opens a connection for each request, and every one of them fails."""
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path / 'engine.sock'}")
    engine = Engine(tmp_path / "engine.sock", {"ApiVersion": "1.45"})
    try:
        api = client()
    finally:
        engine.shut()
    with nothing_left_open():
        for _ in range(3):
            refused(OSError, api.ping)
        api.close()


def test_an_answer_of_something_else_leaves_nothing_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path / 'engine.sock'}")
    engine = Engine(tmp_path / "engine.sock", {"I am": "no engine"})
    try:
        with nothing_left_open():
            assert "ApiVersion" in (why_no_engine() or "")
    finally:
        engine.shut()
