"""docker-py's way to a Unix socket, but a connection that fails is closed.

docker-py makes the socket before it connects, and drops it open where no engine listens: with every request to an engine
that is away, until the garbage collector finds it and warns in the midst of something else. It also keeps connections open for
each address by itself, and every container has addresses of its own.
"""

from __future__ import annotations

import socket
from typing import Any

import docker
from docker.transport.unixconn import UnixHTTPAdapter, UnixHTTPConnection, UnixHTTPConnectionPool

_ENGINE = "http+docker://"
"""Prefix of the Unix socket in docker-py's addresses."""
_STREAM = "/attach"
"""Part of the address that a connection leaves HTTP at."""


class EngineConnection(UnixHTTPConnection):
    def connect(self) -> None:
        made = socket.socket(socket.AF_UNIX)
        try:
            made.settimeout(self.timeout)
            made.connect(self.unix_socket)
        except BaseException:
            made.close()
            raise
        self.sock = made


class EnginePool(UnixHTTPConnectionPool):
    def _new_conn(self) -> Any:
        seconds: Any = self.timeout
        return EngineConnection(self.base_url, self.socket_path, seconds)


class EngineAdapter(UnixHTTPAdapter):
    def get_connection(self, url: Any, proxies: object = None) -> UnixHTTPConnectionPool:
        # the stream of a container keeps its connection, even afterwards
        kept = url if _STREAM in url else _ENGINE
        with self.pools.lock:
            if kept not in self.pools:
                self.pools[kept] = EnginePool(url, self.socket_path, self.timeout, self.max_pool_size)
            return self.pools[kept]


def close_what_fails(client: docker.DockerClient) -> None:
    """Let a client that has asked for nothing yet go through connections that are closed where they fail."""
    theirs = client.api.adapters.get(_ENGINE)
    if isinstance(theirs, UnixHTTPAdapter):  # urllib3 closes those over TCP itself
        client.api.mount(_ENGINE, EngineAdapter(f"http+unix://{theirs.socket_path}", theirs.timeout))
