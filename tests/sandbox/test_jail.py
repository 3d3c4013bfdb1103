"""The filter of a child, run here on every call number by a small machine for its instructions."""

import importlib.util
import struct
import sys
from types import ModuleType

import pytest

from kolmocli.sandbox.docker.image import image_source

ALLOW, REFUSE, KILL = 0x7FFF0000, 0x00050001, 0x80000000
PROT_EXEC = 4
NEVER = {
    "x86_64": {
        "open": 2, "ioctl": 16, "socket": 41, "connect": 42, "clone": 56, "fork": 57, "vfork": 58, "execve": 59, "kill": 62,
        "ptrace": 101, "prctl": 157, "mount": 165, "tkill": 200, "tgkill": 234, "openat": 257, "unshare": 272,
        "process_vm_readv": 310, "seccomp": 317, "memfd_create": 319, "bpf": 321, "execveat": 322, "userfaultfd": 323,
        "pidfd_open": 434, "clone3": 435, "openat2": 437, "io_uring_setup": 425,
    },
    "aarch64": {
        "ioctl": 29, "mount": 40, "openat": 56, "unshare": 97, "ptrace": 117, "kill": 129, "tkill": 130, "tgkill": 131,
        "prctl": 167, "socket": 198, "connect": 203, "clone": 220, "execve": 221, "process_vm_readv": 270, "seccomp": 277,
        "memfd_create": 279, "bpf": 280, "execveat": 281, "userfaultfd": 282, "pidfd_open": 434, "clone3": 435,
        "openat2": 437, "io_uring_setup": 425,
    },
}  # fmt: skip
"""Numbers of ways out of a child, from the kernel's own tables."""


@pytest.fixture(scope="module")
def jail() -> ModuleType:
    if sys.platform != "linux":
        pytest.skip("the jail is for Linux")
    spec = importlib.util.spec_from_file_location("jail", image_source() / "jail.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def answer(program: bytes, number: int, architecture: int, protection: int = 0, first: int = 0) -> int:
    """What the filter says of a call, with its third argument (`protection`) and its first."""
    code = list(struct.iter_unpack("=HBBI", program))
    at = value = 0
    while True:
        operation, yes, no, k = code[at]
        at += 1
        match operation:
            case 0x20:
                value = {0: number, 4: architecture, 16: first, 32: protection}[k]
            case 0x06:
                return int(k)
            case 0x15:
                at += yes if value == k else no
            case 0x35:
                at += yes if value >= k else no
            case 0x45:
                at += yes if value & k else no


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_only_what_is_listed_is_allowed(jail: ModuleType, machine: str) -> None:
    audit, _, numbers = jail.ARCHITECTURES[machine]
    program = jail.child_filter(machine)
    x32 = 0x40000000
    asked = [*range(1024), *range(x32, x32 + 1024), 2**32 - 1]
    allowed = {number for number in asked if answer(program, number, audit) == ALLOW}
    assert allowed == {numbers[name] for name in jail.ALLOWED}
    assert all(answer(program, number, audit) == REFUSE for number in asked if number not in allowed)


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_no_new_machine_code_and_no_other_architecture(jail: ModuleType, machine: str) -> None:
    audit, _, numbers = jail.ARCHITECTURES[machine]
    program = jail.child_filter(machine)
    for name in ("mmap", "mprotect"):
        assert answer(program, numbers[name], audit, 3) == ALLOW
        assert answer(program, numbers[name], audit, 3 | PROT_EXEC) == REFUSE
    assert answer(program, numbers["read"], audit ^ 1) == KILL


@pytest.mark.parametrize("machine", NEVER)
def test_no_way_out_is_among_what_is_allowed(jail: ModuleType, machine: str) -> None:
    """By numbers of their own: a wrong one in the jail's table would open something else."""
    audit, _, _ = jail.ARCHITECTURES[machine]
    program = jail.child_filter(machine)
    assert {name for name, number in NEVER[machine].items() if answer(program, number, audit) != REFUSE} == set()
