"""What is really enforced, tried from inside: the host refuses a container that breaks one promise.

`container()` looks at the container with the eyes of process 1; `limits()` and `report()` run in a child,
in the place of a program, before and after the last door is closed.
"""

import ctypes
import errno
import json
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable

Finding = dict[str, object]


def finding(promise: str, expected: object, found: object, ok: bool) -> Finding:
    return {"promise": promise, "expected": str(expected), "found": str(found), "ok": ok}


def equal(promise: str, expected: object, found: object) -> Finding:
    return finding(promise, expected, found, expected == found)


def container(limits: dict[str, int], scratch: str = "none") -> list[Finding]:
    """`scratch` is the one folder that may be written to."""
    with open("/proc/self/status", encoding="ascii") as file:
        status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    writable = [path for path in _directories() if os.access(path, os.W_OK)]
    memory = _cgroup("memory/memory.limit_in_bytes", "memory.max")
    pids = _cgroup("pids/pids.max", "pids.max")
    return [
        equal("supervisor is process 1", 1, os.getpid()),
        finding("unprivileged user", "not 0", os.getuid(), os.getuid() != 0),
        equal("no capabilities", 0, int(status["CapEff"], 16) | int(status["CapBnd"], 16)),
        equal("no new privileges", "1", status.get("NoNewPrivs", "not shown").strip()),
        equal("seccomp filter on the container", "2", status["Seccomp"].strip()),
        equal("network interfaces", "lo", ", ".join(sorted(os.listdir("/sys/class/net")))),
        finding("root file system is read-only", True, *[bool(os.statvfs("/").f_flag & os.ST_RDONLY)] * 2),
        equal("writable directories", scratch, ", ".join(writable) or "none"),
        finding(
            "memory of the container",
            f"<= {limits['container_mb']} MiB",
            mib(memory),
            0 < memory <= limits["container_mb"] << 20,
        ),
        swap(memory),
        finding(
            "processes of the container",
            f"<= {limits['pids']} processes",
            f"{pids} processes",
            0 < pids <= limits["pids"],
        ),
        equal("hash seed", "0", os.environ.get("PYTHONHASHSEED")),
        finding("python", ">= 3.11", sys.version.split()[0], sys.version_info >= (3, 11)),
    ]


def _directories() -> list[str]:
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        mounts = {line.split()[4] for line in file}
    usual = {"/", "/tmp", "/var/tmp", "/run", "/run/lock", "/dev/shm", "/dev/mqueue", "/home", "/root", os.getcwd()}
    return sorted(path for path in mounts | usual if os.path.isdir(path))


def _cgroup(*names: str) -> int:
    """A limit from cgroup v1 or v2; -1 when there is none."""
    for name in names:
        try:
            with open(f"/sys/fs/cgroup/{name}", encoding="ascii") as file:
                text = file.read().strip()
        except OSError:
            continue
        return int(text) if text.isdigit() else -1
    return -1


def mib(size: int) -> str:
    return f"{size >> 20} MiB" if 0 <= size < 1 << 50 else "unlimited"


def swap(memory: int) -> Finding:
    """Version 1 limits memory and swap together, version 2 swap alone; kernels that count neither have no such file."""
    both, alone = _cgroup("memory/memory.memsw.limit_in_bytes"), _cgroup("memory.swap.max")
    counted = both >= 0 or os.path.exists("/sys/fs/cgroup/memory.swap.max")
    found = both - memory if both >= 0 else alone
    words = mib(found) if counted else "not counted by this kernel"
    return finding("swap of the container", "0 MiB, where the kernel counts it", words, not counted or found == 0)


def limits(abi: int) -> list[Finding]:
    """Read in the child before the filter, which also refuses to answer the question."""
    names = ("NPROC", "FSIZE", "CORE", "MSGQUEUE", "MEMLOCK")
    found = ", ".join(f"{name} {resource.getrlimit(getattr(resource, f'RLIMIT_{name}'))[1]}" for name in names)
    memory = resource.getrlimit(resource.RLIMIT_AS)[1]
    cpu = resource.getrlimit(resource.RLIMIT_CPU)[1]
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return [
        equal("limits of a child", ", ".join(f"{name} 0" for name in names), found),
        finding("address space of a child", "limited", mib(memory), memory > 0),
        finding("CPU time of a child, at most", "limited", f"{cpu} s" if cpu > 0 else "unlimited", cpu > 0),
        finding("open files of a child", "<= 64 files", f"{files} files", 0 < files <= 64),
        finding("Landlock (best effort)", "ABI >= 1", f"ABI {abi}" if abi else "not in this kernel", True),
        equal("child leads its own session", os.getpid(), os.getsid(0)),
    ]


def report(before: list[Finding], memory_mb: int) -> bytes:
    """Small attacks, each of which must be refused."""
    results = before + refused("child", attacks())
    try:
        size = len(bytearray((memory_mb + 1) << 20))
        results.append(finding("memory of a program", f"<= {memory_mb} MiB", f"{mib(size)} given", False))
    except MemoryError:
        results.append(finding("memory of a program", f"<= {memory_mb} MiB", "MemoryError", True))
    return json.dumps(results).encode()


def attacks() -> dict[str, Callable[[], object]]:
    """By what each of them tries."""
    libc = ctypes.CDLL(None, use_errno=True)

    def call(name: str, *arguments: object) -> None:
        if getattr(libc, name)(*arguments) < 0:
            raise OSError(ctypes.get_errno(), name)

    return {
        "fork": os.fork,
        "execve": lambda: os.execv("/proc/self/exe", ["python3", "-c", "0"]),
        "open a file to read": lambda: os.open("/proc/1/environ", os.O_RDONLY),
        "open a file to write": lambda: os.open("/tmp/x", os.O_WRONLY | os.O_CREAT),
        "list a directory": lambda: os.listdir("/"),
        "socket": lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM),
        "unix socket": lambda: socket.socket(socket.AF_UNIX),
        "signal process 1": lambda: os.kill(1, signal.SIGINT),
        "signal all processes": lambda: os.kill(-1, signal.SIGKILL),
        "anonymous file": lambda: os.memfd_create("x"),
        "trace a process": lambda: call("ptrace", 16, 1, 0, 0),
        "raise a limit": lambda: resource.setrlimit(resource.RLIMIT_NPROC, (9, 9)),
        "become dumpable": lambda: call("prctl", 4, 1, 0, 0, 0),
        "new namespaces": lambda: call("unshare", 0x10000000),
        "executable memory": lambda: _map_executable(libc),
        "shared memory": lambda: call("shmget", 1, 4096, 0o1600),
        "limit process 1": lambda: resource.prlimit(1, resource.RLIMIT_NOFILE, (9, 9)),
        "move process 1": lambda: os.sched_setaffinity(1, {0}),
        "mount": lambda: call("mount", b"none", b"/tmp", b"tmpfs", 0, None),
    }


def refused(who: str, tried: dict[str, Callable[[], object]]) -> list[Finding]:
    """The outcome of each attack by `who`."""
    return [_refused(f"{who} cannot: {name}", attack) for name, attack in tried.items()]


def _refused(name: str, attack: Callable[[], object]) -> Finding:
    try:
        attack()
    except ValueError as error:  # what setrlimit makes of EPERM
        return finding(name, "refused", error, True)
    except OSError as error:
        refused = error.errno in (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.EROFS)
        return finding(name, "refused", errno.errorcode.get(error.errno or 0, "?"), refused)
    return finding(name, "refused", "it could", False)


def _map_executable(libc: ctypes.CDLL) -> None:
    libc.mmap.restype = ctypes.c_void_p
    address = libc.mmap(None, ctypes.c_size_t(4096), 7, 0x22, -1, ctypes.c_size_t(0))
    if address is None or address == ctypes.c_void_p(-1).value:
        raise OSError(ctypes.get_errno(), "mmap")
