"""Whose containers are whose: what a dead owner leaves is removed, and nothing else is."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing

import docker
import pytest

from kolmocli.sandbox import Job, Status, open_sandbox
from kolmocli.sandbox.docker.containers import LABEL_BORN, LABEL_OWNER
from kolmocli.sandbox.docker.image import client, image_tag
from kolmocli.sandbox.docker.owner import is_alive, this_owner
from kolmocli.sandbox.docker.sweeper import FOREIGN_AGE_S, sweep

from .engines import assert_all_right, containers_of, numbered, wait_until

HOST = """
from kolmocli.sandbox import Job, Limits, open_sandbox
from kolmocli.sandbox.docker.owner import this_owner

sandbox = open_sandbox("docker", limits=Limits(cpu_ms=60_000, wall_ms=60_000), workers=2)
future = sandbox.submit([Job("while 1: pass", "python")] * 4)
print(this_owner(), flush=True)
future.result()
"""


@pytest.fixture
def engine() -> Iterator[docker.DockerClient]:
    api = client()
    yield api
    api.close()


def test_an_owner_is_one_process_of_one_namespace_and_boot() -> None:
    boot, namespace, pid, started = this_owner().split(".")
    assert (int(pid), is_alive(this_owner())) == (os.getpid(), True)
    assert is_alive(f"{boot}.{namespace}.{pid}.{int(started) + 1}") is False  # the number was given to another process
    assert is_alive(f"{boot}.{namespace}.4194304.{started}") is False  # beyond the largest process number
    for unknown in (
        f"another.{namespace}.{pid}.{started}",
        f"{boot}.1.{pid}.{started}",
        f"{boot}.{pid}.1",
        "",
        "a.b.c.d",
    ):
        assert is_alive(unknown) is None


@pytest.mark.docker
def test_a_killed_host_leaves_nothing_behind(engine: docker.DockerClient) -> None:
    """SIGKILL in the middle of a batch: its containers end by themselves, and the next sweep finds them."""
    host = subprocess.Popen([sys.executable, "-c", HOST], stdout=subprocess.PIPE, text=True)
    assert host.stdout
    owner = host.stdout.readline().strip()
    wait_until(lambda: len(containers_of(engine, owner)) == 2)
    sweep()
    assert len(containers_of(engine, owner)) == 2  # their owner lives
    host.kill()
    host.wait()
    host.stdout.close()
    running = {"label": f"{LABEL_OWNER}={owner}"}
    wait_until(lambda: not engine.api.containers(filters=running))  # they end by themselves: the stream is at its end
    sweep()
    assert containers_of(engine, owner) == set()
    assert sweep().removed == 0


@pytest.mark.docker
def test_the_sweeper_leaves_strangers_alone(engine: docker.DockerClient) -> None:
    """Of another boot, machine or namespace: only when they are old."""
    boot, _, pid, started = this_owner().split(".")
    for stranger in ("0000-another-boot.1.1.1", f"{boot}.1.{pid}.{started}"):
        made = {}
        for name, born in (("young", time.time()), ("old", time.time() - FOREIGN_AGE_S - 60)):
            labels = {LABEL_OWNER: stranger, LABEL_BORN: str(int(born))}
            made[name] = engine.api.create_container(image_tag(), labels=labels)["Id"]
        try:
            sweep()
            assert containers_of(engine, stranger) == {made["young"]}
        finally:
            engine.api.remove_container(made["young"], force=True)


POOL = """
from kolmocli.sandbox import Job, open_sandbox

with open_sandbox("docker", workers=1) as sandbox:  # which sweeps first
    verdicts = sandbox.run([Job("x = set_list([1, 2])", "dsl")] * 300)
assert {verdict.value for verdict in verdicts} == {(1, 2)}, verdicts
"""


@pytest.mark.docker
def test_two_pools_on_one_engine_leave_each_other_alone(engine: docker.DockerClient) -> None:
    """One in this process, one in another, one more in this: none loses a container to another's sweep."""
    with ExitStack() as stack:
        first = stack.enter_context(closing(open_sandbox("docker", workers=1)))
        future = first.submit(numbered(1_000))
        other = subprocess.Popen([sys.executable, "-c", POOL])
        second = stack.enter_context(closing(open_sandbox("docker", workers=1)))
        assert_all_right(second.run(numbered(300)))
        assert sweep().removed == 0 or other.poll() is not None
        assert other.wait(120) == 0
        assert_all_right(future.result(120))
        assert (first.health().replaced, second.health().replaced) == (0, 0)
        assert first.run([Job("1")])[0].status is Status.OK
