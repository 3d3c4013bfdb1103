"""One process of a compiler or a program: started behind a fence, fed, watched and ended.

What it prints comes through pipes that end with it; what it came to is found out by its parent alone, so that there is nothing in
it that could say something else. Time spent waiting for a processor is not counted, as for programs in Python.
"""

import contextlib
import fcntl
import os
import resource
import select
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import fence
import frames
import host
import jail

TICK_MS, PAUSE_MS = 5, 1
MUCH = 1 << 15  # of the 64 KiB that a pipe holds
_READ = 1 << 18
_TOLD = 8_192
"""Bytes of stderr that are kept, at its beginning and at its end."""
_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "HOME": fence.SCRATCH, "TMPDIR": fence.SCRATCH, "LC_ALL": "C"}
_F_SETPIPE_SZ = 1031
_PAGE = resource.getpagesize()


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of one process; 0 where there is none. Seconds and bytes."""

    cpu_s: float
    wall_s: float
    memory: int = 0
    """Resident: what it has touched."""
    output: int = 0
    file: int = 0
    stack: int = 8 << 20
    space: int = 0
    """Address space, for processes that are not watched one by one."""


@dataclass(slots=True)
class Ended:
    """The end of a process."""

    status: int
    reason: int
    """Why it was killed, as in a report."""
    too_large: bool
    cpu_us: int
    wall_us: int
    memory_kb: int
    printed: bytes
    errors: str


class Running:
    """A process from its start to its end."""

    def __init__(self, command: Sequence[str], behind: fence.Fence, bounds: Bounds, given: bytes | memoryview) -> None:
        self.bounds, self.left = bounds, memoryview(given)
        self.reason, self.too_large = frames.ENDED, False
        self.printed, self.errors = bytearray(), bytearray()
        self.much = True
        self.started = time.monotonic()
        self.at_fork = _resident("self")
        stdin, self.stdin = os.pipe()
        self.stdout, stdout = os.pipe()
        self.stderr, stderr = os.pipe()
        with contextlib.suppress(
            OSError
        ):  # node loses what does not fit in at once when its program calls `process.exit`
            fcntl.fcntl(stdout, _F_SETPIPE_SZ, 1 << 20)
        failed, failing = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            _become(command, behind, bounds, (stdin, stdout, stderr), failing)
        for fd in (stdin, stdout, stderr, failing):
            os.close(fd)
        self.pidfd = os.pidfd_open(self.pid)
        said = os.read(failed, 200)
        os.close(failed)
        if said:
            raise OSError(f"{command[0]} cannot be started: {said.decode('utf-8', 'replace')}")
        for fd in (self.stdin, self.stdout, self.stderr):
            os.set_blocking(fd, False)

    def wait(self, beat: Callable[[], None]) -> Ended:
        """Until it has ended; `beat` is called all the while. Afterwards nothing else runs in the container."""
        poll = select.poll()
        for fd, events in {
            0: 0, self.pidfd: select.POLLIN, self.stdout: select.POLLIN, self.stderr: select.POLLIN, self.stdin: select.POLLOUT,
        }.items():  # fmt: skip
            poll.register(fd, events)
        end = select.poll()
        end.register(self.pidfd, select.POLLIN)
        open_ends = {self.stdin, self.stdout, self.stderr}
        alive = True
        while alive:
            self.much = True
            for fd, _ in poll.poll(TICK_MS):
                if fd == 0:
                    host.leave(host.LOST_HOST)
                alive = alive and fd != self.pidfd
                if fd in open_ends and not (self._feed() if fd == self.stdin else self._take(fd)):
                    poll.unregister(fd)
                    os.close(fd)
                    open_ends.remove(fd)
            if alive and not self.much:  # a program that prints line by line is not to wake this process for each
                alive = not end.poll(PAUSE_MS)
            if alive:
                self._watch()
            beat()
        for fd in open_ends & {self.stdout, self.stderr}:
            self._take(fd)
        for fd in (self.pidfd, *open_ends):
            os.close(fd)
        return self._ended()

    def _ended(self) -> Ended:
        _, status, usage = os.wait4(self.pid, 0)
        wall, cpu = time.monotonic() - self.started, usage.ru_utime + usage.ru_stime
        sweep()
        memory = usage.ru_maxrss << 10
        if self.reason == frames.ENDED and cpu >= self.bounds.cpu_s:
            self.reason = frames.CPU
        if self.bounds.memory and self.reason == frames.ENDED:
            killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL  # by the limit of the container
            # what the supervisor had itself is in the figure, until the program is loaded
            self.too_large = self.too_large or killed or memory > max(self.bounds.memory, self.at_fork)
        errors = self.errors.decode("utf-8", "replace")
        return Ended(
            status, self.reason, self.too_large, int(cpu * 1e6), int(wall * 1e6), memory >> 10, bytes(self.printed), errors
        )  # fmt: skip

    def _feed(self) -> bool:
        """Hand over more of the input; False when there is no more to do."""
        try:
            self.left = self.left[os.write(self.stdin, self.left[:_READ]) :]
        except BlockingIOError:
            return True
        except BrokenPipeError:  # it does not want the rest
            return False
        return bool(self.left)

    def _take(self, fd: int) -> bool:
        """Take what was printed; False when there will be no more."""
        while not self.reason:
            try:
                chunk = os.read(fd, _READ)
            except BlockingIOError:
                return True
            if not chunk:
                return False
            self.much = len(chunk) >= MUCH
            if fd == self.stdout:
                self.printed += chunk
                if len(self.printed) > self.bounds.output:
                    del self.printed[self.bounds.output :]
                    self._kill(frames.OUTPUT)
            else:
                self.errors += chunk
                del self.errors[_TOLD:-_TOLD]
        return True

    def _watch(self) -> None:
        elapsed = time.monotonic() - self.started
        bounds = self.bounds
        if time.clock_gettime((~self.pid << 3) | 2) >= bounds.cpu_s:  # the CPU clock of another process
            self._kill(frames.CPU)
        elif elapsed >= bounds.wall_s and self._is_out_of_time(elapsed):
            self._kill(frames.WALL)
        elif bounds.memory and _resident(self.pid) > bounds.memory:
            self.too_large = True
            self._kill(frames.ENDED)

    def _is_out_of_time(self, elapsed: float) -> bool:
        if elapsed >= frames.STARVED * self.bounds.wall_s:
            return True
        waited = 0.0
        with contextlib.suppress(OSError):  # a kernel without these numbers, or a thread that has ended
            for thread in os.listdir(f"/proc/{self.pid}/task"):
                with open(f"/proc/{self.pid}/task/{thread}/schedstat", encoding="ascii") as file:
                    waited += int(file.read().split()[1]) / 1e9  # one after the other, or their CPU time decides
        return elapsed - waited >= self.bounds.wall_s

    def _kill(self, reason: int) -> None:
        if self.reason == frames.ENDED:
            self.reason = reason
        os.kill(self.pid, signal.SIGKILL)


def _become(
    command: Sequence[str], behind: fence.Fence, bounds: Bounds, ends: tuple[int, int, int], failing: int
) -> None:
    """In the new process: give everything up, and become the compiler or the program. All other descriptors close by that."""
    try:
        os.setsid()
        for number, end in enumerate(ends):
            os.dup2(end, number)
        jail.show()  # or what follows could not be written; another program begins shown anyway
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
            file.write("1000")  # the kernel ends this one, and never the supervisor
        limit(bounds)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        behind.enter()
        os.execve(command[0], list(command), _ENVIRONMENT)
    except BaseException as error:
        os.write(failing, str(error).encode("utf-8", "replace"))
    finally:
        os._exit(127)


def limit(bounds: Bounds) -> None:
    """The limits that a process has by itself, whoever watches it."""
    seconds = int(bounds.cpu_s) + 2
    limits = {
        "CPU": seconds, "FSIZE": bounds.file, "CORE": 0, "MEMLOCK": 0, "MSGQUEUE": 0, "NOFILE": 64, "STACK": bounds.stack,
    }  # fmt: skip
    if bounds.space:
        limits["AS"] = bounds.space
    for name, most in limits.items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (most, most))


def sweep() -> None:
    """End all that is left in this container but process 1, which is exempt."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)
    try:
        while True:
            os.waitpid(-1, 0)
    except ChildProcessError:
        return


def inside(behind: fence.Fence, bounds: Bounds, function: Callable[[], bytes]) -> bytes:
    """The answer of this function from a process behind this fence."""
    answered, answering = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            limit(bounds)
            behind.enter()
            os.write(answering, function())
        finally:
            os._exit(0)
    os.close(answering)
    with open(answered, "rb") as stream:
        answer = stream.read()
    os.waitpid(pid, 0)
    return answer


def _resident(pid: int | str) -> int:
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * _PAGE
    except (OSError, IndexError):  # it is about to end
        return 0
