"""The supervisor: process 1 of a container. It speaks frames with the host and owns limits and verdicts.

It never runs a program and never forks from a heap that has held one: two templates (forked below, before
the first frame is read) do the forking, and a program goes to its child through a socket that is made
for this one child. Everything it does not expect ends the container: the host replaces it.

What a template has loaded costs each of its children. So one has the modules that nearly every program does with, and
the other all of them; it serves programs that import one of the rest (`imports.py`).

Process 1 cannot be killed from inside its namespace, except by signals it handles; Python handles SIGINT,
so that is reset. The container ends when the host goes away (end of file) or is silent for `idle_s`.
"""

import fcntl
import json
import math
import os
import select
import signal
import socket
import sys
import time
from collections import deque
from collections.abc import Iterable, Sequence

import frames
import imports
import probe
import scope
import template
from host import BAD_FRAME, IDLE_S, LOST_HOST, LOST_TEMPLATE, MOST_CPU, READ, TOLD_S, hello, leave
from jail import hide, pin
from statements import HABITUAL_MODULES, MODULES, MORE_MODULES

LATE_S = 10.0  # how long after the last wall limit the template may stay silent on a child
TICK_S = 0.005
BUNDLE = 16  # replies that wait for each other while there is more to run: every chunk costs the engine two hops
BUNDLE_S = 0.02
MUCH = 1 << 16  # bytes printed; the socket of a program that prints more is polled
imports_more = imports.search_for([*MORE_MODULES, *HABITUAL_MODULES, *scope.packages()])


class Slot:
    """One program that runs: its request, its limits, the socket to its child, and what came back."""

    __slots__ = (
        "busy", "check", "cpu_ms", "deadline", "killed", "most", "number", "nursery", "output", "payload", "ready", "request",
        "script", "shut", "socket", "started", "todo", "wall_ms",
    )  # fmt: skip

    def __init__(
        self,
        nursery: "Nursery",
        request: int,
        link: socket.socket,
        program: bytes,
        number: int,
        cpu_ms: int,
        wall_ms: int,
        ready: bool = True,
    ) -> None:
        self.nursery, self.request, self.socket, self.number = nursery, request, link, number
        self.cpu_ms, self.wall_ms = cpu_ms, wall_ms
        self.ready = ready  # the child has its limits: it may have its program
        self.started = time.monotonic()
        self.check = self.started + min(cpu_ms, wall_ms) / 1000
        self.deadline = self.started + frames.STARVED * wall_ms / 1000 + LATE_S
        self.todo = memoryview(program)
        self.output = bytearray()
        self.killed = False
        self.busy = False  # much goes in or out: its socket is polled
        self.shut = False  # the child has closed its end
        self.payload = b""
        self.script: Script | None = None
        self.most = 1 << 30  # bytes of output


class Script:
    """A script and its inputs: one run after the other, each in a child of its own."""

    __slots__ = ("_head", "_inputs", "_next", "cpu", "memory", "program", "results", "room", "told", "wall")

    def __init__(self, payload: bytes, room: int) -> None:
        body = memoryview(payload)[frames.PROGRAM.size :]
        kind = payload[:1]
        parts, end = [], 0
        for _ in range(1 + (kind == frames.FILES)):
            (size,) = frames.LENGTH.unpack_from(body, end)
            start, end = end + frames.LENGTH.size, end + frames.LENGTH.size + size
            parts.append(body[start:end])
        self.program = bytes(parts[0])
        self._head = kind + body[:end]
        self._inputs = frames.unlisted(body[end:])
        self._next = next(self._inputs, None)
        self.results: list[bytes] = []
        self.cpu = self.wall = self.memory = 0
        self.room = room
        self.told = time.monotonic()

    def message(self) -> bytes:
        """What the next child is handed."""
        given, self._next = self._next, next(self._inputs, None)
        return self._head if given is None else b"".join((self._head, given))

    def goes_on(self, result: bytes, reason: int, status: int, cpu: int, wall: int, memory: int) -> bool:
        """Take what one run came to. True when another follows: a limit that was met, or a text that does not compile, ends
        them all."""
        self.results.append(result)
        self.room -= len(result)
        self.cpu, self.wall, self.memory = self.cpu + cpu, max(self.wall, wall), max(self.memory, memory)
        said = result[result.rfind(frames.END) + len(frames.END) :][:6]
        well = reason == frames.ENDED and status == 0 and said in (b"OK\n", b"RAISED")
        return well and self._next is not None


class Nursery:
    """The children of one template that wait for a program, and the numbers that its children may have."""

    def __init__(self, control: socket.socket, numbers: Iterable[int]) -> None:
        self.control = control
        self.free = list(numbers)
        self.waiting: dict[int, socket.socket] = {}

    def breed(self, verb: bytes = template.BREED, count: int = template.MOST) -> None:
        """Have children forked ahead: in one go they cost the template less, and the programs no wait."""
        numbers = bytes(self.free.pop() for _ in range(min(count, len(self.free))))
        theirs = []
        for number in numbers:
            self.waiting[number], end = socket.socketpair()
            theirs.append(end)
        socket.send_fds(self.control, [verb + numbers], [end.fileno() for end in theirs])
        for end in theirs:
            end.close()

    def order(self, verb: bytes, number: int, argument: int, cpu_ms: int = 0, wall_ms: int = 0) -> None:
        self.control.send(template.ORDER.pack(verb, number, argument, cpu_ms, wall_ms))


class Supervisor:
    def __init__(self, controls: Sequence[socket.socket], limits: dict[str, int]) -> None:
        self.limits = limits
        self.max_output = limits["output_bytes"] + 4096  # the last line and the count are ours
        share = limits["slots"] + limits["ahead"]
        self.nurseries = [Nursery(c, range(i * share, (i + 1) * share)) for i, c in enumerate(controls)]
        self.slots: dict[int, Slot] = {}
        self.pending: deque[tuple[int, bytes, Script | None]] = deque()
        self.replies: list[bytes] = []
        self.oldest = 0.0  # when the first of the replies came
        self.started = 0
        self.poll = select.poll()
        self.by_fd = {nursery.control.fileno(): nursery for nursery in self.nurseries}
        for fd in self.by_fd:
            self.poll.register(fd, select.POLLIN)

    def start(self) -> None:
        """Give programs to children, as many as may run at once."""
        while self.pending and len(self.slots) < self.limits["slots"]:
            request, payload, script = self.pending.popleft()
            kind, cpu_ms, wall_ms, memory_mb = frames.PROGRAM.unpack_from(payload)
            if kind in (frames.SCRIPT, frames.FILES) and script is None:
                script = Script(payload, self.max_output)
            program = kind + payload[frames.PROGRAM.size :] if script is None else script.message()
            text = payload[frames.PROGRAM.size :] if script is None else script.program
            nursery = self.nurseries[imports_more(text)]
            if not nursery.waiting:
                nursery.breed()
            number = next(iter(nursery.waiting))
            self.started += 1
            usual = memory_mb >= self.limits["memory_mb"]
            slot = Slot(nursery, request, nursery.waiting.pop(number), program, self.started, cpu_ms, wall_ms, usual)
            slot.payload, slot.script = payload, script
            slot.most = self.max_output if script is None else script.room
            self.slots[number] = slot
            if usual:
                self.write(slot)
            else:
                nursery.order(template.MEMORY, number, memory_mb)
            if len(nursery.waiting) * 3 <= self.limits["ahead"]:
                nursery.breed()

    def write(self, slot: Slot) -> None:
        """Hand the program over; a long one needs more than one go."""
        try:
            while slot.todo:
                slot.todo = slot.todo[slot.socket.send(slot.todo, socket.MSG_DONTWAIT) :]
            slot.socket.shutdown(socket.SHUT_WR)
        except BlockingIOError:
            return
        except (BrokenPipeError, ConnectionResetError):  # the child ended before it had read all
            slot.todo = slot.todo[:0]

    def read(self, number: int, slot: Slot) -> None:
        """Take what the child wrote so far."""
        try:
            while not slot.killed and not slot.shut:
                chunk = slot.socket.recv(READ, socket.MSG_DONTWAIT)
                slot.shut = not chunk
                slot.output += chunk
                if len(slot.output) > slot.most:
                    slot.killed = True
                    del slot.output[max(0, slot.most) :]
                    slot.nursery.order(template.KILL, number, frames.OUTPUT)
        except (BlockingIOError, ConnectionResetError):
            return

    def serve_long(self) -> None:
        """Programs that outlive one tick may have filled their socket, in either direction, or run out of time.

        Most end sooner: their socket is never polled, which halves the work of this process. Those that read or print much
        are polled, or every buffer would take them a tick.
        """
        now = time.monotonic()
        for number, slot in self.slots.items():
            if slot.busy or slot.started < now - TICK_S:
                if slot.todo and slot.ready:
                    self.write(slot)
                self.read(number, slot)
                self.attend(slot)
            if slot.check < now:
                slot.check = math.inf  # from here on the template looks after it
                slot.nursery.order(template.CLOCK, number, int((now - slot.started) * 1000), slot.cpu_ms, slot.wall_ms)

    def attend(self, slot: Slot) -> None:
        """Poll the socket of a program while much goes in or out."""
        wanted = select.POLLIN if len(slot.output) > MUCH else 0
        wanted |= select.POLLOUT if slot.todo and slot.ready else 0
        if slot.killed or slot.shut:
            wanted = 0
        if wanted:
            self.poll.register(slot.socket, wanted)
        elif slot.busy:
            self.poll.unregister(slot.socket)
        slot.busy = bool(wanted)

    def hear(self, nursery: Nursery) -> None:
        """The template reports a child that has its limits, or that it has reaped: nothing can write to its socket then."""
        message = nursery.control.recv(template.EXIT.size)
        if not message:
            leave(LOST_TEMPLATE)
        number, reason, status, cpu, memory = template.EXIT.unpack(message)
        if number not in self.slots:
            leave(LOST_TEMPLATE)  # a child that ended without a program
        if reason == template.READY:
            self.slots[number].ready = True
            self.write(self.slots[number])
            return
        slot = self.slots.pop(number)
        wall = int((time.monotonic() - slot.started) * 1e6)
        self.read(number, slot)
        if slot.killed and reason == frames.ENDED:
            reason = frames.OUTPUT  # it ended while it was being killed
        if slot.busy:
            self.poll.unregister(slot.socket)
        slot.socket.close()
        nursery.free.append(number)
        output: bytes | bytearray = slot.output
        script = slot.script
        if script is not None:
            if script.goes_on(bytes(output), reason, status, cpu, wall, memory):
                self.pending.appendleft((slot.request, slot.payload, script))
                if time.monotonic() - script.told > TOLD_S:
                    script.told = time.monotonic()
                    self.reply(
                        frames.PING, 0, b""
                    )  # many runs take long: the host is not to think that this one is lost
                return
            cpu, wall, memory = min(script.cpu, MOST_CPU), script.wall, script.memory
            output = frames.listed(script.results)
        report = frames.REPORT.pack(status, reason, 0, cpu, wall, memory, slot.number)
        self.reply(frames.RESULT, slot.request, report + output)

    def reply(self, kind: int, request: int, payload: bytes) -> None:
        if not self.replies:
            self.oldest = time.monotonic()
        self.replies.append(frames.encode(kind, request, payload))

    def turn(self) -> bool:
        """One round of events; True when the host has sent something."""
        host = False
        for fd, _ in self.poll.poll(TICK_S * 1000 if self.slots else 1000):
            if fd == 0:
                host = True
            elif fd in self.by_fd:
                self.hear(self.by_fd[fd])
        self.serve_long()
        self.start()
        return host

    def flush(self) -> None:
        """Send the replies; under load not each by itself."""
        if self.pending and len(self.replies) < BUNDLE and time.monotonic() - self.oldest < BUNDLE_S:
            return
        data = memoryview(b"".join(self.replies))
        self.replies.clear()
        while data:
            data = data[os.write(1, data) :]

    def late(self) -> bool:
        now = time.monotonic()
        return any(slot.deadline < now for slot in self.slots.values())

    def self_check(self) -> list[probe.Finding]:
        """What this container and the children in it really cannot do; of the second child what it keeps not."""
        found = probe.container(self.limits)
        for nursery in self.nurseries:
            nursery.breed(template.PROBE, 1)
            number, link = nursery.waiting.popitem()
            self.slots[number] = Slot(nursery, 0, link, b"", 0, self.limits["cpu_ms"], self.limits["wall_ms"])
            while self.slots:
                self.turn()
                if self.late():
                    leave(LOST_TEMPLATE)
            reply = self.replies.pop()
            inside: list[probe.Finding] = json.loads(reply[frames.HEADER.size + frames.REPORT.size :])
            known = {finding["promise"] for finding in found}
            found += [finding for finding in inside if not finding["ok"] or finding["promise"] not in known]
        return found


def spawn_template(names: Sequence[str]) -> socket.socket:
    """Fork a template with these modules now, while this heap is clean; it gets its limits later."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if os.fork() == 0:
        ours.close()
        null = os.open("/dev/null", os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        os.close(null)
        message = theirs.recv(4096)
        if message:
            template.Template(theirs, json.loads(message), names).serve()
        leave(0)
    theirs.close()
    return ours


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    hide()
    controls = [
        spawn_template(MODULES),
        spawn_template([*MODULES, *MORE_MODULES, *HABITUAL_MODULES, *scope.packages()]),
    ]
    reader = frames.Reader()
    limits, early = hello(reader)
    for control in controls:
        control.send(json.dumps(limits).encode())
    pin(limits["lane"])
    supervisor = Supervisor(controls, limits)
    supervisor.reply(frames.HELLO, 0, json.dumps({"check": supervisor.self_check()}).encode())
    supervisor.poll.register(0, select.POLLIN)
    fcntl.fcntl(0, fcntl.F_SETFL, fcntl.fcntl(0, fcntl.F_GETFL) | os.O_NONBLOCK)
    heard = time.monotonic()
    while True:
        for kind, request, payload in early:
            if kind == frames.PING:
                supervisor.reply(frames.PING, request, payload)
            elif kind == frames.RUN and payload[:1] in frames.KINDS and len(payload) >= frames.PROGRAM.size:
                supervisor.pending.append((request, payload, None))
            else:
                leave(BAD_FRAME)
        early = []
        supervisor.start()
        supervisor.flush()
        if not supervisor.turn():
            if supervisor.late():
                leave(LOST_TEMPLATE)
            if not supervisor.slots and time.monotonic() - heard > IDLE_S:
                leave(LOST_HOST)
            continue
        heard = time.monotonic()
        try:
            chunk = os.read(0, READ)
        except BlockingIOError:
            continue
        if not chunk:
            leave(LOST_HOST)
        early = list(reader.feed(chunk))


if __name__ == "__main__":
    try:
        main()
    except frames.FrameError:
        leave(BAD_FRAME)
    except BaseException as error:
        sys.stderr.write(f"supervisor: {type(error).__name__}: {error}\n")
        leave(BAD_FRAME)
