"""Hosts of generators: processes of this machine, or of others where `kolmo worker` listens.

Everything that is asked of Monarch about hosts and processes is here. Messages are pickled Python, so anyone who can
reach a port of it can run code there: beyond this machine only `tls://` is used, where both ends show a certificate
of one authority, unless `insecure` says that the network is trusted.
"""

from __future__ import annotations

import atexit
import contextlib
import ipaddress
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from kolmocli.config.machine import ADDRESS
from kolmocli.engine.monarch.messages import GeneratorSettings
from kolmocli.errors import EnvironmentMissing, KolmoError, UsageError
from kolmocli.extras import require
from kolmocli.sandbox.base import Health

_SPAWN_SECONDS = 30.0
_STOP_SECONDS = 10.0
_POLL = {"HYPERACTOR_MESH_SUPERVISION_POLL_FREQUENCY": "1s"}
"""Monarch looks every ten seconds whether a process still lives; that would be most of a short step."""
_TLS = ("HYPERACTOR_TLS_CERT", "HYPERACTOR_TLS_KEY", "HYPERACTOR_TLS_CA")

_configured = threading.Lock()
_transport: str | None = None


def require_monarch() -> None:
    require("the engine monarch", "monarch")


def check_address(address: str, *, insecure: bool, place: str) -> None:
    """Raise UsageError for what is no address of a worker, or one that anybody could join.

    `place` is the flag or key that the address came from.
    """
    try:
        parts = urlsplit(address)
        complete = ADDRESS.fullmatch(address) and parts.hostname and parts.port
    except ValueError:
        complete = False
    if not complete:
        raise UsageError(f"{place}: {address!r} is no address; write tcp://host:port or tls://host:port")
    if parts.scheme == "tls":
        _require_certificates(place)
    elif not insecure and not _is_loopback(parts.hostname or ""):
        raise UsageError(
            f"{place}: {address} is open to everybody who can reach it, and what comes in is run; use tls://, "
            "or --insecure on a network where that is meant (docs/scaling.md)"
        )


def _require_certificates(place: str) -> None:
    for variable in _TLS:
        file = os.environ.get(variable)
        if not file or not os.path.isfile(file):
            raise UsageError(f"{place}: tls:// needs {', '.join(_TLS)} in the environment; {variable} names no file")


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def start_monarch(hosts: Sequence[str]) -> None:
    """Set up Monarch in this process, once: it listens where these hosts can answer, or on a local socket.

    Raises:
        UsageError: it already listens in another way, which one process cannot change.
    """
    global _transport
    with _configured:
        wanted = _listens_for(hosts)
        if _transport is not None:
            if wanted != _transport:
                raise UsageError(f"this process reaches its generators by {_transport}, and cannot change to {wanted}")
            return
        os.environ.update({name: value for name, value in _POLL.items() if name not in os.environ})
        import monarch.actor
        from monarch.config import configure

        # The default ends the process. Every fault is met where the call that it broke is waited for.
        monarch.actor.unhandled_fault_hook = lambda failure: None
        monarch.actor.config.prefix_python_logs_with_actor = False  # the logs of this process are no actor's
        configure(mesh_bootstrap_enable_pdeathsig=True)  # children end with this process, however it ends
        if wanted != "ipc":
            monarch.actor.enable_transport(wanted)
        monarch.actor.context()
        atexit.register(_shut)
        _transport = wanted


def _shut() -> None:
    """Before Monarch does it itself at exit, with one second of patience and a traceback when that was too short."""
    import monarch.actor

    with contextlib.suppress(TimeoutError):
        monarch.actor.shutdown_context(host_timeout=_STOP_SECONDS).get(timeout=2 * _STOP_SECONDS)


def _listens_for(hosts: Sequence[str]) -> str:
    if not hosts:
        return "ipc"
    first = urlsplit(hosts[0])
    if first.scheme == "tls":
        return "tls"
    try:
        family, *_, there = socket.getaddrinfo(first.hostname, first.port, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, socket.SOCK_DGRAM) as probe:  # sends nothing: it finds out the way there
            probe.connect(there)
            here = str(probe.getsockname()[0])
    except OSError as error:
        raise EnvironmentMissing(f"engine.hosts: {hosts[0]} cannot be reached: {error.strerror}") from None
    return f"tcp://[{here}]:0" if ":" in here else f"tcp://{here}:0"


@dataclass
class Host:
    """A host: this one when `address` is empty. `file` holds the weights of `version` there."""

    address: str
    mesh: Any
    receiver: Any = None
    file: Path = Path()
    version: int = -1
    down_until: float = 0.0
    """By the monotonic clock: until then others are asked first."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def name(self) -> str:
        return urlsplit(self.address).netloc if self.address else "here"

    def close(self) -> None:
        """End the receiver there, when all generators have been ended."""
        if self.receiver is None or time.monotonic() < self.down_until:
            return
        with contextlib.suppress(Exception):  # a host that does not answer ends its processes itself
            self.receiver.close.call_one().get(timeout=_STOP_SECONDS)


@dataclass
class Process:
    """A generator that runs: its actors, and what stops it. `pid` is known once it was loaded."""

    host: Host
    mesh: Any
    generator: Any
    pulse: Any
    pid: int = 0

    def __post_init__(self) -> None:
        self._forgetting = threading.Thread(target=self._forget, name="kolmo-forget", daemon=True)

    def is_there(self) -> bool:
        """False when it is known to have ended, which is soon known of a process of this machine."""
        return bool(self.host.address) or not self.pid or _runs(self.pid)

    def stop(self, *, answers: bool) -> None:
        """End it, by force if it does not answer, and let Monarch know without waiting for it: see `forgotten`."""
        if answers:
            with contextlib.suppress(Exception):  # it is ended in any case
                self.pulse.end.call_one().get(timeout=_STOP_SECONDS)
        if not self.host.address and self.pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
        self._forgetting.start()

    def forgotten(self) -> None:
        """Wait until Monarch knows, or has been given the time."""
        self._forgetting.join()

    def _forget(self) -> None:
        with contextlib.suppress(Exception):  # a host that was cut off does not hear it
            self.mesh.stop("not needed any more").get(timeout=_STOP_SECONDS)


def _runs(pid: int) -> bool:
    """Whether this child lives; one that was not waited for yet does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return not Path("/proc/self/stat").exists() and _answers(pid)
    return stat.rpartition(")")[2].split()[0] not in "ZX"


def _answers(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def find_hosts(addresses: Sequence[str]) -> list[Host]:
    """The hosts at these addresses, or this one. That they can be named does not mean that they answer."""
    from monarch.actor import attach_to_workers, this_host

    start_monarch(addresses)
    if not addresses:
        return [Host("", this_host())]
    return [Host(address, attach_to_workers(ca="trust_all_connections", workers=[address])) for address in addresses]


def spawn(settings: GeneratorSettings, host: Host, number: int, generators_there: int) -> Process:
    """A process for generator `number`, with nothing loaded yet. Raises what Monarch does when the host does not answer."""
    from kolmocli.engine.monarch.generator import Generator, Pulse

    mesh = _processes(host, "generators", f"generator{number}")
    generator = mesh.spawn("generator", Generator, settings, generators_there)
    return Process(host, mesh, generator, mesh.spawn("pulse", Pulse))


def _processes(host: Host, kind: str, name: str) -> Any:
    """One process there. Raises TimeoutError with a line that names the host and what to look at."""
    mesh = host.mesh.spawn_procs(per_host={kind: 1}, name=name)
    try:
        mesh.initialized.get(timeout=_SPAWN_SECONDS)
    except TimeoutError:
        remedy = f"; is kolmo worker --listen {host.address} running there?" if host.address else ""
        if host.address.startswith("tls:"):
            remedy += f" Do the certificates name both hosts, this one as {socket.gethostname()}?"
        raise TimeoutError(f"{host.name} did not answer in {_SPAWN_SECONDS:.0f} s{remedy}") from None
    return mesh


def load(process: Process, wait: Callable[[Any], Any], warn: Callable[[str], None]) -> Health:
    """Have the process read its policy and open its sandbox.

    Raises:
        KolmoError: of the kind and with the line that it gave there.
    """
    ready = wait(process.generator.ready.call_one())
    process.pid = ready.pid
    for line in ready.warnings:
        warn(line)
    if ready.error is not None:
        code, line = ready.error
        raise {e.exit_code: e for e in (UsageError, EnvironmentMissing)}.get(code, KolmoError)(line)
    return ready.health


def open_receiver(host: Host) -> Any:
    """A process on another host that receives the weights."""
    from kolmocli.engine.monarch.generator import WeightReceiver

    mesh = _processes(host, "receivers", "receiver")
    return mesh.spawn("receiver", WeightReceiver)
