"""Process 1 of a container for C++ and JavaScript: it compiles a program once, runs it for each input, and says what it came to.

One program at a time. Each input is read by a process of its own, behind a fence (`fence.py`) within which it can write
nothing and start nothing; what it prints and how it ends is seen from outside (`running.py`). After each process everything else in the
container is ended, and after each program the scratch folder is empty again.

As in the containers for Python, everything that is not expected ends this one: the host replaces it.
"""

import functools
import json
import math
import os
import re
import select
import shutil
import signal
import sys
import time
from collections.abc import Callable

import fence
import frames
import host
import jail
import probe
from running import Bounds, Ended, Running, inside, sweep

COMPILER = [
    "/usr/bin/g++", "-O2", "-std=gnu++20", "-static", "-w", "-fmax-errors=1", "-fdiagnostics-color=never", "-pipe",
]  # fmt: skip
COMPILING = Bounds(cpu_s=10, wall_s=120, output=1 << 16, file=32 << 20, stack=64 << 20, space=1 << 30)
NODE_MB = 64
"""What node itself takes before its program has anything."""
_LANGUAGES = {frames.CPP: "cpp", frames.JAVASCRIPT: "javascript"}
_ERROR = re.compile(r":(\d+):\d+: (?:fatal )?error: (.*)")
_THROWN = re.compile(r"^terminate called (?:after throwing an instance of '(.+)'|\S.*)$", re.MULTILINE)
_RAISED = re.compile(r"^(?:Uncaught )?([\w$]*(?:Error|Exception))\b", re.MULTILINE)
_OF_MODULE = re.compile(
    r"^SYNTAX SyntaxError: (?:Cannot use import statement|Unexpected token 'export'|await is only valid)"
)
"""What a script says that is a module. Node 22 runs it as one by itself."""
_TRIED = {
    "cpp": b'extern "C" int puts(const char*);\nint main() { puts("well"); }\n',
    "javascript": b'console.log("well")\n',
}  # fmt: skip
_MUST_BE_KILLED = (signal.SIGABRT, signal.SIGTRAP, signal.SIGILL)
"""How node ends without memory."""


class Report:
    """What is known so far of a program: the result of each input, and the figures of all of them."""

    def __init__(self, room: int) -> None:
        self.results: list[bytes] = []
        self.room = room
        self.cpu = self.wall = self.memory = self.status = 0
        self.reason = frames.ENDED

    def add(self, ended: Ended, words: str) -> None:
        self.results.append(ended.printed + frames.said(words))
        self.room -= len(ended.printed)
        self.reason = ended.reason
        self.cpu, self.wall = self.cpu + ended.cpu_us, max(self.wall, ended.wall_us)
        self.memory = max(self.memory, ended.memory_kb)

    def packed(self, number: int) -> bytes:
        cpu = min(self.cpu, host.MOST_CPU)
        head = frames.REPORT.pack(self.status, self.reason, 0, cpu, self.wall, self.memory, number)
        return head + frames.listed(self.results)


class Bench:
    """The place where programs are compiled and run."""

    def __init__(self, limits: dict[str, int]) -> None:
        self.limits = limits
        self.number = 0
        self.told = math.inf
        """When the host last heard of this container; it is told nothing before it was greeted."""

    def judged(self, payload: bytes) -> bytes:
        """The report of the program in the payload of a RUN frame."""
        self.number += 1
        kind, cpu_ms, wall_ms, memory_mb = frames.PROGRAM.unpack_from(payload)
        program, more = frames.cut(payload[frames.PROGRAM.size :])
        report = Report(self.limits["output_bytes"])
        try:
            self._judge(_LANGUAGES[kind], program, more, (cpu_ms, wall_ms, memory_mb), report)
        finally:
            self.clear()
        return report.packed(self.number)

    def _judge(self, language: str, program: bytes, more: bytes, limits: tuple[int, int, int], report: Report) -> None:
        with open(fence.SOURCES[language], "wb") as file:
            file.write(program)
        if language == "cpp" and not self._compile(report, limits[1]):
            return
        cpu_ms, wall_ms, memory_mb = limits
        memory = memory_mb + NODE_MB * (language == "javascript")
        stack = memory_mb * 3 // 4 if language == "cpp" else 8
        for given in frames.unlisted(more):
            bounds = Bounds(cpu_ms / 1000, wall_ms / 1000, memory << 20, report.room, stack=stack << 20)
            ended, words = self._ran(language, bounds, given, memory_mb)
            if language == "javascript" and _OF_MODULE.match(words):
                language = "module"
                os.rename(fence.SOURCES["javascript"], fence.SOURCES["module"])
                ended, words = self._ran(language, bounds, given, memory_mb)
            report.add(ended, words)
            if os.WIFSIGNALED(ended.status) and words == "SIGNAL":
                report.status = ended.status
            if ended.reason != frames.ENDED or not words.startswith(("OK", "RAISED")):
                return

    def _ran(self, language: str, bounds: Bounds, given: bytes | memoryview, memory_mb: int) -> tuple[Ended, str]:
        """The end of the program on this input, as its process and as its result have it."""
        node = [fence.NODE, f"--max-old-space-size={memory_mb}", fence.SOURCES[language]]
        command = [fence.BINARY] if language == "cpp" else node
        ended = self._run(command, fence.of_program(language), bounds, given)
        return ended, self._words(language, ended)

    def _compile(self, report: Report, wall_ms: int) -> bool:
        """Whether it compiles. One that waits too long for a processor is not to blame, and is run again."""
        command = [*COMPILER, "-o", fence.BINARY, fence.SOURCES["cpp"]]
        ended = self._run(command, fence.of_compiler(), COMPILING, b"")
        if ended.reason == frames.WALL:
            report.add(ended, "")
            report.wall = max(report.wall, frames.STARVED * wall_ms * 1000)
            return False
        if ended.reason == frames.ENDED and ended.status == 0:
            return True
        words = "compiling takes too long" if ended.reason == frames.CPU else _first_error(ended.errors)
        report.results.append(frames.said(f"SYNTAX {words}"))
        return False

    def _run(self, command: list[str], behind: fence.Fence, bounds: Bounds, given: bytes | memoryview) -> Ended:
        try:
            return Running(command, behind, bounds, given).wait(self.beat)
        finally:
            behind.close()

    def _words(self, language: str, ended: Ended) -> str:
        """How one run ended, as the last line of its result says it."""
        if ended.too_large:
            return "MLE"
        if os.WIFSIGNALED(ended.status):
            number = os.WTERMSIG(ended.status)
            if language != "cpp":
                spent = number in _MUST_BE_KILLED and "out of memory" in ended.errors
                return "MLE" if spent else "SIGNAL"
            thrown = _THROWN.search(ended.errors) if number == signal.SIGABRT else None
            if thrown is None:
                return "SIGNAL"
            return "MLE" if thrown[1] == "std::bad_alloc" else f"RAISED {thrown[1] or 'terminate'}"
        code = os.waitstatus_to_exitcode(ended.status)
        if code == 0:
            return "OK"
        raised = _RAISED.search(ended.errors) if language != "cpp" else None
        if raised is None:
            return f"RAISED exit status {code}"
        if raised[1] == "SyntaxError" and (fault := self._fault(language)):
            return f"SYNTAX {fault}"
        return f"RAISED {raised[1]}"

    def _fault(self, language: str) -> str | None:
        """Why a script does not compile; None where it does, and has itself raised a SyntaxError."""
        command = [fence.NODE, "--check", fence.SOURCES[language]]
        ended = self._run(command, fence.of_program(language), COMPILING, b"")
        if ended.status == 0 or ended.reason != frames.ENDED:
            return None
        line = re.search(r"^\S*program\.m?js:(\d+)$", ended.errors, re.MULTILINE)
        said = re.search(r"^SyntaxError: .*$", ended.errors, re.MULTILINE)
        return f"{said[0] if said else 'SyntaxError'} (line {line[1] if line else '?'})"

    def clear(self) -> None:
        """Leave nothing of a program."""
        sweep()
        for entry in os.scandir(fence.SCRATCH):
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path)
            else:
                os.unlink(entry.path)

    def beat(self) -> None:
        """Tell the host that this container lives, while something takes long."""
        if time.monotonic() - self.told > host.TOLD_S:
            self.told = time.monotonic()
            send(frames.PING, 0, b"")

    def self_check(self) -> list[probe.Finding]:
        """What this container, a compiler and a program in it really cannot do, and that both work."""
        found = probe.container(self.limits, fence.SCRATCH)
        tried = {
            **{name: attack for name, attack in probe.attacks().items() if name not in _OF_PROGRAMS},
            "write to its folder": lambda: os.open(f"{fence.SCRATCH}/x", os.O_WRONLY | os.O_CREAT),
            "read the supervisor": lambda: os.open("/kolmo/native.py", os.O_RDONLY),
        }
        of_compiler = {name: tried[name] for name in tried if name not in _OF_COMPILERS}
        for language in self.languages:
            open(fence.SOURCES[language], "w").close()
        for who, behind, attacks in (
            ("compiler", fence.of_compiler(), of_compiler),
            *((f"{name} program", fence.of_program(name), tried) for name in self.languages),
        ):
            bounds = Bounds(2, 2, file=0)
            found += json.loads(inside(behind, bounds, functools.partial(_refused, who, attacks)))
            behind.close()
            abi = behind.abi
        words = f"ABI {abi}" if abi else "not in this kernel"
        found.append(probe.finding("Landlock", "ABI >= 1", words, abi > 0))  # there is no second wall around files here
        self.clear()
        return found + [self._works(language) for language in self.languages]

    @property
    def languages(self) -> list[str]:
        return [language for language in _TRIED if self.limits[language]]

    def _works(self, language: str) -> probe.Finding:
        kind = next(kind for kind, name in _LANGUAGES.items() if name == language)
        payload = frames.PROGRAM.pack(kind, 5_000, 15_000, self.limits["memory_mb"])
        report = self.judged(payload + frames.join(_TRIED[language], frames.listed([b""])))
        results = [bytes(result) for result in frames.unlisted(report[frames.REPORT.size :])]
        return probe.equal(
            f"a {language} program runs", "well\n" + frames.said("OK").decode(), b"".join(results).decode()
        )


_OF_PROGRAMS = ("raise a limit", "become dumpable", "executable memory")
"""What native code may do: limits only sink."""
_OF_COMPILERS = (
    "fork",
    "execve",
    "signal process 1",
    "signal all processes",
    "limit process 1",
    "move process 1",
    "write to its folder",
)
"""What compilers may do, and no program gets them to."""


def _refused(who: str, attacks: dict[str, Callable[[], object]]) -> bytes:
    return json.dumps(probe.refused(who, attacks)).encode()


def _first_error(errors: str) -> str:
    """The first error of a compiler, or of the linker; what it says last where neither says `error`."""
    if found := _ERROR.search(errors):
        return f"line {found[1]}: {found[2]}"
    lines = [line for line in errors.splitlines() if line.strip()] or ["no reason given"]
    line = next((line for line in lines if "undefined reference" in line or "error:" in line), lines[-1])
    return line.rpartition(": ")[2] if "undefined reference" in line else line


def send(kind: int, request: int, payload: bytes) -> None:
    data = memoryview(frames.encode(kind, request, payload))
    while data:
        data = data[os.write(1, data) :]


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    jail.hide()
    reader = frames.Reader()
    limits, early = host.hello(reader)
    jail.pin(limits["lane"])
    bench = Bench(limits)
    send(frames.HELLO, 0, json.dumps({"check": bench.self_check()}).encode())
    bench.told = time.monotonic()
    while True:
        for kind, request, payload in early:
            if kind == frames.PING:
                send(frames.PING, request, payload)
            elif kind == frames.RUN and payload[:1] in _LANGUAGES and len(payload) >= frames.PROGRAM.size:
                send(frames.RESULT, request, bench.judged(payload))
            else:
                host.leave(host.BAD_FRAME)
        early = list(reader.feed(_read()))


def _read() -> bytes:
    """What the host sends next; this process ends when the host is gone, or silent for too long."""
    if not select.select([0], [], [], host.IDLE_S)[0]:
        host.leave(host.LOST_HOST)
    chunk = os.read(0, host.READ)
    if not chunk:
        host.leave(host.LOST_HOST)
    return chunk


if __name__ == "__main__":
    try:
        main()
    except frames.FrameError:
        host.leave(host.BAD_FRAME)
    except BaseException as error:
        sys.stderr.write(f"supervisor: {type(error).__name__}: {error}\n")
        host.leave(host.BAD_FRAME)
