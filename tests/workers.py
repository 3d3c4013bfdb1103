"""Worker processes of the embedded sandbox that outlive the sandbox they were made for.

To make one and to have it prove its promises takes longer than most tests compute. All are alike, and one that has served a
sandbox serves the next, as it serves program after program. What makes and ends them is tested in `tests/sandbox`, and in every
command that is tested as a process.
"""

from __future__ import annotations

import select
import time
from collections.abc import Iterator
from typing import ClassVar

import pytest

from kolmocli.sandbox.base import Limits
from kolmocli.sandbox.embedded import processes
from kolmocli.sandbox.embedded.processes import ProcessLink, ProcessMaker
from kolmocli.sandbox.pool.link import LinkError
from kolmocli.sandbox.wire import frames

_LAST = 0xFFFFFFFF
_PATIENCE_S = 2.0


class KeepingMaker(ProcessMaker):
    """Takes a worker that is idle, if there is one of these limits, and keeps what still answers when it is to be ended."""

    idle: ClassVar[dict[Limits, list[ProcessLink]]] = {}
    keeps: ClassVar[bool] = False

    def make(self) -> ProcessLink:
        try:
            link = self.idle.setdefault(self._limits, []).pop()
        except IndexError:
            return super().make()
        self._findings = self._findings or link.findings
        return link

    def end(self, link: ProcessLink) -> bool:
        if not self.keeps or not _is_idle(link):
            return super().end(link)
        self.idle.setdefault(self._limits, []).append(link)
        return False


@pytest.fixture(scope="package", autouse=True)
def workers_stay() -> Iterator[None]:
    """Imported into a `conftest.py`: the embedded sandboxes of that folder's tests keep their workers for the next one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(processes, "ProcessMaker", KeepingMaker)
        patch.setattr(KeepingMaker, "keeps", True)
        yield
    for link in (link for links in KeepingMaker.idle.values() for link in links):
        link.close()
    KeepingMaker.idle.clear()


def _is_idle(link: ProcessLink) -> bool:
    """Whether it answers soon, when all that was under way there has been answered, which nobody waits for any more."""
    reader, until = frames.Reader(), time.monotonic() + _PATIENCE_S
    poll = select.poll()
    poll.register(link, select.POLLIN)
    try:
        ping = frames.encode(frames.PING, _LAST)
        if link.send(memoryview(ping)) < len(ping):
            return False
        while (left := until - time.monotonic()) > 0:
            poll.poll(left * 1000)
            if (chunk := link.receive()) == b"":
                return False
            if any(number == _LAST for _, number, _ in reader.feed(chunk or b"")):
                return True
    except (LinkError, frames.FrameError):
        pass
    return False
