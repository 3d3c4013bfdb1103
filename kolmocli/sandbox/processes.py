"""Worker processes of the embedded sandbox as links."""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import subprocess
import sys
import time
from dataclasses import asdict

from kolmocli.sandbox import frames
from kolmocli.sandbox.base import Limits
from kolmocli.sandbox.link import Finding, LinkError

GREETING_S = 30.0


class ProcessLink:
    """One worker process and the socket to it."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair()
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "kolmocli.sandbox.embedded_worker"],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                env=os.environ | {"PYTHONHASHSEED": "0"},
            )
        except OSError as error:
            raise LinkError(f"a worker process cannot be started: {error}") from error
        finally:
            theirs.close()
        self.id = f"pid-{self.process.pid}"
        self.findings: list[Finding] = []

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

    def greet(self, limits: Limits) -> None:
        """Wait until the worker has its interpreter."""
        self.send(memoryview(frames.encode(frames.HELLO, 0, json.dumps(asdict(limits)).encode())))
        self._socket.setblocking(False)
        reader, until = frames.Reader(), time.monotonic() + GREETING_S
        while (left := until - time.monotonic()) > 0:
            select.select([self.fileno()], [], [], left)
            chunk = self.receive()
            if chunk == b"":
                raise LinkError("a worker process ended while it started")
            for _ in reader.feed(chunk or b""):
                return
        raise LinkError(f"a worker process did not start within {GREETING_S:.0f} s")

    def close(self) -> int:
        """End the process and its interpreter; the exit status that it had reached by itself, or -9."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(0.05)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, 9)
        self._socket.close()
        return self.process.wait()


class ProcessMaker:
    """Starts and ends worker processes."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def make(self) -> ProcessLink:
        link = ProcessLink()
        try:
            link.greet(self._limits)
        except (LinkError, frames.FrameError) as error:
            link.close()
            raise LinkError(str(error)) from error
        link.findings = _findings(link.process.pid, self._limits)
        return link

    def end(self, link: ProcessLink) -> bool:
        return link.close() != 0

    def answers(self, link: ProcessLink) -> bool:
        return True

    def close(self) -> None:
        """Nothing is held beside the links."""


def _findings(pid: int, limits: Limits) -> list[Finding]:
    """What can be seen of a worker from outside. The interpreter's own walls are its authors' promise."""
    with open(f"/proc/{pid}/limits", encoding="ascii") as file:
        rows = {line[:26].strip(): line[26:].split()[0] for line in file}
    return [
        {
            "promise": "a process of its own",
            "expected": f"not {os.getpid()}",
            "found": str(pid),
            "ok": pid != os.getpid(),
        },
        {
            "promise": "address space of the worker",
            "expected": "limited",
            "found": rows["Max address space"],
            "ok": rows["Max address space"].isdigit(),
        },
        {
            "promise": "core files",
            "expected": "0",
            "found": rows["Max core file size"],
            "ok": rows["Max core file size"] == "0",
        },
    ]
