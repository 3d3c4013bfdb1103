"""Addresses on the web, as users type them."""

from __future__ import annotations

from urllib.parse import urlsplit


def is_web_address(text: str) -> bool:
    """Whether this is http:// or https:// with a host, a port and a path that a request can name, whatever answers there."""
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
        host.encode("idna")  # a label of a name has 1 to 63 characters
    except ValueError:
        return False
    sendable = parts.path.isascii() and text.isprintable() and " " not in text
    return parts.scheme in ("http", "https") and bool(host) and port != 0 and sendable
