"""The CPU clock of the embedded sandbox: it ends an interpreter whose program has used its time."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from pathlib import Path


class Watch(threading.Thread):
    """Ends the interpreter's process when the program has used its CPU time; the pool starts another.

    The interpreter itself only knows the wall clock, and on a busy machine that would make a verdict depend on
    what else runs.
    """

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.cpu_s = 0.0
        self.pid = 0
        self.fired = False
        self._base = 0.0
        self._on = threading.Event()

    def forget(self) -> None:
        """The interpreter has been replaced: look for its process again. A dead one's clock may still be readable."""
        self.pid = 0

    def begin(self, cpu_s: float) -> None:
        """A program starts that may use `cpu_s` seconds: from here its CPU time counts."""
        self.cpu_s, self.fired = cpu_s, False
        if not self._clock():
            self.pid = _youngest_child()
        self._base = self._clock() + time.process_time()
        self._on.set()

    def end(self) -> float:
        """The program has ended; the CPU seconds that it used."""
        self._on.clear()
        return self.cpu_s if self.fired else self._used()

    def _used(self) -> float:
        """Time of the interpreter, and of this process on its behalf: parsing, passing on what it prints."""
        return max(0.0, self._clock() + time.process_time() - self._base)

    def _clock(self) -> float:
        try:
            return time.clock_gettime((~self.pid << 3) | 2) if self.pid else 0.0
        except OSError:  # the process is gone
            return 0.0

    def run(self) -> None:
        while True:
            self._on.wait()
            time.sleep(0.02)
            if self._on.is_set() and self._used() >= self.cpu_s:
                self.fired = True
                self._on.clear()
                if self.pid:  # 0 would be this process and all of its group
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(self.pid, signal.SIGKILL)


def _youngest_child() -> int:
    """The process number of the interpreter. One that was killed may still be about, on a busy machine not even as a
    zombie yet: the one that took its place was started later.
    """
    own, found = str(os.getpid()), (0, 0)
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text("utf-8", "replace").rpartition(")")[2].split()
        except OSError:  # a process that ended in the meantime
            continue
        state, parent, started = fields[0], fields[1], int(fields[19])
        if parent == own and state != "Z":
            found = max(found, (started, int(stat.parent.name)))
    return found[1]
