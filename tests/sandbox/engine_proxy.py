"""A door in front of the real Docker engine that can be shut, jammed, or made to lie about the making of containers.

    with EngineProxy() as proxy: DOCKER_HOST=proxy.host

What passes is passed on byte by byte. Faults that are queued in `faults` meet one request for a new container each:
an HTTP status is the engine's answer instead of making it; "lost" makes it, and loses the answer.
"""

from __future__ import annotations

import contextlib
import select
import socket
import tempfile
import threading
from collections import deque
from pathlib import Path

ENGINE = "/var/run/docker.sock"
BODY = b'{"message": "a fault"}'
ERROR = b"HTTP/1.1 %d Fault\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
CREATE = b"/containers/create"


class EngineProxy:
    def __init__(self) -> None:
        self.faults: deque[int | str] = deque()
        self.created = 0
        """Requests for a new container that reached the engine."""
        self._flowing = threading.Event()
        self._flowing.set()
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._folder = tempfile.TemporaryDirectory()
        self._path = Path(self._folder.name) / "engine.sock"
        self.host = f"unix://{self._path}"
        self.open()

    def __enter__(self) -> EngineProxy:
        return self

    def __exit__(self, *_: object) -> None:
        self.flow()
        self.shut()
        self._folder.cleanup()

    def shut(self) -> None:
        """As when the engine is stopped: every connection ends, and nobody listens any more."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for pair in self._pairs:
            for end in pair:
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
        self._pairs.clear()

    def open(self) -> None:
        self._path.unlink(missing_ok=True)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self._path))
        self._listener.listen(64)
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def jam(self) -> None:
        """As when the engine is frozen: connections stay, and nothing comes through."""
        self._flowing.clear()

    def flow(self) -> None:
        self._flowing.set()

    def _accept(self, listener: socket.socket) -> None:
        with contextlib.suppress(OSError):  # the listener was closed
            while True:
                client, _ = listener.accept()
                engine = socket.socket(socket.AF_UNIX)
                engine.connect(ENGINE)
                self._pairs.append((client, engine))
                threading.Thread(target=self._carry, args=(client, engine), daemon=True).start()

    def _carry(self, client: socket.socket, engine: socket.socket) -> None:
        """Until both sides have ended. The end of one direction is passed on: attached streams live on half-open."""
        other = {client: engine, engine: client}
        reading = [client, engine]
        with contextlib.suppress(OSError), client, engine:
            while reading:
                ready, _, _ = select.select(reading, [], [], 1)
                self._flowing.wait()
                for end in ready:
                    data = end.recv(1 << 16)
                    if not data:
                        reading.remove(end)
                        other[end].shutdown(socket.SHUT_WR)
                    elif end is client and CREATE in data.split(b"\r\n", 1)[0]:
                        if not self._create(client, engine, data):
                            return
                    else:
                        other[end].sendall(data)

    def _create(self, client: socket.socket, engine: socket.socket, request: bytes) -> bool:
        """Whether the connection lives on."""
        head, _, body = request.partition(b"\r\n\r\n")
        lengths = [line.split(b":")[1] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")]
        while len(body) < int(lengths[0]):
            body += client.recv(1 << 16)
        fault = self.faults.popleft() if self.faults else None
        if isinstance(fault, int):
            client.sendall(ERROR % (fault, len(BODY), BODY))
            return False
        self.created += 1
        engine.sendall(head + b"\r\n\r\n" + body)
        if fault == "lost":
            engine.recv(1 << 16)  # the answer that the other side never gets
        return fault is None
