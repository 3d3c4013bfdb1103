"""`kolmo sandbox serve`: a pool behind a port, until a signal says that it is enough.

SIGTERM drains: what was accepted is finished and answered, what comes is refused with 503, and then the process ends with 0.
Killed, it leaves nothing either: its workers end with it, and the next pool sweeps what an engine kept.
"""

from __future__ import annotations

import asyncio
import errno
import signal
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kolmocli.errors import EnvironmentMissing, UsageError
from kolmocli.extras import needing
from kolmocli.sandbox.base import Limits
from kolmocli.sandbox.opening import open_pool
from kolmocli.sandbox.service import access, protocol
from kolmocli.sandbox.service.app import App
from kolmocli.sandbox.service.places import Places

_KEEP_ALIVE_S = 75
"""Seconds that an idle connection stays open."""
_CONNECTIONS = 2_048
_LAST_WORDS_S = 5
"""For answers on their way when the server ends."""
_BODY_BYTES = 32 << 20
_HELD_BODIES = 8
"""Bodies of the greatest length that are held at once, or as much in shorter ones."""


MOST = Limits(cpu_ms=10_000, wall_ms=30_000, memory_mb=1_024, max_items=1 << 16)
"""The defaults of SandboxFusion's callers, and the longest value of an evaluation; clients that allow less see to it."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of a server. `most` bounds a job's limits, `usual` are those of a job that names none."""

    host: str = "127.0.0.1"
    port: int = 8080
    token_file: Path | None = None
    backend: str = "auto"
    workers: int | None = None
    runtime: str | None = None
    packages: Sequence[str] = ()
    most: Limits = MOST
    queue: int = 2_048
    drain_s: float = 60.0

    @property
    def usual(self) -> Limits:
        return Limits().within(self.most)


def serve(settings: Settings, *, ready: Callable[[str], None], warn: Callable[[str], None]) -> None:
    """Serve until SIGTERM or Ctrl-C; `ready` gets the address as soon as it answers, `warn` lines for who runs the server.

    Raises:
        UsageError: the token or the host cannot be used, or the port is taken.
        EnvironmentMissing: uvicorn or the sandbox that was asked for is not there.
    """
    with needing("kolmo sandbox serve"):
        import uvicorn
    token = None if settings.token_file is None else access.read_token(settings.token_file)
    if token is None and not access.is_loopback(settings.host):
        raise UsageError(
            f"--host {settings.host}: other machines reach it and could run programs here; give it a --token-file"
        )
    with _bound(settings.host, settings.port) as listening:
        pool = open_pool(
            settings.backend, limits=settings.usual, most=settings.most, workers=settings.workers, warn=warn,
            runtime=settings.runtime, packages=settings.packages,
        )  # fmt: skip
        with pool:
            # Twice, as JSON writes much of a text in two characters; and a job that has the longest input comes alone.
            body_bytes = _BODY_BYTES + 2 * settings.most.input_bytes
            places = Places(
                settings.queue,
                _HELD_BODIES * body_bytes,
                lambda: pool.unsettled,
                lambda: pool.health().programs_per_second,
            )
            facts: dict[str, Any] = {
                "backend": pool.health().backend,
                "packages": sorted(settings.packages),
                "usual": asdict(settings.usual),
                "most": asdict(settings.most),
                "jobs_per_request": min(protocol.MOST_JOBS, settings.queue),
                "body_bytes": body_bytes,
            }
            app = App(pool, places, token, body_bytes, facts, warn)
            configuration = uvicorn.Config(
                app, lifespan="off", access_log=False, log_config=None, ws="none", server_header=False, date_header=False,
                timeout_keep_alive=_KEEP_ALIVE_S, timeout_graceful_shutdown=_LAST_WORDS_S, limit_concurrency=_CONNECTIONS,
            )  # fmt: skip
            host, port = listening.getsockname()[:2]
            address = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
            with _silent_uvicorn():
                asyncio.run(
                    _serve(uvicorn.Server(configuration), listening, app, settings, lambda: ready(address), warn)
                )


@contextmanager
def _bound(host: str, port: int) -> Iterator[socket.socket]:
    try:
        found = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP, flags=socket.AI_PASSIVE
        )
        family, kind, protocol_, _, address = found[0]
        listening = socket.socket(
            family, kind, protocol_
        )  # named: asyncio sends at once only where it knows that it is TCP
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind(address)
            listening.listen(1)  # a second server that binds too would only fail later
        except OSError:
            listening.close()
            raise
    except (OSError, UnicodeError) as error:
        raise _not_bound(host, port, error) from None
    with listening:
        yield listening


def _not_bound(host: str, port: int, error: Exception) -> UsageError | EnvironmentMissing:
    number = getattr(error, "errno", None)
    if number == errno.EADDRINUSE:
        return UsageError(
            f"--port {port}: another program listens there on {host}; name another port, or 0 for any that is free"
        )
    if number == errno.EACCES:
        return UsageError(f"--port {port}: not yours to listen on; name one above 1023")
    return UsageError(f"--host {host}: cannot be listened on: {getattr(error, 'strerror', None) or error}")


@contextmanager
def _silent_uvicorn() -> Iterator[None]:
    """Silence uvicorn, whose logs may hold a client's text, and tracebacks; `warn` says what matters."""
    from kolmocli.console import unlogged

    with unlogged("uvicorn.error"):
        yield


async def _serve(
    server: Any,
    listening: socket.socket,
    app: App,
    settings: Settings,
    ready: Callable[[], None],
    warn: Callable[[str], None],
) -> None:
    """Until a signal; a second one of them ends the wait for what was accepted."""
    asked, hurried = asyncio.Event(), asyncio.Event()

    def stop() -> None:
        (hurried if asked.is_set() else asked).set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:  # nohup
            loop.add_signal_handler(number, stop)
    server.capture_signals = nullcontext  # they are ours
    serving = asyncio.ensure_future(server.serve([listening]))
    while not server.started and not serving.done():
        await asyncio.sleep(0.005)
    ready()
    ended = asyncio.ensure_future(asked.wait())
    await asyncio.wait((ended, serving), return_when=asyncio.FIRST_COMPLETED)
    app.draining = True
    if not serving.done():
        await _drain(app, hurried, settings.drain_s, warn)
    server.should_exit = True
    await serving


async def _drain(app: App, hurried: asyncio.Event, seconds: float, warn: Callable[[str], None]) -> None:
    """Wait for the answers that were promised; after `seconds`, or for who hurries, for those alone whose jobs have begun."""
    if app.requests.open:
        warn(f"ending: {app.requests.open} requests are being answered, new ones are refused (again to hurry)")
    until = asyncio.get_running_loop().time() + seconds
    while app.requests.open and not hurried.is_set() and asyncio.get_running_loop().time() < until:
        await asyncio.sleep(0.02)
    if app.requests.open:
        app.abandon()
        until = asyncio.get_running_loop().time() + _LAST_WORDS_S
        while app.requests.open and asyncio.get_running_loop().time() < until:
            await asyncio.sleep(0.02)
