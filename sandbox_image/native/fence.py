"""The fences around a compiler and a program of another language than Python.

The container has no sockets, devices, keys or namespaces for anybody in it. A fence takes more: of a compiler every path
but the system's and the scratch folder; of a program nearly every path, all writing, and the calls below.
"""

import platform
import struct

import jail

SCRATCH = "/scratch"
SOURCES = {"cpp": f"{SCRATCH}/program.cpp", "javascript": f"{SCRATCH}/program.js", "module": f"{SCRATCH}/program.mjs"}
BINARY = f"{SCRATCH}/program"
NODE = "/usr/bin/node"
_READ, _LIST = jail.READ_FILE, jail.READ_FILE | jail.READ_DIR
_RUN = jail.READ_FILE | jail.EXECUTE
_ALL = (1 << 16) - 1
_COMPILER = {
    "/usr": _LIST | _RUN, "/lib": _LIST | _RUN, "/lib64": _RUN, "/etc/ld.so.cache": _READ,
    "/dev/null": _READ | jail.WRITE_FILE, SCRATCH: _ALL,
}  # fmt: skip
_OF_NODE = {
    NODE: _RUN, "/lib": _RUN, "/usr/lib": _RUN, "/lib64": _RUN, "/usr/share/nodejs": _READ, "/etc/ld.so.cache": _READ,
    "/etc/ssl": _READ, "/dev/null": _READ | jail.WRITE_FILE, "/dev/urandom": _READ,
}  # fmt: skip
_PROGRAM = {
    "cpp": {BINARY: _RUN},  # linked statically: it needs no other file
    "javascript": {**_OF_NODE, SOURCES["javascript"]: _READ},
    "module": {**_OF_NODE, SOURCES["module"]: _READ},
}

CLONE_THREAD, X32 = 0x10000, 0x40000000
# What the supervisor and compilers need and a program does not: processes, signals, modes, and hands on process 1.
REFUSED = (
    "fork", "vfork", "kill", "rt_sigqueueinfo", "chmod", "fchmod", "fchmodat", "setpriority", "sched_setaffinity",
    "pidfd_open", "seccomp",
)  # fmt: skip
_NUMBERS = {
    "x86_64": {
        "fork": 57, "vfork": 58, "kill": 62, "chmod": 90, "fchmod": 91, "rt_sigqueueinfo": 129, "setpriority": 141,
        "sched_setaffinity": 203, "fchmodat": 268, "seccomp": 317, "pidfd_open": 434, "clone": 56, "prlimit64": 302,
    },
    "aarch64": {
        "fchmod": 52, "fchmodat": 53, "sched_setaffinity": 122, "kill": 129, "rt_sigqueueinfo": 138, "setpriority": 140,
        "seccomp": 277, "pidfd_open": 434, "clone": 220, "prlimit64": 261,
    },
}  # fmt: skip


def program_filter(architecture: str = platform.machine()) -> bytes:
    """The BPF program of a program: clone(2) makes threads alone, and prlimit64(2) is for the limits of the caller."""
    numbers = _NUMBERS[architecture]
    audit = jail.ARCHITECTURES[architecture][0]
    load_number, load_arch, load_first = 0, 4, 16
    LD, JEQ, JSET, JGE, RET = 0x20, 0x15, 0x45, 0x35, 0x06
    ALLOW, KILL = 0x7FFF0000, 0x80000000
    refuse = (RET, 0, 0, 0x00050000 | jail.EPERM)
    code = [
        (LD, 0, 0, load_arch),
        (JEQ, 1, 0, audit),
        (RET, 0, 0, KILL),  # another architecture's numbers mean other calls
        (LD, 0, 0, load_number),
        (JGE, 0, 1, X32),
        refuse,
    ]
    for name in REFUSED:
        if name in numbers:
            code += [(JEQ, 0, 1, numbers[name]), refuse]
    code += [(JEQ, 0, 3, numbers["clone"]), (LD, 0, 0, load_first), (JSET, 1, 0, CLONE_THREAD), refuse]
    code += [(LD, 0, 0, load_number)]
    code += [(JEQ, 0, 3, numbers["prlimit64"]), (LD, 0, 0, load_first), (JEQ, 1, 0, 0), refuse]
    code += [(RET, 0, 0, ALLOW)]
    return b"".join(struct.pack("=HBBI", *line) for line in code)


class Fence:
    """One fence: entered once, by the process that is about to become a compiler or a program. Close it in the other."""

    def __init__(self, paths: dict[str, int], code: bytes = b"") -> None:
        self._filter = jail.Filter(code) if code else None
        self._ruleset = jail.Ruleset()
        self.abi = self._ruleset.abi
        for path, rights in paths.items():
            self._ruleset.let_in(path, rights)

    def enter(self) -> None:
        self._ruleset.enter()
        if self._filter is not None:
            self._filter.enter()

    def close(self) -> None:
        self._ruleset.close()


def of_compiler() -> Fence:
    return Fence(_COMPILER)


def of_program(language: str) -> Fence:
    """Made when the program is there: only what exists can be let in."""
    return Fence(_PROGRAM[language], program_filter())
