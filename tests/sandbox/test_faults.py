"""Engines, containers and hosts that fail while programs run."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import docker
import pytest
from docker.errors import APIError

from kolmocli.errors import CheckError
from kolmocli.sandbox import Job, Limits, Status, frames, open_sandbox
from kolmocli.sandbox.containers import LABEL_BORN, LABEL_OWNER, ContainerMaker
from kolmocli.sandbox.image import client, image_tag
from kolmocli.sandbox.link import LinkError
from kolmocli.sandbox.owner import this_owner
from kolmocli.sandbox.sweeper import sweep

from .hostile_files import ALL

pytestmark = pytest.mark.docker


@pytest.fixture
def engine() -> Iterator[docker.DockerClient]:
    api = client()
    yield api
    api.close()


def containers_of(engine: docker.DockerClient, owner: str) -> list[str]:
    found = engine.api.containers(all=True, filters={"label": f"{LABEL_OWNER}={owner}"})
    return [str(container["Id"]) for container in found]


def numbered(count: int) -> list[Job]:
    return [Job(f"x = set_list([{i}, {i + 1}])") for i in range(count)]


def assert_all_right(verdicts: list[Any]) -> None:
    assert [v.value for v in verdicts] == [(i, i + 1) for i in range(len(verdicts))]


@contextmanager
def every(seconds: float, action: Callable[[], None]) -> Iterator[None]:
    """Do something again and again while the body runs."""
    over = threading.Event()

    def repeat() -> None:
        while not over.wait(seconds):
            action()

    thread = threading.Thread(target=repeat)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def strike(engine: docker.DockerClient, randomly: random.Random) -> None:
    """Kill or remove one of our containers."""
    ours = containers_of(engine, this_owner())
    if not ours:
        return
    victim = randomly.choice(ours)
    try:
        if randomly.random() < 0.5:
            engine.api.kill(victim)
        else:
            engine.api.remove_container(victim, force=True)
    except APIError:
        return  # it was gone already


@pytest.mark.parametrize("count, pause", [(1_500, 0.5), pytest.param(20_000, 1.0, marks=pytest.mark.slow)])
def test_killed_and_removed_containers_cost_nothing_but_time(
    engine: docker.DockerClient, count: int, pause: float
) -> None:
    randomly = random.Random(1)
    sandbox = open_sandbox("docker", workers=2)
    try:
        with every(pause, lambda: strike(engine, randomly)):
            verdicts = sandbox.run(numbered(count))
        replaced = sandbox.health().replaced
    finally:
        sandbox.close()
    assert_all_right(verdicts)
    assert replaced > 0
    assert containers_of(engine, this_owner()) == []


def wait_until(holds: Callable[[], bool], seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until, "it did not come to pass"
        time.sleep(0.1)


HOST = """
from kolmocli.sandbox import Job, Limits, open_sandbox
from kolmocli.sandbox.owner import this_owner

sandbox = open_sandbox("docker", limits=Limits(cpu_ms=60_000, wall_ms=60_000), workers=2)
future = sandbox.submit([Job("while 1: pass", "python")] * 4)
print(this_owner(), flush=True)
future.result()
"""


def test_a_killed_host_leaves_nothing_behind(engine: docker.DockerClient) -> None:
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
    assert containers_of(engine, owner) == []


def test_the_sweeper_leaves_strangers_alone(engine: docker.DockerClient) -> None:
    """Of another boot or machine: only when it is old."""
    made = {}
    for name, born in (("young", time.time()), ("old", time.time() - 30 * 3600)):
        labels = {LABEL_OWNER: "0000-another-boot.1.1", LABEL_BORN: str(int(born))}
        made[name] = engine.api.create_container(image_tag(), labels=labels)["Id"]
    try:
        sweep()
        left = containers_of(engine, "0000-another-boot.1.1")
        assert left == [made["young"]]
    finally:
        engine.api.remove_container(made["young"], force=True)


@pytest.mark.parametrize(
    "forgotten", ["pids_limit", "mem_limit", "read_only", "cap_drop", "security_opt", "network_mode"]
)
def test_a_promise_that_does_not_hold_refuses_the_pool(monkeypatch: pytest.MonkeyPatch, forgotten: str) -> None:
    real = docker.APIClient.create_host_config

    def forgetful(self: docker.APIClient, **options: Any) -> Any:
        del options[forgotten]
        if forgotten == "mem_limit":
            del options["memswap_limit"]
        return real(self, **options)

    create = docker.APIClient.create_container

    def create_with_network(self: docker.APIClient, *arguments: Any, **options: Any) -> Any:
        return create(self, *arguments, **options | {"network_disabled": False})

    monkeypatch.setattr(docker.APIClient, "create_host_config", forgetful)
    if forgotten == "network_mode":  # there are two locks on this door
        monkeypatch.setattr(docker.APIClient, "create_container", create_with_network)
    maker = ContainerMaker(image_tag(), Limits(), 1)
    try:
        with pytest.raises(CheckError):
            maker.make()
    finally:
        maker.close()


@pytest.mark.parametrize(
    "noise",
    [
        b"\0" * 64,
        frames.HEADER.pack(frames.MAGIC, frames.RUN, 0, 1, 2**32 - 1, 0),
        frames.HEADER.pack(frames.MAGIC, frames.RUN, 0, 1, 3, 0) + b"Dxx",
        frames.encode(frames.RUN, 1, b"?probe"),
        frames.encode(99, 1, b""),
    ],
    ids=["zeros", "lying length", "wrong checksum", "unknown language", "unknown kind"],
)
def test_a_supervisor_that_gets_noise_ends(noise: bytes) -> None:
    maker = ContainerMaker(image_tag(), Limits(), 1)
    link = maker.make()
    try:
        link.send(memoryview(noise))
        wait_until(lambda: link.receive() == b"")
    except LinkError:
        pytest.fail("the stream broke before its end")
    finally:
        maker.end(link)
        maker.close()


def test_verdicts_do_not_depend_on_order_or_pool_size() -> None:
    stable = [h for h in ALL if len(h.expected["docker"]) == 1 and not h.expected["docker"] & {"TLE_WALL", "TLE_CPU"}]
    jobs = [Job(h.program, "python") for h in stable] + numbered(100)
    tables = []
    for workers, seed in ((1, 1), (3, 2)):
        order = list(range(len(jobs)))
        random.Random(seed).shuffle(order)
        sandbox = open_sandbox("docker", limits=Limits(memory_mb=64), workers=workers)
        try:
            got = sandbox.run([jobs[i] for i in order])
        finally:
            sandbox.close()
        tables.append({i: (v.status, v.value) for i, v in zip(order, got, strict=True)})
    assert tables[0] == tables[1]


@pytest.mark.slow
def test_a_stopped_daemon_costs_nothing_but_time() -> None:
    """SIGSTOP for 20 s: no program is blamed for it, none is lost."""
    found = subprocess.run(["pidof", "dockerd"], capture_output=True, text=True, check=False).stdout.split()
    if not found or os.geteuid() != 0:
        pytest.skip("dockerd is not ours to stop")
    sandbox = open_sandbox("docker", workers=2)
    try:
        future = sandbox.submit(numbered(5_000))
        time.sleep(0.5)
        os.kill(int(found[0]), signal.SIGSTOP)
        try:
            time.sleep(20)
        finally:
            os.kill(int(found[0]), signal.SIGCONT)
        verdicts = future.result()
    finally:
        sandbox.close()
    assert_all_right(verdicts)
    assert {v.status for v in verdicts} == {Status.OK}
