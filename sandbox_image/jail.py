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

PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS = 4, 38
SECCOMP_SET_MODE_FILTER = 1
PROT_EXEC = 4
EPERM = 1
LANDLOCK_CREATE_RULESET, LANDLOCK_RESTRICT_SELF = 444, 446
LANDLOCK_SCOPES = 0b11  # abstract unix sockets and signals, from ABI 6

# Per architecture: AUDIT_ARCH, the number of seccomp(2), of mmap and mprotect, and what is allowed.
_X86 = {
    "read": 0,
    "write": 1,
    "close": 3,
    "fstat": 5,
    "lseek": 8,
    "mmap": 9,
    "mprotect": 10,
    "munmap": 11,
    "brk": 12,
    "rt_sigaction": 13,
    "rt_sigprocmask": 14,
    "rt_sigreturn": 15,
    "sched_yield": 24,
    "mremap": 25,
    "madvise": 28,
    "nanosleep": 35,
    "getpid": 39,
    "exit": 60,
    "gettimeofday": 96,
    "getuid": 102,
    "getgid": 104,
    "geteuid": 107,
    "getegid": 108,
    "sigaltstack": 131,
    "gettid": 186,
    "futex": 202,
    "restart_syscall": 219,
    "clock_gettime": 228,
    "clock_nanosleep": 230,
    "exit_group": 231,
    "set_robust_list": 273,
    "getrandom": 318,
}
_ARM = {
    "close": 57, "lseek": 62, "read": 63, "write": 64, "fstat": 80, "exit": 93, "exit_group": 94, "futex": 98,
    "set_robust_list": 99, "nanosleep": 101, "clock_gettime": 113, "clock_nanosleep": 115, "restart_syscall": 128,
    "sched_yield": 124, "sigaltstack": 132, "rt_sigaction": 134, "rt_sigprocmask": 135, "rt_sigreturn": 139,
    "gettimeofday": 169, "getpid": 172, "getuid": 174, "geteuid": 175, "getgid": 176, "getegid": 177, "gettid": 178,
    "brk": 214, "munmap": 215, "mremap": 216, "mmap": 222, "mprotect": 226, "madvise": 233, "getrandom": 278,
}  # fmt: skip
ARCHITECTURES = {"x86_64": (0xC000003E, 317, _X86), "aarch64": (0xC00000B7, 277, _ARM)}

_libc = ctypes.CDLL(None, use_errno=True)


def _call(function: str, *arguments: object) -> int:
    result = getattr(_libc, function)(*arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{function}{arguments[:1]}: {os.strerror(ctypes.get_errno())}")
    return result


def hide() -> None:
    """Let no process of the same user read this one's memory, descriptors or environment."""
    _call("prctl", PR_SET_DUMPABLE, 0, 0, 0, 0)


def child_filter() -> bytes:
    """The BPF program of a child, as an array of `struct sock_filter`."""
    audit, _, allowed = ARCHITECTURES[platform.machine()]
    load_number, load_arch, load_protection = 0, 4, 16 + 8 * 2
    LD, JEQ, JSET, JGE, RET = 0x20, 0x15, 0x45, 0x35, 0x06
    ALLOW, REFUSE, KILL = 0x7FFF0000, 0x00050000 | EPERM, 0x80000000
    plain = sorted(number for name, number in allowed.items() if name not in ("mmap", "mprotect"))
    code: list[tuple[int, int, int, int]] = [
        (LD, 0, 0, load_arch),
        (JEQ, 1, 0, audit),
        (RET, 0, 0, KILL),  # another architecture's numbers mean other calls
        (LD, 0, 0, load_number),
        (JGE, 0, 1, 0x40000000),  # the x32 table
        (RET, 0, 0, REFUSE),
        (JEQ, 1, 0, allowed["mmap"]),
        (JEQ, 0, 4, allowed["mprotect"]),
        (LD, 0, 0, load_protection),
        (JSET, 0, 1, PROT_EXEC),
        (RET, 0, 0, REFUSE),  # no new machine code
        (RET, 0, 0, ALLOW),
    ]
    code += [(JEQ, len(plain) - i, 0, number) for i, number in enumerate(plain)]
    code += [(RET, 0, 0, REFUSE), (RET, 0, 0, ALLOW)]
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in code)


class Jail:
    """A seccomp filter and, where the kernel has it, an empty Landlock ruleset: no path can be opened."""

    def __init__(self) -> None:
        _call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        code = child_filter()
        self._code = ctypes.create_string_buffer(code, len(code))
        self._filter = ctypes.create_string_buffer(struct.pack("@HP", len(code) // 8, ctypes.addressof(self._code)), 16)
        self._syscall = _libc.syscall  # looked up once: what a child touches first, it has to copy
        self._seccomp = ARCHITECTURES[platform.machine()][1]
        self.landlock_abi = max(0, _libc.syscall(LANDLOCK_CREATE_RULESET, None, 0, 1))
        self._ruleset = self._landlock() if self.landlock_abi else -1

    def _landlock(self) -> int:
        bits = {1: 13, 2: 14, 3: 15, 4: 15}.get(self.landlock_abi, 16)
        network = 0b11 if self.landlock_abi >= 4 else 0
        scopes = LANDLOCK_SCOPES if self.landlock_abi >= 6 else 0
        size = 8 if self.landlock_abi < 4 else 16 if self.landlock_abi < 6 else 24
        attributes = struct.pack("=QQQ", (1 << bits) - 1, network, scopes)[:size]
        ruleset = _call("syscall", LANDLOCK_CREATE_RULESET, attributes, ctypes.c_size_t(size), 0)
        high = fcntl.fcntl(ruleset, fcntl.F_DUPFD_CLOEXEC, 32)  # out of the way of the descriptors that move in a child
        os.close(ruleset)
        return high

    def restrict(self) -> None:
        """Give up every path. Only a second wall: kernels without Landlock are reported, not refused."""
        if self._ruleset >= 0:
            self._done(self._syscall(LANDLOCK_RESTRICT_SELF, self._ruleset, 0))

    def enter(self) -> None:
        """Give up every call that is not on the list. Raises OSError when the filter cannot be installed."""
        self._done(self._syscall(self._seccomp, SECCOMP_SET_MODE_FILTER, 0, self._filter))

    @staticmethod
    def _done(result: int) -> None:
        if result < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
