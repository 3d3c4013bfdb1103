"""Worker processes of the embedded sandbox as links."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import threading
from dataclasses import asdict
from pathlib import Path
from typing import IO

from kolmocli.sandbox.base import Limits
from kolmocli.sandbox.embedded.runtime import find_interpreter
from kolmocli.sandbox.pool.link import Finding, LinkError, SocketLink, broken_promise, with_reason
from kolmocli.sandbox.wire import frames

GREETING_S = 30.0
ENDING_S = 1.0
"""All that hold the stream are dead when it is waited for; one that is not yet may keep its last words."""


class ProcessLink(SocketLink):
    """One worker process and the socket to it."""

    def __init__(self, interpreter: Path) -> None:
        ours, theirs = socket.socketpair()
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "kolmocli.sandbox.embedded.worker", str(interpreter)],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                start_new_session=True,
                env=os.environ | {"PYTHONHASHSEED": "0"},
            )
        except OSError as error:
            ours.close()
            raise LinkError(f"a worker process cannot be started: {error}") from error
        finally:
            theirs.close()
        super().__init__("a worker process", f"pid-{self.process.pid}", ours)
        assert self.process.stderr
        self._listening = threading.Thread(target=self._listen, args=(self.process.stderr,), daemon=True)
        self._listening.start()

    def _listen(self, stream: IO[bytes]) -> None:
        """Read what it says as it is said: a full pipe would hold it up."""
        with stream:
            while said := os.read(stream.fileno(), 1 << 16):
                self.stderr.add(said)

    def close(self) -> int:
        """End the process and its interpreter; the exit status that it had reached by itself, or -9."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(0.05)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, 9)
        self._socket.close()
        status = self.process.wait()
        self._listening.join(ENDING_S)
        return status


class ProcessMaker:
    """Starts and ends worker processes. The first one proves what all of them promise: they are all alike."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._interpreter = find_interpreter()
        self._findings: list[Finding] = []

    def make(self) -> ProcessLink:
        link = ProcessLink(self._interpreter)
        try:
            link.greet(asdict(self._limits) | {"prove": not self._findings}, GREETING_S)
        except (LinkError, frames.FrameError) as error:
            link.close()
            raise LinkError(with_reason(str(error), link.stderr)) from error
        link.findings = self._findings = self._findings or link.findings
        if broken := broken_promise(link.findings, "the embedded interpreter"):
            link.close()
            raise broken
        return link

    def end(self, link: ProcessLink) -> bool:
        return link.close() != 0

    def answers(self, link: ProcessLink) -> bool:
        return True

    def close(self) -> None:
        """Nothing is held but the links."""
