"""Containers as links: how one is made, spoken to, and ended."""

from __future__ import annotations

import contextlib
import itertools
import socket
import threading
import time
import uuid
from collections.abc import Collection
from dataclasses import asdict
from functools import cached_property
from typing import Any

import docker
from docker.errors import APIError, DockerException, NotFound

from kolmocli.sandbox.base import NATIVE, Limits
from kolmocli.sandbox.docker.image import client, image_source
from kolmocli.sandbox.docker.owner import this_owner
from kolmocli.sandbox.docker.toolchains import native_source
from kolmocli.sandbox.pool.link import Finding, LinkError, SocketLink, broken_promise, with_reason
from kolmocli.sandbox.wire import frames

LABEL_OWNER, LABEL_BORN = "kolmo.owner", "kolmo.born"
GREETING_S, NATIVE_GREETING_S = 20.0, 60.0
"""Containers for other languages compile a program before they answer."""
_STREAM = 8  # bytes of the header that the engine puts before every chunk of output
_STDOUT, _STDERR = 1, 2
_CHILD_OVERHEAD_MB, _CONTAINER_OVERHEAD_MB = 32, 96
_AHEAD = 12
"""Children that wait for a program in each container."""
KILLED = 137
ENDING_S = 2.0
"""A container whose streams have ended takes a moment to end itself; one that still runs then is stuck."""
_WRITABLE = ("/dev/mqueue",)
"""Paths that an engine mounts writable into a read-only container, whatever it was told: covered with nothing."""
_SCRATCH_MB, _COMPILER_MB = 64, 1_024
"""For other languages than Python: files of one program, and memory while it is compiled."""
_WRITABLE_PODMAN = (*_WRITABLE, "/run", "/tmp", "/var/tmp")


class ContainerLink(SocketLink):
    """The attached streams of one running container."""

    def __init__(self, container: str, raw: Any, lane: int) -> None:
        super().__init__("a container", container, raw._sock)
        self.lane = lane
        self._raw = raw  # holds the connection open
        self._buffer = bytearray()

    def receive(self) -> bytes | None:
        """The engine marks each chunk with stream and length; chunks end anywhere."""
        chunk = super().receive()
        if not chunk:
            return chunk
        self._buffer += chunk
        out, at = bytearray(), 0
        while len(self._buffer) - at >= _STREAM:
            stream, length = self._buffer[at], int.from_bytes(self._buffer[at + 4 : at + 8], "big")
            if (
                stream not in (_STDOUT, _STDERR)
                or self._buffer[at + 1 : at + 4] != b"\0\0\0"
                or length > frames.MAX_PAYLOAD
            ):
                raise LinkError("the engine's stream is out of step")
            if len(self._buffer) - at - _STREAM < length:
                break
            piece = self._buffer[at + _STREAM : at + _STREAM + length]
            if stream == _STDERR:
                self.stderr.add(bytes(piece))
            else:
                out += piece
            at += _STREAM + length
        del self._buffer[:at]
        return bytes(out) or None

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._raw.close()
        self._socket.close()


class ContainerMaker:
    """Makes hardened containers of one image, all with the same limits."""

    def __init__(
        self, image: str, limits: Limits, slots: int, runtime: str | None = None, native: Collection[str] = ()
    ) -> None:
        """`native`: the image is that for other languages, with these."""
        self._image, self._runtime = image, runtime
        memory = _CONTAINER_OVERHEAD_MB + slots * (limits.memory_mb + _CHILD_OVERHEAD_MB)
        if native:
            memory += _SCRATCH_MB + max(0, _COMPILER_MB - limits.memory_mb)
        memory += (
            3 * limits.input_bytes + 2 * (slots + 1) * limits.output_bytes
        ) >> 20  # in the supervisor, on their way
        self._greeting: dict[str, Any] = asdict(limits) | {
            "slots": slots,
            "ahead": _AHEAD,
            "container_mb": memory,
            "pids": 2 * (slots + _AHEAD) + 5,
        }
        self._greeting |= {language: int(language in native) for language in NATIVE}
        self._native = bool(native)
        self._seccomp = (native_source() if native else image_source()) / "seccomp.json"
        self._mine = threading.local()
        self._clients: list[docker.DockerClient] = []
        self._lanes: set[int] = set()
        self._lock = threading.Lock()
        self._left: list[str] = []
        """Containers that the engine did not remove when asked, as it was away: it is asked again."""

    @property
    def _api(self) -> Any:
        """The client is not safe to share: one for each thread."""
        if not hasattr(self._mine, "client"):
            try:
                self._mine.client = client(timeout=20)
            except (DockerException, OSError) as error:
                raise LinkError(str(error)) from error
            self._clients.append(self._mine.client)
        return self._mine.client.api

    def make(self) -> ContainerLink:
        container = f"kolmo-{uuid.uuid4().hex[:12]}"
        link: ContainerLink | None = None
        lane = self._take_lane()
        try:
            self._create(container)
            raw = self._api.attach_socket(
                container, params={"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1, "logs": 0}
            )
            link = ContainerLink(container.removeprefix("kolmo-"), raw, lane)
            self._api.start(container)
            link.greet(self._greeting | {"lane": lane}, NATIVE_GREETING_S if self._native else GREETING_S)
        except (DockerException, OSError, LinkError, frames.FrameError) as error:
            if link:
                link.close()
            self._lanes.discard(lane)
            self._remove(container)
            said = " ".join(str(error).split())[:300]
            raise LinkError(with_reason(said, link.stderr) if link else said) from error
        link.findings += self._found_runtime(container)
        if broken := broken_promise(link.findings, "the Docker engine"):
            self.end(link)
            raise broken
        self._remove_left()
        return link

    def _take_lane(self) -> int:
        """The first free number: containers that live at the same time compute on different processors."""
        with self._lock:
            lane = next(number for number in itertools.count() if number not in self._lanes)
            self._lanes.add(lane)
            return lane

    @cached_property
    def _is_podman(self) -> bool:
        parts = self._api.version().get("Components") or []
        return any(part.get("Name") == "Podman Engine" for part in parts)

    @cached_property
    def _profile(self) -> str:
        """Docker wants the text of the profile, Podman the path of a file on its own machine."""
        return str(self._seccomp) if self._is_podman else self._seccomp.read_text("utf-8")

    def _create(self, name: str) -> None:
        api, greeting = self._api, self._greeting
        mounts = dict.fromkeys(_WRITABLE_PODMAN if self._is_podman else _WRITABLE, "ro,size=4k")
        if self._native:
            mounts["/scratch"] = f"rw,exec,nosuid,nodev,size={_SCRATCH_MB}m,mode=1777"
        host = api.create_host_config(
            network_mode="none",
            read_only=True,
            ipc_mode="none",
            tmpfs=mounts,
            cap_drop=["ALL"],
            security_opt=["no-new-privileges:true", f"seccomp={self._profile}"],
            pids_limit=greeting["pids"],
            mem_limit=f"{greeting['container_mb']}m",
            memswap_limit=f"{greeting['container_mb']}m",
            log_config={"type": "none"},
            ulimits=[
                docker.types.Ulimit(name="core", soft=0, hard=0),
                docker.types.Ulimit(name="nofile", soft=256, hard=256),
            ],
            init=False,
            auto_remove=False,
            runtime=self._runtime,
        )
        api.create_container(
            self._image,
            name=name,
            hostname="kolmo",
            user="65534:65534",
            stdin_open=True,
            tty=False,
            detach=False,
            environment={"PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8", "LD_BIND_NOW": "1"},
            labels={LABEL_OWNER: this_owner(), LABEL_BORN: str(int(time.time()))},
            host_config=host,
            network_disabled=True,
        )

    def end(self, link: ContainerLink) -> bool:
        """Remove it. True when it ended by itself: not by a SIGKILL from outside, and not removed by another."""
        link.close()
        self._lanes.discard(link.lane)
        name = f"kolmo-{link.id}"
        try:
            state = self._last_state(name)
        except (DockerException, OSError, LinkError):
            state = {}
        self._remove(name)
        if not state:
            return False
        return bool(state.get("OOMKilled")) or state.get("Running", False) or state.get("ExitCode") not in (KILLED, 0)

    def _found_runtime(self, name: str) -> list[Finding]:
        """Some engines (Podman) pass over the runtime that a client asks for: then nothing is run."""
        if not self._runtime:
            return []
        found = self._api.inspect_container(name)["HostConfig"].get("Runtime")
        right = found == self._runtime
        return [{"promise": "runtime", "expected": self._runtime, "found": str(found), "ok": right}]

    def _last_state(self, name: str) -> dict[str, Any]:
        until = time.monotonic() + ENDING_S
        while True:
            state: dict[str, Any] = self._api.inspect_container(name)["State"]
            if not state.get("Running") or time.monotonic() > until:
                return state
            time.sleep(0.02)

    def _remove(self, name: str) -> None:
        """Gone is gone, however. A container that stays in spite of it is removed later, or by the sweeper of a later owner."""
        try:
            self._api.remove_container(name, force=True, v=True)
        except NotFound:
            return
        except (APIError, DockerException, OSError, LinkError) as error:
            if "already in progress" not in str(error):
                self._left.append(name)

    def _remove_left(self) -> None:
        left, self._left = self._left, []
        for name in left:
            self._remove(name)

    def answers(self, link: ContainerLink) -> bool:
        try:
            return bool(self._api.ping())
        except (DockerException, OSError, LinkError):
            return False

    def close(self) -> None:
        self._remove_left()
        for each in self._clients:
            each.close()
        self._clients.clear()
