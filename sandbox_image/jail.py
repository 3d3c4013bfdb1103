"""What a process gives up, through system calls that Python has no functions for.

The template prepares everything once (`Jail()`), a child then pays two system calls (`restrict`, `enter`).
The seccomp filter is a list of what is allowed: everything a child could need is loaded before the fork,
so it may compute, read and write what is open, and end. Refusals are EPERM and never a signal, so that a
call that some new C library makes on its own does not kill innocent programs at random.
"""

import ctypes
import fcntl
import os
import platform
import struct
from collections.abc import Iterable

PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS = 4, 38
SECCOMP_SET_MODE_FILTER = 1
PROT_EXEC = 4
EPERM = 1
LANDLOCK_CREATE_RULESET, LANDLOCK_ADD_RULE, LANDLOCK_RESTRICT_SELF = 444, 445, 446
LANDLOCK_PATH_BENEATH = 1
LANDLOCK_SCOPES = 0b11  # abstract unix sockets and signals, from ABI 6
# Rights by their bits: those that a file has, and a folder has beneath it.
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, TRUNCATE, IOCTL_DEV = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 14, 1 << 15
LANDLOCK_OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV

# What a child may still call. Everything it could need is loaded and open: it computes, reads, writes and ends.
ALLOWED = (
    "read", "write", "close", "mmap", "mprotect", "munmap", "mremap", "brk", "madvise", "futex", "rt_sigaction",
    "rt_sigprocmask", "rt_sigreturn", "getrandom", "clock_nanosleep", "exit", "exit_group",
)  # fmt: skip
_X86 = {
    "read": 0, "write": 1, "close": 3, "mmap": 9, "mprotect": 10, "munmap": 11, "brk": 12, "rt_sigaction": 13,
    "rt_sigprocmask": 14, "rt_sigreturn": 15, "mremap": 25, "madvise": 28, "exit": 60, "futex": 202, "clock_nanosleep": 230,
    "exit_group": 231, "getrandom": 318,
}  # fmt: skip
_ARM = {
    "close": 57, "read": 63, "write": 64, "exit": 93, "exit_group": 94, "futex": 98, "clock_nanosleep": 115,
    "rt_sigaction": 134, "rt_sigprocmask": 135, "rt_sigreturn": 139, "brk": 214, "munmap": 215, "mremap": 216, "mmap": 222, "mprotect": 226,
    "madvise": 233, "getrandom": 278,
}  # fmt: skip
# Per architecture: AUDIT_ARCH, the number of seccomp(2), and the numbers of the calls above.
ARCHITECTURES = {"x86_64": (0xC000003E, 317, _X86), "aarch64": (0xC00000B7, 277, _ARM)}

_libc = ctypes.CDLL(None, use_errno=True)
fork = ctypes.PyDLL(None).fork
"""fork(2) without Python's hooks around it, which cost each child some thirty page copies.

They mend locks that another thread held, thread ids and the random seed: a process with one thread, which it keeps
in the child, whose seeds are fixed, has nothing to mend.
"""


def _call(function: str, *arguments: object) -> int:
    result: int = getattr(_libc, function)(*arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{function}{arguments[:1]}: {os.strerror(ctypes.get_errno())}")
    return result


def hide() -> None:
    """Let no process of the same user read this one's memory, descriptors or environment."""
    _call("prctl", PR_SET_DUMPABLE, 0, 0, 0, 0)


def show() -> None:
    """Undo `hide`, for a process that is about to become another program."""
    _call("prctl", PR_SET_DUMPABLE, 1, 0, 0, 0)


def pin(lane: int) -> None:
    """Stay on one processor: to wake a process on another one costs ten times as much, and cold caches."""
    processors = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {processors[lane % len(processors)]})


def trim() -> None:
    """Give free heap back, where the C library can: every page of the template is mapped into each child."""
    if hasattr(_libc, "malloc_trim"):
        _libc.malloc_trim(0)


def child_filter(architecture: str = platform.machine()) -> bytes:
    """The BPF program of a child, as an array of `struct sock_filter`.

    The kernel compiles a new filter, and tries it on every call there is to remember what it always allows: each
    comparison costs every child about 3 us, so that the list is short and successive numbers share one.
    """
    audit, _, numbers = ARCHITECTURES[architecture]
    load_number, load_arch, load_protection = 0, 4, 16 + 8 * 2
    LD, JEQ, JSET, JGE, RET = 0x20, 0x15, 0x45, 0x35, 0x06
    TO_ALLOW = -1
    ALLOW, REFUSE, KILL = 0x7FFF0000, 0x00050000 | EPERM, 0x80000000
    runs = _runs(numbers[name] for name in ALLOWED if name not in ("mmap", "mprotect"))
    code: list[tuple[int, int, int, int]] = [
        (LD, 0, 0, load_arch),
        (JEQ, 1, 0, audit),
        (RET, 0, 0, KILL),  # another architecture's numbers mean other calls
        (LD, 0, 0, load_number),
        (JEQ, 1, 0, numbers["mmap"]),
        (JEQ, 0, 4, numbers["mprotect"]),
        (LD, 0, 0, load_protection),
        (JSET, 0, 1, PROT_EXEC),
        (RET, 0, 0, REFUSE),  # no new machine code
        (RET, 0, 0, ALLOW),
    ]
    for first, last in runs:
        if first == last:
            code.append((JEQ, TO_ALLOW, 0, first))
        else:
            code += [(JGE, 0, 1, first), (JGE, 0, TO_ALLOW, last + 1)]
    code += [(RET, 0, 0, REFUSE), (RET, 0, 0, ALLOW)]
    allow = len(code) - 1
    return b"".join(
        struct.pack("=HBBI", op, *(allow - at - 1 if jump == TO_ALLOW else jump for jump in (yes, no)), k)
        for at, (op, yes, no, k) in enumerate(code)
    )


def _runs(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """First and last of each run of successive numbers: [2, 3, 7] gives [(2, 3), (7, 7)]."""
    inside = set(numbers)
    firsts = sorted(n for n in inside if n - 1 not in inside)
    return list(zip(firsts, sorted(n for n in inside if n + 1 not in inside), strict=True))


class Filter:
    """A seccomp filter: the BPF program as it will be handed to the kernel."""

    def __init__(self, code: bytes) -> None:
        _call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        self._code = ctypes.create_string_buffer(code, len(code))
        self._filter = ctypes.create_string_buffer(struct.pack("@HP", len(code) // 8, ctypes.addressof(self._code)), 16)
        self._syscall = _libc.syscall  # looked up once: what a child touches first, it has to copy
        self._seccomp = ARCHITECTURES[platform.machine()][1]

    def enter(self) -> None:
        """Give up every call that the filter refuses. Raises OSError when it cannot be installed."""
        _done(self._syscall(self._seccomp, SECCOMP_SET_MODE_FILTER, 0, self._filter))


class Ruleset:
    """A Landlock ruleset, in which no path can be opened until one is let in.

    Only a second wall: kernels without Landlock are reported, not refused.
    """

    def __init__(self) -> None:
        self.abi = max(0, _libc.syscall(LANDLOCK_CREATE_RULESET, None, 0, 1))
        self._syscall = _libc.syscall
        self._rights = (1 << {1: 13, 2: 14, 3: 15, 4: 15}.get(self.abi, 16)) - 1
        self._fd = self._made() if self.abi else -1

    def _made(self) -> int:
        network = 0b11 if self.abi >= 4 else 0
        scopes = LANDLOCK_SCOPES if self.abi >= 6 else 0
        size = 8 if self.abi < 4 else 16 if self.abi < 6 else 24
        attributes = struct.pack("=QQQ", self._rights, network, scopes)[:size]
        ruleset = _call("syscall", LANDLOCK_CREATE_RULESET, attributes, ctypes.c_size_t(size), 0)
        high = fcntl.fcntl(ruleset, fcntl.F_DUPFD_CLOEXEC, 32)  # out of the way of the descriptors that move in a child
        os.close(ruleset)
        return high

    def let_in(self, path: str, rights: int) -> None:
        """Allow these rights at a file, or beneath a folder; a path that is not there is passed over."""
        if self._fd < 0 or not os.path.exists(path):
            return
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
        if not os.path.isdir(path):
            rights &= LANDLOCK_OF_FILES
        try:
            rule = struct.pack("=Qi", rights & self._rights, fd)
            _call("syscall", LANDLOCK_ADD_RULE, self._fd, LANDLOCK_PATH_BENEATH, rule, 0)
        finally:
            os.close(fd)

    def enter(self) -> None:
        """Give up every path that was not let in."""
        if self._fd >= 0:
            _done(self._syscall(LANDLOCK_RESTRICT_SELF, self._fd, 0))

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)


class Jail:
    """What a child of the fork server gives up: every path, and every call but those on the list."""

    def __init__(self) -> None:
        self._filter, self._ruleset = Filter(child_filter()), Ruleset()
        self.landlock_abi = self._ruleset.abi
        self.restrict, self.enter = self._ruleset.enter, self._filter.enter


def _done(result: int) -> None:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
