"""The filters around programs in C++ and JavaScript: the engine's, and that of each program, on every call number."""

from __future__ import annotations

import json
import sys
from types import ModuleType

import pytest

from kolmocli.sandbox.docker.image import image_source
from kolmocli.sandbox.docker.toolchains import native_source
from tests.sandbox.test_jail import ALLOW, KILL, REFUSE, answer
from tests.sandbox.test_seccomp import NEVER, NEW_NAMESPACES

SOCKETS = {"socket", "socketpair", "sendto", "sendmsg", "recvfrom", "recvmsg"}
REFUSED = {
    "x86_64": {57, 58, 62, 90, 91, 129, 141, 203, 268, 317, 434},
    "aarch64": {52, 53, 122, 129, 138, 140, 277, 434},
}
"""Numbers from the kernel's own tables: fork, vfork, kill, chmod, … of which aarch64 has fewer."""
CLONE, PRLIMIT = {"x86_64": 56, "aarch64": 220}, {"x86_64": 302, "aarch64": 261}


@pytest.fixture(scope="module")
def fence() -> ModuleType:
    if sys.platform != "linux":
        pytest.skip("the fences are for Linux")
    folders = [str(native_source()), str(image_source())]
    with pytest.MonkeyPatch.context() as patch:
        for folder in folders:
            patch.syspath_prepend(folder)
        for name in ("fence", "jail"):
            patch.delitem(sys.modules, name, raising=False)
        import fence as found  # type: ignore[import-not-found]

        for name in ("fence", "jail"):
            patch.delitem(sys.modules, name)
        module: ModuleType = found
    return module


@pytest.mark.parametrize("machine", REFUSED)
def test_what_a_program_may_not_call(fence: ModuleType, machine: str) -> None:
    program, audit = fence.program_filter(machine), fence.jail.ARCHITECTURES[machine][0]
    plain = set(range(1024)) - {CLONE[machine], PRLIMIT[machine]}
    assert {number for number in plain if answer(program, number, audit) != ALLOW} == REFUSED[machine]
    assert answer(program, 0, audit ^ 1) == KILL
    assert {answer(program, 0x40000000 + number, audit) for number in range(1024)} == {REFUSE}


@pytest.mark.parametrize("machine", REFUSED)
def test_threads_and_limits_of_its_own_alone(fence: ModuleType, machine: str) -> None:
    program, audit = fence.program_filter(machine), fence.jail.ARCHITECTURES[machine][0]
    clone, prlimit, thread, child = CLONE[machine], PRLIMIT[machine], 0x3D0F00, 0x1200011
    assert [answer(program, clone, audit, first=flags) for flags in (thread, child, 0x11)] == [ALLOW, REFUSE, REFUSE]
    assert [answer(program, prlimit, audit, first=pid) for pid in (0, 1, 2**32 - 1)] == [ALLOW, REFUSE, REFUSE]


def test_the_container_has_no_sockets_and_no_way_out() -> None:
    profile = json.loads((native_source() / "seccomp.json").read_text("utf-8"))
    assert profile["defaultAction"] == "SCMP_ACT_ERRNO"
    assert all(arch["subArchitectures"] == [] for arch in profile["archMap"])
    allowed = {name for r in profile["syscalls"] if r["action"] == "SCMP_ACT_ALLOW" for name in r["names"]}
    assert allowed & ((NEVER | SOCKETS) - {"vfork"}) == set()
    (clone,) = [rule for rule in profile["syscalls"] if "clone" in rule["names"]]
    assert clone["args"] == [{"index": 0, "value": NEW_NAMESPACES, "valueTwo": 0, "op": "SCMP_CMP_MASKED_EQ"}]
    (clone3,) = [rule for rule in profile["syscalls"] if "clone3" in rule["names"]]
    assert (clone3["action"], clone3["errnoRet"]) == ("SCMP_ACT_ERRNO", 38)
