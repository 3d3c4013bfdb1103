"""Places that run programs, by name: on this machine, or behind the address of a server."""

from __future__ import annotations

from kolmocli.errors import suggest

Backend = str
"""auto, docker, embedded, or the http:// address of `kolmo sandbox serve`."""
BACKENDS = ("auto", "docker", "embedded")


def is_address(backend: Backend) -> bool:
    return backend.startswith(("http://", "https://"))


def what_is_wrong(backend: str) -> str:
    """With this name, and the remedy; nothing where it is one."""
    if backend in BACKENDS or is_address(backend):
        return ""
    close = suggest(backend, BACKENDS)
    hint = f"; {close}" if close.startswith("did you mean") else ""
    return f"must be one of {', '.join(BACKENDS)}, or http://host:port; got {backend!r}{hint}"
