"""A chat endpoint, as a real HTTP server on this machine."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from kolmocli.tasks.files.entries import entry

Reply = tuple[int, dict[str, str], str | bytes]
"""Status, headers and body."""
Replies = Callable[[int, dict[str, Any]], Reply]
"""From the number of a request, and its body."""


def says(text: str | None, finish: str = "stop") -> Reply:
    return 200, {}, json.dumps({"choices": [{"message": {"content": text}, "finish_reason": finish}]})


def asked_for(body: dict[str, Any]) -> list[int]:
    """The sequence in the prompt, as any reader of predictions finds it."""
    prompt = body["messages"][-1]["content"]
    return list(entry({"prompt": prompt, "generation": ""}).sequence)


@dataclass
class Served:
    """What a server was asked."""

    url: str
    paths: list[str] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)


@contextmanager
def serving(reply: Replies) -> Iterator[Served]:
    """A server that answers a request with `reply(number of the request, its body)`, each in a thread of its own."""
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                served.paths.append(self.path)
                served.keys.append(self.headers["Authorization"])
                served.bodies.append(body)
                number = len(served.bodies)
            status, headers, text = reply(number, body)
            try:
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(text.encode() if isinstance(text, str) else text)
            except ConnectionError:  # whoever asked has gone
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            """Say nothing: the output of a test is its own."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    served = Served(f"http://127.0.0.1:{server.server_port}/v1")
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
