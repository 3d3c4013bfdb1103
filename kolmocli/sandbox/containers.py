"""Containers as links: how one is made, spoken to, and ended."""

from __future__ import annotations

import contextlib
import json
import select
import socket
import threading
import time
import uuid
from dataclasses import asdict
from typing import Any

import docker
import requests
from docker.errors import APIError, DockerException, NotFound

from kolmocli.errors import CheckError
from kolmocli.sandbox import frames
from kolmocli.sandbox.base import Limits
from kolmocli.sandbox.image import client, image_source
from kolmocli.sandbox.link import Finding, LinkError
from kolmocli.sandbox.owner import this_owner

LABEL_OWNER, LABEL_BORN = "kolmo.owner", "kolmo.born"
GREETING_S = 20.0
_STREAM = 8  # bytes of the header that the engine puts before every chunk of output
_CHILD_OVERHEAD_MB, _CONTAINER_OVERHEAD_MB = 32, 96
KILLED = 137


class ContainerLink:
    """The attached streams of one running container."""

    def __init__(self, container: str, raw: Any) -> None:
        self.id = container
        self.findings: list[Finding] = []
        self._raw = raw  # holds the connection open
        self._socket: socket.socket = raw._sock
        self._socket.setblocking(False)
        self._buffer = bytearray()

    def fileno(self) -> int:
        return self._socket.fileno()

    def send(self, data: memoryview) -> int:
        try:
            return self._socket.send(data)
        except BlockingIOError:
            return 0
        except OSError as error:
            raise LinkError(str(error)) from error

    def receive(self) -> bytes | None:
        """The engine marks each chunk with stream and length; chunks end anywhere."""
        try:
            chunk = self._socket.recv(1 << 18)
        except BlockingIOError:
            return None
        except OSError:
            return b""
        if not chunk:
            return b""
        self._buffer += chunk
        out, at = bytearray(), 0
        while len(self._buffer) - at >= _STREAM:
            stream, length = self._buffer[at], int.from_bytes(self._buffer[at + 4 : at + 8], "big")
            if stream != 1 or self._buffer[at + 1 : at + 4] != b"\0\0\0" or length > frames.MAX_PAYLOAD:
                raise LinkError("the engine's stream is out of step")
            if len(self._buffer) - at - _STREAM < length:
                break
            out += self._buffer[at + _STREAM : at + _STREAM + length]
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

    def __init__(self, image: str, limits: Limits, slots: int, runtime: str | None = None) -> None:
        self._image, self._runtime = image, runtime
        memory = _CONTAINER_OVERHEAD_MB + slots * (limits.memory_mb + _CHILD_OVERHEAD_MB)
        self._greeting = asdict(limits) | {"slots": slots, "container_mb": memory, "pids": slots + 4}
        self._seccomp = (image_source() / "seccomp.json").read_text("utf-8")
        self._mine = threading.local()
        self._clients: list[docker.DockerClient] = []

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
        try:
            self._create(container)
            raw = self._api.attach_socket(container, params={"stdin": 1, "stdout": 1, "stream": 1, "logs": 0})
            link = ContainerLink(container.removeprefix("kolmo-"), raw)
            self._api.start(container)
            self._greet(link)
        except (DockerException, requests.RequestException, OSError, LinkError, frames.FrameError) as error:
            if link:
                link.close()
            self._remove(container)
            raise LinkError(" ".join(str(error).split())[:300]) from error
        broken = [finding for finding in link.findings if not finding["ok"]]
        if broken:
            self.end(link)
            first = broken[0]
            raise CheckError(
                f"the Docker engine does not keep what the sandbox promises: {first['promise']} "
                f"(expected {first['expected']}, found {first['found']}); nothing is run"
            )
        return link

    def _create(self, name: str) -> None:
        api, greeting = self._api, self._greeting
        host = api.create_host_config(
            network_mode="none",
            read_only=True,
            ipc_mode="none",
            tmpfs={"/dev/mqueue": "ro,size=4k"},  # the engine mounts it writable whatever ipc_mode says
            cap_drop=["ALL"],
            security_opt=["no-new-privileges:true", f"seccomp={self._seccomp}"],
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
            environment={"PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8"},
            labels={LABEL_OWNER: this_owner(), LABEL_BORN: str(int(time.time()))},
            host_config=host,
            network_disabled=True,
        )

    def _greet(self, link: ContainerLink) -> None:
        """Speak first: the other side is silent until then, so that no frame is lost while attaching."""
        data = memoryview(frames.encode(frames.HELLO, 0, json.dumps(self._greeting).encode()))
        reader, until = frames.Reader(), time.monotonic() + GREETING_S
        while data:
            data = data[link.send(data) :]
        while (left := until - time.monotonic()) > 0:
            select.select([link.fileno()], [], [], left)
            chunk = link.receive()
            if chunk == b"":
                raise LinkError("a container ended while it was greeted")
            for kind, _, payload in reader.feed(chunk or b""):
                if kind != frames.HELLO:
                    raise LinkError("a container answered its greeting with something else")
                link.findings = json.loads(payload)["check"]
                return
        raise LinkError(f"a container did not answer its greeting within {GREETING_S:.0f} s")

    def end(self, link: ContainerLink) -> bool:
        """Remove it. True when it ended by itself: not by a SIGKILL from outside, and not removed by another."""
        link.close()
        name = f"kolmo-{link.id}"
        try:
            state = self._api.inspect_container(name)["State"]
        except (DockerException, requests.RequestException, OSError, LinkError):
            state = {}
        self._remove(name)
        if not state:
            return False
        return bool(state.get("OOMKilled")) or state.get("Running", False) or state.get("ExitCode") not in (KILLED, 0)

    def _remove(self, name: str) -> None:
        """Gone is gone, however; what an unreachable engine keeps is left to the sweeper."""
        with contextlib.suppress(NotFound, APIError, DockerException, requests.RequestException, OSError, LinkError):
            self._api.remove_container(name, force=True, v=True)

    def answers(self, link: ContainerLink) -> bool:
        try:
            return bool(self._api.ping())
        except (DockerException, requests.RequestException, OSError, LinkError):
            return False

    def close(self) -> None:
        for each in self._clients:
            each.close()
        self._clients.clear()
