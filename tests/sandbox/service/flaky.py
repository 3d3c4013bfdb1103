"""What may stand between a client and its server: it hands on requests, and does something else with the first few."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx2


@contextmanager
def between(url: str, *troubles: str | tuple[int, bytes]) -> Iterator[str]:
    """Its address. A trouble for each of the first posts: `reset`, `cut` (half an answer), or an answer of its own."""
    left = list(troubles)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._hand_on(httpx2.get(url + self.path))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            trouble = left.pop(0) if left else None
            if trouble == "reset":
                self.close_connection = True
                self.connection.close()
            elif isinstance(trouble, tuple):
                self._say(*trouble)
            else:
                self._hand_on(
                    httpx2.post(url + self.path, content=body, headers={"Content-Type": "application/json"}),
                    trouble == "cut",
                )

        def _hand_on(self, answer: httpx2.Response, cut: bool = False) -> None:
            self._say(answer.status_code, answer.content, cut)

        def _say(self, code: int, body: bytes, cut: bool = False) -> None:
            self.send_response(code)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Retry-After", "0")
            self.end_headers()
            self.wfile.write(body[: len(body) // 2] if cut else body)
            self.close_connection = cut

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
