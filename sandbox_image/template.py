"""The template: a warm process that forks the children and never sees a program or an output.

It forks ahead, a few at a time, because what it touches between two forks it has to copy. With each order come
the children's ends of their sockets; it passes them on by forking, and closes them unread. What a child inherits
is therefore the same for every program. It also keeps the clocks: it is the parent, so only it can kill without
the risk of hitting a process that got the same number later.
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
from collections.abc import Sequence
from resource import RLIMIT_CPU, RLIMIT_NPROC, setrlimit

import child
import frames
import probe
from jail import Jail, fork, hide, pin, trim

BREED, PROBE = b"B", b"P"  # then one byte for each slot, and as many descriptors
ORDER = struct.Struct("<cBIII")
# CLOCK, slot, ms that its program has run for, its CPU and wall time in ms · KILL, slot, reason · MEMORY, slot, MiB
CLOCK, KILL, MEMORY = b"C", b"K", b"M"
READY = 255  # the reason in the answer to MEMORY: the child has this limit
MOST = 32  # children in one order
EXIT = struct.Struct("<BBiII")  # slot, reason, wait status, cpu_us, peak memory in KiB
BACKSTOP_S = 0.02  # a CPU check is never scheduled sooner than this after the one before
PROGRAM_FD = 3
NOTHING = (0, 0)
STACK = 120 << 20  # what the kernel keeps free for it when a process begins; recursion of honest programs is deep


class Child:
    """A child: waiting for its program until its clock is started."""

    __slots__ = ("check", "cpu_s", "pid", "pidfd", "reason", "slot", "started", "wall_s")

    def __init__(self, slot: int, pid: int) -> None:
        self.slot, self.pid = slot, pid
        self.started = self.check = self.cpu_s = self.wall_s = math.inf
        self.pidfd = os.pidfd_open(pid)
        self.reason = frames.ENDED

    def kill(self, reason: int) -> None:
        if self.reason == frames.ENDED:
            self.reason = reason
            os.kill(self.pid, signal.SIGKILL)
        self.check = math.inf


class Template:
    def __init__(self, control: socket.socket, limits: dict[str, int], names: Sequence[str]) -> None:
        self.control, self.limits = control, limits
        self.backstop = (math.ceil(limits["cpu_ms"] / 1000) + 1,) * 2
        self.running: dict[int, Child] = {}
        self.poll = select.poll()
        self.poll.register(control, select.POLLIN)
        pin(limits["lane"])
        self.jail = Jail()
        child.prepare(names)
        self._limit()
        hide()
        gc.collect()
        trim()
        gc.freeze()
        gc.disable()  # a collection in a child would copy every page of this heap

    def _limit(self) -> None:
        """What children may inherit is limited here once; only CPU and NPROC have to wait for the fork."""
        with open("/proc/self/statm", encoding="ascii") as statm:
            self.own = int(statm.read().split()[0]) * resource.getpagesize()
        setrlimit(resource.RLIMIT_AS, self.address_space(self.limits["memory_mb"]))
        for limit in (resource.RLIMIT_FSIZE, resource.RLIMIT_CORE, resource.RLIMIT_MEMLOCK, resource.RLIMIT_MSGQUEUE):
            setrlimit(limit, NOTHING)
        setrlimit(resource.RLIMIT_NOFILE, (64, 64))
        most = resource.getrlimit(resource.RLIMIT_STACK)[1]
        stack = STACK if most == resource.RLIM_INFINITY else min(STACK, most)
        setrlimit(resource.RLIMIT_STACK, (stack, stack))

    def address_space(self, memory_mb: int) -> tuple[int, int]:
        """Of a child: what the template has itself, and the memory of a program."""
        return (self.own + (memory_mb << 20),) * 2

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
        message, passed, _, _ = socket.recv_fds(self.control, 1 + MOST, MOST)
        if not message:
            return False
        verb = message[:1]
        if verb in (BREED, PROBE):
            self.breed(message[1:], passed, verb == PROBE)
        else:
            _, slot, argument, cpu_ms, wall_ms = ORDER.unpack(message)
            for running in self.running.values():
                if running.slot != slot:
                    continue
                if verb == KILL:
                    running.kill(argument)
                elif verb == MEMORY:
                    resource.prlimit(running.pid, resource.RLIMIT_AS, self.address_space(argument))
                    self.control.send(EXIT.pack(slot, READY, 0, 0, 0))
                else:
                    running.cpu_s, running.wall_s = cpu_ms / 1000, wall_ms / 1000
                    running.started = time.monotonic() - argument / 1000
                    running.check = 0.0
        return True

    def breed(self, slots: bytes, fds: list[int], probing: bool) -> None:
        pids = []
        for fd in fds:
            pid = fork()
            if pid == 0:
                self.become_child(fd, probing)
            pids.append(pid)
        for slot, fd, pid in zip(slots, fds, pids, strict=True):
            if pid < 0:
                raise OSError("a child could not be forked")
            os.close(fd)
            running = Child(slot, pid)
            self.running[running.pidfd] = running
            self.poll.register(running.pidfd, select.POLLIN)

    def become_child(self, fd: int, probing: bool) -> None:
        """Everything is given up before the first byte of the program is read."""
        try:
            os.dup2(fd, PROGRAM_FD)
            os.setsid()  # or kill(0) would reach the supervisor
            setrlimit(RLIMIT_CPU, self.backstop)
            setrlimit(RLIMIT_NPROC, NOTHING)
            self.jail.restrict()
            os.closerange(PROGRAM_FD + 1, 64)
            before = probe.limits(self.jail.landlock_abi) if probing else []
            self.jail.enter()
            if probing:
                os.write(PROGRAM_FD, probe.report(before, self.limits["memory_mb"]))
                os._exit(child.FINISHED)
            child.main(PROGRAM_FD, self.limits["max_items"])
        finally:
            os._exit(child.BROKEN)

    def watch(self) -> None:
        now = time.monotonic()
        for running in self.running.values():
            if running.check > now:
                continue
            used = time.clock_gettime((~running.pid << 3) | 2)  # the CPU clock of another process
            elapsed = now - running.started
            if used >= running.cpu_s:
                running.kill(frames.CPU)
            elif elapsed >= running.wall_s and self.is_out_of_time(running, elapsed):
                running.kill(frames.WALL)
            else:
                running.check = now + max(min(running.cpu_s - used, running.wall_s - elapsed), BACKSTOP_S)

    def is_out_of_time(self, running: Child, elapsed: float) -> bool:
        """Time spent waiting for a processor is not the program's: on a busy machine its verdict must be the same."""
        if elapsed >= frames.STARVED * running.wall_s:
            return True
        try:
            with open(f"/proc/{running.pid}/schedstat", encoding="ascii") as file:
                waited = int(file.read().split()[1]) / 1e9
        except OSError:  # a kernel without these numbers
            waited = 0.0
        return elapsed - waited >= running.wall_s

    def reap(self, pidfd: int) -> None:
        running = self.running.pop(pidfd)
        self.poll.unregister(pidfd)
        os.close(pidfd)
        _, status, usage = os.wait4(running.pid, 0)
        cpu = int((usage.ru_utime + usage.ru_stime) * 1e6)
        self.control.send(EXIT.pack(running.slot, running.reason, status, cpu, usage.ru_maxrss))
