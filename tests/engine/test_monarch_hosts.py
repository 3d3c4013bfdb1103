"""Two hosts, which are network namespaces with addresses of their own, one bridge between them and the trainer.

The trainer is the command itself: a process listens for Monarch in one way only, and the other tests need another.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import KOLMO, command_environment
from tests.engine.test_monarch import SHORT, alive, written
from tests.training.runs import CURRICULUM, events, metrics, run, small_config
from tests.warm import Command

pytestmark = [pytest.mark.monarch, pytest.mark.namespaces]

PORT = 4444
LONG: dict[str, Any] = {**SHORT, "training": {"steps": 10}}
"""Steps enough that whoever is lost is lost during one, and not after the last."""


def ip(*arguments: object) -> None:
    subprocess.run(["ip", *map(str, arguments)], check=True, capture_output=True)


class Network:
    """Hosts 2 and 3 of 10.97.<x>.0/24, where this machine is 1."""

    def __init__(self) -> None:
        self.net = os.getpid() % 250
        self.bridge = f"kolmo{self.net}"
        self.workers: dict[int, subprocess.Popen[bytes]] = {}

    def address(self, host: int) -> str:
        return f"10.97.{self.net}.{host}"

    def url(self, host: int) -> str:
        return f"tcp://{self.address(host)}:{PORT}"

    def make(self, log: Path) -> None:
        ip("link", "add", self.bridge, "type", "bridge")
        ip("address", "add", f"{self.address(1)}/24", "dev", self.bridge)
        ip("link", "set", self.bridge, "up")
        for host in (2, 3):
            space, link = f"{self.bridge}-{host}", f"kv{self.net}-{host}"
            ip("netns", "add", space)
            ip("link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", space)
            ip("link", "set", link, "master", self.bridge, "up")
            ip("-n", space, "address", "add", f"{self.address(host)}/24", "dev", "eth0")
            ip("-n", space, "link", "set", "eth0", "up")
            ip("-n", space, "link", "set", "lo", "up")
            command = ["ip", "netns", "exec", space, KOLMO, "worker", "--listen", self.url(host), "--insecure"]
            with (log / f"{host}.log").open("wb") as output:
                self.workers[host] = subprocess.Popen(command, stderr=output, stdout=output, env=command_environment())
        for host in (2, 3):
            wait_for(lambda host=host: b"listening" in (log / f"{host}.log").read_bytes())  # type: ignore[misc]

    def cut(self, host: int) -> None:
        ip("link", "set", f"kv{self.net}-{host}", "down")

    def remove(self) -> None:
        for worker in self.workers.values():
            worker.kill()
            worker.wait()
        for host in (2, 3):
            subprocess.run(["ip", "netns", "delete", f"{self.bridge}-{host}"], check=False)
        subprocess.run(["ip", "link", "delete", self.bridge], check=False)


def wait_for(holds: Callable[[], Any], seconds: float = 600.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.2)


@pytest.fixture
def network(tmp_path: Path) -> Iterator[Network]:
    network = Network()
    try:
        network.make(tmp_path)
        yield network
    finally:
        network.remove()


def generators(folder: Path) -> dict[str, Any]:
    """Of the last REINFORCE step that was written."""
    steps = [r for r in metrics(folder) if r["phase"] == "rl"]
    return steps[-1]["generators"] if steps else {}


def test_a_process_that_is_killed_and_a_host_that_is_cut_off(network: Network, tmp_path: Path) -> None:
    """The run goes on with what is left, writes what an undisturbed one on one machine does, and leaves no process."""
    (tmp_path / "c.yaml").write_text(CURRICULUM)
    sets = [f"--set={s}.{key}={value}" for s, keys in LONG.items() for key, value in keys.items()]
    folder = tmp_path / "run"
    hosts = f"{network.url(2)},{network.url(3)}"
    command = [
        "train",
        "c.yaml",
        *sets,
        "--hosts",
        hosts,
        "--insecure",
        "--num-generators",
        "2",
        "--run-dir",
        str(folder),
    ]
    trainer = Command(command, tmp_path, command_environment())
    try:
        wait_for(lambda: generators(folder))
        found = generators(folder)
        assert {g["host"] for g in found.values()} == {f"{network.address(h)}:{PORT}" for h in (2, 3)}
        os.kill(found["1"]["pid"], signal.SIGKILL)
        network.cut(2)
        told = trainer.communicate(timeout=900)[1]
    finally:
        trainer.kill()
        trainer.communicate()
    assert trainer.returncode == 0, told
    run(small_config(**LONG), tmp_path / "local")
    assert written(folder) == written(tmp_path / "local")
    assert {text.split(":")[0] for text in (e["text"] for e in events(folder, "engine"))} >= {
        "generator 0 lost", "generator 1 lost",
    }  # fmt: skip
    at_work = {g["host"] for g in generators(folder).values() if g["pid"]}  # one may be about to begin anew
    assert at_work == {f"{network.address(3)}:{PORT}"}
    wait_for(lambda: not any(alive(g["pid"]) for g in generators(folder).values() if g["pid"]), 30)
