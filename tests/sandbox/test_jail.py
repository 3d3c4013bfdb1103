"""The filter of a child, run here on every call number by a small machine for its instructions."""

import importlib.util
import struct
import sys
from types import ModuleType

import pytest

from kolmocli.sandbox.docker.image import image_source

ALLOW, REFUSE, KILL = 0x7FFF0000, 0x00050001, 0x80000000
PROT_EXEC = 4


@pytest.fixture(scope="module")
def jail() -> ModuleType:
    if sys.platform != "linux":
        pytest.skip("the jail is for Linux")
    spec = importlib.util.spec_from_file_location("jail", image_source() / "jail.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def answer(program: bytes, number: int, architecture: int, protection: int = 0) -> int:
    code = list(struct.iter_unpack("=HBBI", program))
    at = value = 0
    while True:
        operation, yes, no, k = code[at]
        at += 1
        match operation:
            case 0x20:
                value = {0: number, 4: architecture, 32: protection}[k]
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
