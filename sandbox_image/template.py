"""The template: a warm process that forks one child per program and never sees a program or an output.

It gets the child's end of a socket with each order, passes it on by forking, and closes it unread. What a
child inherits is therefore the same for every program. It also keeps the clocks: it is the parent, so only
it can kill without the risk of hitting a process that got the same number later.
"""

import gc
import math
import os
import resource
import select
import signal
import socket
import struct
import time

import child
import frames
import probe
from jail import Jail, hide

ORDER = struct.Struct("<cBc")  # b"R", slot, language · b"K", slot, reason
EXIT = struct.Struct("<BBiIII")  # slot, reason, wait status, cpu_us, wall_us, peak memory in KiB
BACKSTOP_S = 0.02  # a CPU check is never scheduled sooner than this after the one before
STARVED = 4  # a child that waits for a processor gets up to this many times its wall time
PROGRAM_FD = 3


class Running:
    __slots__ = ("check", "pid", "pidfd", "reason", "slot", "started")

    def __init__(self, slot: int, pid: int, started: float, check: float) -> None:
        self.slot, self.pid, self.started, self.check = slot, pid, started, check
        self.pidfd = os.pidfd_open(pid)
        self.reason = frames.ENDED

    def kill(self, reason: int) -> None:
        if self.reason == frames.ENDED:
            self.reason = reason
            os.kill(self.pid, signal.SIGKILL)
        self.check = math.inf


class Template:
    def __init__(self, control: socket.socket, limits: dict[str, int]) -> None:
        self.control, self.limits = control, limits
        self.cpu_s, self.wall_s = limits["cpu_ms"] / 1000, limits["wall_ms"] / 1000
        self.running: dict[int, Running] = {}
        self.poll = select.poll()
        self.poll.register(control, select.POLLIN)
        self.jail = Jail()
        child.prepare()
        self._limit()
        hide()
        gc.collect()
        gc.freeze()
        gc.disable()  # a collection in a child would copy every page of this heap

    def _limit(self) -> None:
        """What children may inherit is limited here once; only CPU and NPROC have to wait for the fork."""
        with open("/proc/self/statm", encoding="ascii") as statm:
            own = int(statm.read().split()[0]) * resource.getpagesize()
        memory = own + (self.limits["memory_mb"] << 20)
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (0, 0))
        resource.setrlimit(resource.RLIMIT_MSGQUEUE, (0, 0))
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))

    def serve(self) -> None:
        """Until the supervisor closes its end."""
        while True:
            now = time.monotonic()
            soonest = min((r.check for r in self.running.values()), default=math.inf)
            timeout = None if soonest == math.inf else max(0, math.ceil((soonest - now) * 1000))
            for fd, _ in self.poll.poll(timeout):
                if fd != self.control.fileno():
                    self.reap(fd)
                elif not self.order():
                    return
            self.watch()

    def order(self) -> bool:
        message, passed, _, _ = socket.recv_fds(self.control, ORDER.size, 1)
        if not message:
            return False
        verb, slot, argument = ORDER.unpack(message)
        if verb == b"R":
            self.start(slot, argument, passed[0])
        else:
            for running in self.running.values():
                if running.slot == slot:
                    running.kill(argument[0])
        return True

    def start(self, slot: int, language: bytes, fd: int) -> None:
        started = time.monotonic()
        pid = os.fork()
        if pid == 0:
            self.become_child(language, fd)
        os.close(fd)
        running = Running(slot, pid, started, started + min(self.cpu_s, self.wall_s))
        self.running[running.pidfd] = running
        self.poll.register(running.pidfd, select.POLLIN)

    def become_child(self, language: bytes, fd: int) -> None:
        """Everything is given up before the first byte of the program is read."""
        try:
            os.dup2(fd, PROGRAM_FD)
            os.setsid()  # or kill(0) would reach the supervisor
            seconds = math.ceil(self.cpu_s) + 1
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
            resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
            self.jail.restrict()
            os.closerange(PROGRAM_FD + 1, 64)
            before = probe.limits(self.jail.landlock_abi) if language == frames.PROBE else []
            self.jail.enter()
            if language == frames.PROBE:
                os.write(PROGRAM_FD, probe.report(before, self.limits["memory_mb"]))
                os._exit(child.FINISHED)
            child.main(PROGRAM_FD, language, self.limits["max_items"])
        finally:
            os._exit(child.BROKEN)

    def watch(self) -> None:
        now = time.monotonic()
        for running in self.running.values():
            if running.check > now:
                continue
            used = time.clock_gettime((~running.pid << 3) | 2)  # the CPU clock of another process
            elapsed = now - running.started
            if used >= self.cpu_s:
                running.kill(frames.CPU)
            elif elapsed >= self.wall_s and self.is_out_of_time(running.pid, elapsed):
                running.kill(frames.WALL)
            else:
                running.check = now + max(min(self.cpu_s - used, self.wall_s - elapsed), BACKSTOP_S)

    def is_out_of_time(self, pid: int, elapsed: float) -> bool:
        """Time spent waiting for a processor is not the program's: on a busy machine its verdict must be the same."""
        if elapsed >= STARVED * self.wall_s:
            return True
        try:
            with open(f"/proc/{pid}/schedstat", encoding="ascii") as file:
                waited = int(file.read().split()[1]) / 1e9
        except OSError:  # a kernel without these numbers
            waited = 0.0
        return elapsed - waited >= self.wall_s

    def reap(self, pidfd: int) -> None:
        running = self.running.pop(pidfd)
        self.poll.unregister(pidfd)
        os.close(pidfd)
        _, status, usage = os.wait4(running.pid, 0)
        cpu = int((usage.ru_utime + usage.ru_stime) * 1e6)
        wall = int((time.monotonic() - running.started) * 1e6)
        self.control.send(EXIT.pack(running.slot, running.reason, status, cpu, wall, usage.ru_maxrss))
