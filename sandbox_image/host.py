"""The host as process 1 of a container sees it: it speaks first, and a container that does not understand it ends."""

import json
import os

import frames

IDLE_S = 900
"""Seconds without a word of the host, after which a container ends."""
TOLD_S = 2.0
"""Seconds after which the host is told that a long script goes on."""
READ = 1 << 18
MOST_CPU = (1 << 32) - 1
"""Microseconds that a report can hold."""
LOST_HOST, LOST_TEMPLATE, BAD_FRAME = 0, 71, 72


def leave(code: int) -> None:
    os._exit(code)


def hello(reader: frames.Reader) -> tuple[dict[str, int], list[tuple[int, int, bytes]]]:
    """Wait until the host speaks, so that nothing is sent before it listens."""
    got: list[tuple[int, int, bytes]] = []
    while not got:
        chunk = os.read(0, READ)
        if not chunk:
            leave(LOST_HOST)
        got += reader.feed(chunk)
    kind, _, payload = got.pop(0)
    if kind != frames.HELLO:
        leave(BAD_FRAME)
    return json.loads(payload), got
