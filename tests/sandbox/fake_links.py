"""A container of the imagination: a thread behind a socket that obeys the text of its programs.

die       end, by its own fault          lost      end, by someone else's hand
silent    never answer                   garble    answer with noise
strange   answer a request nobody made   twice     answer twice
starved   use up all patience            else      answer OK with the value 1
"""

from __future__ import annotations

import contextlib
import itertools
import socket
import threading
import time

from kolmocli.errors import CheckError
from kolmocli.sandbox.pool.link import LinkError, SocketLink
from kolmocli.sandbox.wire import frames

STARVED = frames.REPORT.pack(9, frames.WALL, 0, 1000, 60_000_000, 1, 1)
OK = frames.REPORT.pack(0, 0, 0, 1000, 1000, 1, 1) + b"1\n[1]\n!OK\n"


class FakeLink(SocketLink):
    def __init__(self, number: int) -> None:
        ours, self._other = socket.socketpair()
        super().__init__("a container of the imagination", f"fake-{number}", ours)
        self.findings = [{"promise": "fake", "expected": "", "found": "", "ok": True}]
        self.ran: list[str] = []
        self.own_fault = False
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):  # the pool has hung up
            self._obey()

    def _obey(self) -> None:
        reader = frames.Reader()
        while chunk := self._other.recv(1 << 16):
            for _, request, payload in reader.feed(chunk):
                program = payload[frames.PROGRAM.size :].decode()
                self.ran.append(program)
                if program in ("die", "lost"):
                    self.own_fault = program == "die"
                    self._other.close()
                    return
                if program == "garble":
                    self._other.sendall(b"noise" * 10)
                elif program == "starved":
                    self._other.sendall(frames.encode(frames.RESULT, request, STARVED))
                elif program == "strange":
                    self._other.sendall(frames.encode(frames.RESULT, request + 1000, OK))
                elif program != "silent":
                    time.sleep(0.001 * (program == "slow"))
                    self._other.sendall(frames.encode(frames.RESULT, request, OK) * (2 if program == "twice" else 1))

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # closed alone it stays open while another thread waits for it
        self._socket.close()
        self._thread.join(5)
        self._other.close()


class FakeMaker:
    """`failures` makes fail first; `refuse` breaks a promise from the given make on; `answer_s` delays the engine."""

    def __init__(self, failures: int = 0, refuse: int | None = None, answer_s: float = 0.0) -> None:
        self.links: list[FakeLink] = []
        self.failures, self.refuse, self.answer_s = failures, refuse, answer_s
        self._numbers = itertools.count()

    def make(self) -> FakeLink:
        number = next(self._numbers)
        if self.refuse is not None and number >= self.refuse:
            raise CheckError("a promise does not hold")
        if 0 < number <= self.failures:
            raise LinkError("no luck")
        link = FakeLink(number)
        self.links.append(link)
        return link

    def end(self, link: FakeLink) -> bool:
        link.close()
        return link.own_fault

    def answers(self, link: FakeLink) -> bool:
        time.sleep(self.answer_s)
        return True

    def close(self) -> None:
        """Nothing is held."""
