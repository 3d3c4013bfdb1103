"""Access to a server: for everybody on this machine, or for holders of the token."""

from __future__ import annotations

import hmac
import ipaddress
import os
import socket
from pathlib import Path

from kolmocli.errors import UsageError
from kolmocli.files import require_regular

TOKEN_VARIABLE = "KOLMO_SANDBOX_TOKEN"
_SHORTEST, _LONGEST = 16, 4_096


def read_token(file: str | Path) -> str:
    """The token in a file: one line. Raises UsageError for a file that holds none worth the name."""
    require_regular(file, piped=True)
    try:
        with open(file, "rb") as opened:
            text = opened.read(_LONGEST + 2).decode("ascii", "replace").strip()
    except OSError as error:
        raise UsageError(f"{file}: the token cannot be read: {error.strerror}") from None
    return _checked(text, str(file))


def environment_token() -> str | None:
    text = os.environ.get(TOKEN_VARIABLE)
    return None if not text else _checked(text.strip(), TOKEN_VARIABLE)


def _checked(text: str, place: str) -> str:
    if len(text) < _SHORTEST:
        raise UsageError(
            f"{place}: a token has {_SHORTEST} characters at least, this one {len(text)}; make one with: openssl rand -hex 32"
        )
    if len(text) > _LONGEST or not all("!" <= character <= "~" for character in text):
        raise UsageError(
            f"{place}: a token is one line of printable ASCII without blanks, {_LONGEST} characters at most"
        )
    return text


def allows(token: str | None, header: bytes | None) -> bool:
    """Whether this `Authorization` header brings the token. It takes as long for a wrong one as for a right one."""
    if token is None:
        return True
    return hmac.compare_digest(header or b"", f"Bearer {token}".encode())


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches a server on this host: all addresses of the name are loopback."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise UsageError(f"--host {host}: no such host or address") from None
    return all(ipaddress.ip_address(str(address[0]).partition("%")[0]).is_loopback for *_, address in found)
