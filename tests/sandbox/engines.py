"""What the tests of faults share: batches whose answers are known, containers of one owner, hands that destroy."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import docker
from docker.errors import APIError

from kolmocli.sandbox import Job, Verdict
from kolmocli.sandbox.docker.containers import LABEL_OWNER


def numbered(count: int) -> list[Job]:
    """Programs whose values say which of the batch they are."""
    return [Job(f"x = set_list([{i}, {i + 1}])", "dsl") for i in range(count)]


def assert_all_right(verdicts: list[Verdict]) -> None:
    """Nothing lost, nothing doubled, nothing in another's place."""
    assert [v.value for v in verdicts] == [(i, i + 1) for i in range(len(verdicts))]


def containers_of(engine: docker.DockerClient, owner: str) -> set[str]:
    """In any state, running or not."""
    found = engine.api.containers(all=True, filters={"label": f"{LABEL_OWNER}={owner}"})
    return {str(container["Id"]) for container in found}


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


def strike(engine: docker.DockerClient, victims: set[str], randomly: random.Random) -> None:
    """Kill or remove one container."""
    if not victims:
        return
    victim = randomly.choice(sorted(victims))
    try:
        if randomly.random() < 0.5:
            engine.api.kill(victim)
        else:
            engine.api.remove_container(victim, force=True)
    except APIError:
        return  # it was gone already


def wait_until(holds: Callable[[], bool], seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until, "it did not come to pass"
        time.sleep(0.1)
