"""The loop of a host that other machines start generators on."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
from collections.abc import Callable
from types import FrameType
from urllib.parse import urlsplit

from kolmocli.engine.monarch.hosts import check_address, require_monarch
from kolmocli.errors import KolmoError


def serve(address: str, *, insecure: bool, report: Callable[[str], None]) -> None:
    """Listen until the process is asked to end; what was started here ends with it. `report` is called when it listens.

    Raises:
        EnvironmentMissing: torchmonarch is not there.
        UsageError: no address, or one that anybody could join.
        KolmoError: the address cannot be listened on.
    """
    require_monarch()
    check_address(address, insecure=insecure, place="--listen")
    _require_free(address)
    from monarch.actor import run_worker_loop_forever
    from monarch.config import configure

    configure(mesh_bootstrap_enable_pdeathsig=True)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _leave)
    report(f"kolmo: listening on {address}")
    run_worker_loop_forever(ca="trust_all_connections", address=address)


def _leave(number: int, _frame: FrameType | None) -> None:
    """At once: Monarch's threads would not let the interpreter end. The kernel ends the generators with us."""
    os._exit(128 + number)


def _require_free(address: str) -> None:
    """Monarch would only log that it cannot listen."""
    parts = urlsplit(address)
    with contextlib.closing(
        socket.socket(socket.AF_INET6 if ":" in (parts.hostname or "") else socket.AF_INET)
    ) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((parts.hostname, parts.port))
        except OSError as error:
            raise KolmoError(f"--listen: {address} cannot be listened on: {error.strerror or error}") from None
