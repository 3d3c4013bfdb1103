"""What the engine's own filter allows a container: the last fence, should everything inside have fallen."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kolmocli.sandbox.docker.image import image_source

AF_UNIX = 1
NEW_NAMESPACES = 0x7E020000
"""CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET: all flags of clone(2) that make a namespace."""
NEVER = frozenset(
    [
        "acct",
        "add_key",
        "bpf",
        "chroot",
        "connect",
        "create_module",
        "delete_module",
        "accept",
        "accept4",
        "bind",
        "execveat",
        "finit_module",
        "fsconfig",
        "fsmount",
        "fsopen",
        "init_module",
        "io_uring_enter",
        "io_uring_register",
        "io_uring_setup",
        "ioperm",
        "iopl",
        "kcmp",
        "kexec_file_load",
        "kexec_load",
        "keyctl",
        "listen",
        "memfd_create",
        "mknod",
        "mknodat",
        "mount",
        "mount_setattr",
        "move_mount",
        "name_to_handle_at",
        "open_by_handle_at",
        "open_tree",
        "perf_event_open",
        "personality",
        "pivot_root",
        "process_madvise",
        "process_vm_readv",
        "process_vm_writev",
        "ptrace",
        "quotactl",
        "reboot",
        "request_key",
        "setns",
        "settimeofday",
        "shmget",
        "swapon",
        "swapoff",
        "syslog",
        "umount2",
        "unshare",
        "uselib",
        "userfaultfd",
        "vfork",
    ]
)
"""Ways out of a container, or into another's memory."""


@pytest.fixture(scope="module")
def profile() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((image_source() / "seccomp.json").read_text("utf-8"))
    return found


def rules(profile: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return [rule for rule in profile["syscalls"] if name in rule["names"]]


def test_what_is_not_listed_is_refused(profile: dict[str, Any]) -> None:
    assert profile["defaultAction"] == "SCMP_ACT_ERRNO"
    assert all(arch["subArchitectures"] == [] for arch in profile["archMap"]), "no calls by another table of numbers"
    assert {rule["action"] for rule in profile["syscalls"]} <= {"SCMP_ACT_ALLOW", "SCMP_ACT_ERRNO"}


def test_no_way_out_is_listed(profile: dict[str, Any]) -> None:
    allowed = {name for r in profile["syscalls"] if r["action"] == "SCMP_ACT_ALLOW" for name in r["names"]}
    assert allowed & NEVER == set()
    assert {"read", "write", "execve", "seccomp", "clone"} <= allowed, "what its supervisor needs"


def test_sockets_are_of_this_machine_alone(profile: dict[str, Any]) -> None:
    (rule,) = rules(profile, "socket")
    assert rule["args"] == [{"index": 0, "value": AF_UNIX, "op": "SCMP_CMP_EQ"}]


def test_processes_are_made_without_namespaces(profile: dict[str, Any]) -> None:
    (rule,) = rules(profile, "clone")
    assert rule["args"] == [{"index": 0, "value": NEW_NAMESPACES, "valueTwo": 0, "op": "SCMP_CMP_MASKED_EQ"}]
    (rule,) = rules(profile, "clone3")  # whose flags no filter can see: the C library then takes clone
    assert (rule["action"], rule["errnoRet"]) == ("SCMP_ACT_ERRNO", 38)
