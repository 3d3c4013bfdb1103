"""The pool's view of a place that runs programs: a container, or a worker process."""

from __future__ import annotations

import json
import select
import socket
import time
from typing import Any, Protocol, TypeVar

from kolmocli.errors import CheckError
from kolmocli.sandbox.pool.stderr import Tail
from kolmocli.sandbox.wire import frames

Finding = dict[str, Any]


class LinkError(Exception):
    """A container or its daemon failed; says nothing about the programs."""


class Link(Protocol):
    """One connection to one supervisor, past its greeting. Never blocks."""

    id: str
    findings: list[Finding]
    stderr: Tail
    """Complete when it has been ended."""

    def fileno(self) -> int: ...

    def send(self, data: memoryview) -> int:
        """Bytes taken, 0 when the pipe is full. Raises LinkError when it is broken."""
        ...

    def receive(self) -> bytes | None:
        """Bytes of frames, None when there are none yet, b"" when the other side has ended."""
        ...


class SocketLink:
    """A link over a stream socket. `kind` says in messages what is at its other end, such as "a container"."""

    def __init__(self, kind: str, name: str, stream: socket.socket) -> None:
        self.id, self.kind = name, kind
        self.findings: list[Finding] = []
        self.stderr = Tail()
        self._socket = stream
        self._socket.setblocking(False)

    def fileno(self) -> int:
        return self._socket.fileno()

    def send(self, data: memoryview) -> int:
        try:
            return self._socket.send(data)
        except BlockingIOError:
            return 0
        except OSError as error:
            raise LinkError(str(error)) from error

    def receive(self) -> bytes | None:
        try:
            return self._socket.recv(1 << 18)
        except BlockingIOError:
            return None
        except OSError:
            return b""

    def greet(self, greeting: dict[str, int], seconds: float) -> None:
        """Speak first, as the other side is silent until then and nothing can be lost; it answers with its findings.

        Blocks for at most `seconds`. Raises LinkError or FrameError when the answer is not one.
        """
        data = memoryview(frames.encode(frames.HELLO, 0, json.dumps(greeting).encode()))
        reader, until, poll = frames.Reader(), time.monotonic() + seconds, select.poll()
        while (left := until - time.monotonic()) > 0:
            poll.register(self, select.POLLIN | (select.POLLOUT if data else 0))
            poll.poll(left * 1000)
            if data:
                data = data[self.send(data) :]
            chunk = self.receive()
            if chunk == b"":
                raise LinkError(f"{self.kind} ended while it was greeted")
            for kind, _, payload in reader.feed(chunk or b""):
                if kind != frames.HELLO:
                    raise LinkError(f"{self.kind} answered its greeting with something else")
                self.findings = json.loads(payload)["check"]
                return
        raise LinkError(f"{self.kind} did not answer its greeting within {seconds:.0f} s")


def with_reason(what: str, stderr: Tail) -> str:
    """The words, and the last line that the other side wrote on stderr."""
    return f"{what}: {line}" if (line := stderr.line()) else what


def broken_promise(findings: list[Finding], keeper: str) -> CheckError | None:
    """The error of a place that does not keep what it promises, or does not say so; None when all is well."""
    if not findings:
        return CheckError(f"{keeper} says nothing of what it enforces; nothing is run")
    broken = [finding for finding in findings if not finding["ok"]]
    if not broken:
        return None
    first = broken[0]
    return CheckError(
        f"{keeper} does not keep what the sandbox promises: {first['promise']} "
        f"(expected {first['expected']}, found {first['found']}); nothing is run"
    )


AnyLink = TypeVar("AnyLink", bound=Link)


class Maker(Protocol[AnyLink]):
    """Makes and ends links. Its methods block, and are called from several threads."""

    def make(self) -> AnyLink:
        """A new link, greeted and checked. Raises LinkError (try again) or KolmoError (do not)."""
        ...

    def end(self, link: AnyLink) -> bool:
        """Remove it whatever its state; True when it had ended on its own, not by someone's hand."""
        ...

    def answers(self, link: AnyLink) -> bool:
        """Whether the engine behind the link answers at all; may take long when it does not."""
        ...

    def close(self) -> None: ...
