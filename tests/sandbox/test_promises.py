"""What is promised holds, or nothing is run; and a supervisor that is not understood ends."""

from __future__ import annotations

import json
import random
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, strategies as st

from kolmocli.errors import CheckError
from kolmocli.sandbox import Job, Limits, Sandbox
from kolmocli.sandbox.docker.containers import ContainerLink, ContainerMaker
from kolmocli.sandbox.docker.image import image_tag
from kolmocli.sandbox.pool.link import LinkError, broken_promise
from kolmocli.sandbox.pool.queue import payload
from kolmocli.sandbox.wire import frames

from .engines import wait_until


def test_every_promise_is_listed_with_what_was_found(sandbox: Sandbox) -> None:
    promises = sandbox.check()
    assert len({p["promise"] for p in promises}) == len(promises) > 10
    assert all(p["ok"] is True and p["expected"] and p["found"] for p in promises)
    assert json.loads(json.dumps(promises)) == promises


def test_nothing_said_is_nothing_promised() -> None:
    good = {"promise": "a wall", "expected": "3 m", "found": "3 m", "ok": True}
    assert broken_promise([good], "the builder") is None
    assert "says nothing" in str(broken_promise([], "the builder"))
    error = broken_promise([good, good | {"found": "2 m", "ok": False}], "the builder")
    assert "a wall (expected 3 m, found 2 m)" in str(error)


@pytest.mark.docker
@pytest.mark.parametrize(
    "forgotten", ["pids_limit", "mem_limit", "read_only", "cap_drop", "security_opt", "network_mode", "ipc_mode"]
)
def test_a_promise_that_does_not_hold_refuses_the_pool(monkeypatch: pytest.MonkeyPatch, forgotten: str) -> None:
    maker = ContainerMaker(image_tag(), Limits(), 1)
    engine = maker._api  # its own: a pool of another test may be making a container now
    real, create = engine.create_host_config, engine.create_container

    def forgetful(**options: Any) -> Any:
        del options[forgotten]
        if forgotten == "mem_limit":
            del options["memswap_limit"]
        return real(**options)

    def create_with_network(*arguments: Any, **options: Any) -> Any:
        return create(*arguments, **options | {"network_disabled": False})

    monkeypatch.setattr(engine, "create_host_config", forgetful)
    if forgotten == "network_mode":  # there are two locks on this door
        monkeypatch.setattr(engine, "create_container", create_with_network)
    try:
        with pytest.raises(CheckError):
            maker.make()
    finally:
        maker.close()


NOISE = {
    "zeros": b"\0" * 64,
    "lying length": frames.HEADER.pack(frames.MAGIC, frames.RUN, 0, 1, 2**32 - 1, 0),
    "wrong checksum": frames.HEADER.pack(frames.MAGIC, frames.RUN, 0, 1, 3, 0) + b"Dxx",
    "unknown language": frames.encode(frames.RUN, 1, b"?" * 40),
    "no limits": frames.encode(frames.RUN, 1, b"P1"),
    "unknown kind": frames.encode(99, 1, b""),
    "answer": frames.encode(frames.RESULT, 1, b"x" * 100),
    "after a program": frames.encode(frames.RUN, 1, payload(Job("1"), Limits())) + b"noise" * 10,
    "random": random.Random(5).randbytes(500),
}


@pytest.mark.docker
@pytest.mark.parametrize("noise", NOISE.values(), ids=NOISE)
def test_a_supervisor_that_gets_noise_ends(noise: bytes) -> None:
    maker = ContainerMaker(image_tag(), Limits(), 1)
    link = maker.make()
    try:
        link.send(memoryview(noise))
        wait_until(lambda: link.receive() == b"")
    except LinkError:
        pytest.fail("the stream broke before its end")
    finally:
        maker.end(link)
        maker.close()


@pytest.mark.docker
def test_frames_that_arrive_byte_by_byte_are_understood() -> None:
    maker = ContainerMaker(image_tag(), Limits(), 1)
    link = maker.make()
    try:
        stream = frames.encode(frames.PING, 7, b"abc") + frames.encode(
            frames.RUN, 8, payload(Job("x = set_list([4])", "dsl"), Limits())
        )
        for byte in stream:
            link.send(memoryview(bytes([byte])))
        reader, got = frames.Reader(), []

        def answered() -> bool:
            got.extend(reader.feed(link.receive() or b""))
            return len(got) == 2

        wait_until(answered)
        assert got[0] == (frames.PING, 7, b"abc")
        assert (got[1][0], got[1][1], got[1][2].endswith(b"1\n[4]\n!OK\n")) == (frames.RESULT, 8, True)
    finally:
        maker.end(link)
        maker.close()


@contextmanager
def attached() -> Iterator[tuple[ContainerLink, socket.socket]]:
    """A link, and the socket at which the engine would be."""
    ours, engine = socket.socketpair()
    link = ContainerLink("x", SimpleNamespace(_sock=ours, close=lambda: None), lane=0)
    try:
        yield link, engine
    finally:
        engine.close()
        link.close()


@given(st.lists(st.binary(max_size=200), max_size=8), st.data())
def test_the_engines_stream_may_be_cut_anywhere(chunks: list[bytes], data: st.DataObject) -> None:
    """The engine puts eight bytes before each chunk; neither these nor the chunks arrive in one piece."""
    stream = b"".join(b"\1\0\0\0" + len(chunk).to_bytes(4, "big") + chunk for chunk in chunks)
    with attached() as (link, engine):
        got, at = b"", 0
        while at < len(stream):
            size = data.draw(st.integers(1, len(stream) - at))
            engine.sendall(stream[at : at + size])
            got += link.receive() or b""
            at += size
        engine.close()
        assert got == b"".join(chunks)
        assert link.receive() == b""


OUT_OF_STEP = {
    "no stream": b"\3\0\0\0\0\0\0\1",
    "noise": b"\1\0\0\1\0\0\0\1",
    "lying length": b"\1\0\0\0\xff\xff\xff\xff",
}


@pytest.mark.parametrize("header", OUT_OF_STEP.values(), ids=OUT_OF_STEP)
def test_an_engine_out_of_step_is_noticed(header: bytes) -> None:
    with attached() as (link, engine):
        engine.sendall(header + b"x")
        with pytest.raises(LinkError):
            link.receive()


def test_what_a_container_says_on_stderr_is_kept_and_is_no_answer() -> None:
    with attached() as (link, engine):
        engine.sendall(b"\2\0\0\0\0\0\0\5no\nlu\2\0\0\0\0\0\0\3ck\n\1\0\0\0\0\0\0\1x")
        assert link.receive() == b"x"
        assert link.stderr.line() == "luck"
