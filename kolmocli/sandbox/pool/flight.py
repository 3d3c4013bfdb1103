"""Programs on their way through the pool, and what the pool knows of each container."""

from __future__ import annotations

import time
from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass, field

from kolmocli.sandbox.base import Job, Verdict
from kolmocli.sandbox.pool.link import Link
from kolmocli.sandbox.wire import frames

MAX_PROGRAM = 1 << 20
STARVED = 4
"""Times the wall limit: what a container gives a program that waits for a processor."""
STARVED_RUNS = 3
"""Runs of a program that got too little of a processor to be judged; then it is TLE_WALL, so that to starve never pays."""
LOOK_AHEAD = 64
"""How far into the queue a container looks for a program of another group."""
SPACER = frames.encode(frames.RUN, 0, frames.PYTHON + b"0")
"""Put between two programs of one group when there is nothing else to run. Request 0 is nobody's."""


@dataclass(frozen=True, slots=True)
class Patience:
    """When the pool gives up on something. Seconds, unless the name says otherwise."""

    silence: float = 12.0
    """Without a word from a container that has work, beyond the wall limit as far as it can be stretched."""
    drought: float = 60.0
    """Without any container: then waiting programs become INFRA."""
    ping: float = 60.0
    """Between two signs of life to an idle container, which ends itself otherwise."""
    attempts: int = 12
    solo_kills: int = 2
    renew_programs: int = 10_000


@dataclass(slots=True, eq=False)
class Batch:
    """What one `submit` brought in, and who waits for it."""

    future: Future[list[Verdict]]
    results: list[Verdict | None]
    left: int


@dataclass(slots=True, eq=False)
class Item:
    """One job on its way through the pool."""

    batch: Batch
    index: int
    job: Job
    payload: bytes
    attempt: int = 1
    solo_kills: int = 0


@dataclass(slots=True, eq=False)
class Worker:
    """One link and what is known of it."""

    link: Link
    reader: frames.Reader = field(default_factory=frames.Reader)
    flying: dict[int, Item] = field(default_factory=dict)
    outbox: bytearray = field(default_factory=bytearray)
    group: int = 0
    programs: int = 0
    solo: bool = False
    retiring: bool = False
    examined: bool = False
    writing: bool = False
    heard: float = field(default_factory=time.monotonic)


def pick(waiting: deque[Item], worker: Worker) -> Item | None:
    """Take the first program that may run there next, looking some way ahead for another group."""
    fallback = None
    for at in range(min(LOOK_AHEAD, len(waiting))):
        job = waiting[at].job
        if job.avoid == worker.link.id:
            continue
        if not job.group or job.group != worker.group:
            fallback = at
            break
        fallback = at if fallback is None else fallback
    if fallback is None:
        return None
    item = waiting[fallback]
    del waiting[fallback]
    return item
