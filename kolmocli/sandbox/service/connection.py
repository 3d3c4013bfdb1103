"""One connection to a server: a question, an answer, and what is lost in between."""

from __future__ import annotations

import http.client
import socket
import ssl
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

from kolmocli.addresses import is_web_address
from kolmocli.console import printable
from kolmocli.errors import UsageError
from kolmocli.plain import parsed

CONNECT_S = 10.0
"""Until a host is given up that does not say whether it is there."""
_SHOWN = 200
_LONGEST_AGAIN_S = 30.0
"""To wait because a server, or what stands before it, says so: ours says no more."""


class Lost(Exception):
    """No whole answer came; whether the server took what was sent is not known."""


class Unreachable(Lost):
    """No connection: nothing was sent."""


@dataclass(frozen=True, slots=True)
class Answer:
    code: int
    body: bytes
    again: float | None
    """Seconds after which the server wants to be asked again, where it says so."""

    @property
    def words(self) -> str:
        """Why there is nothing better than this answer, on one line."""
        try:
            detail = parsed(self.body)["detail"]
        except (ValueError, LookupError, TypeError):
            detail = self.body.decode("utf-8", "replace")
        return f"{self.code} {printable(' '.join(str(detail).split()))[:_SHOWN]}".rstrip()


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a server, or of a balancer before several."""

    text: str
    secure: bool
    host: str
    port: int
    path: str

    @classmethod
    def of(cls, text: str) -> Address:
        """Raises UsageError for what is no address."""
        parts = urlsplit(text) if is_web_address(text) else None
        if parts is None or parts.query or parts.fragment or parts.username is not None:
            raise UsageError(f"sandbox {text}: an address looks like http://127.0.0.1:8080")
        secure = parts.scheme == "https"
        return cls(text, secure, parts.hostname or "", parts.port or (443 if secure else 80), parts.path.rstrip("/"))


class Connection:
    """Opened when it is needed, again when it was lost. One thread asks; any may close."""

    def __init__(self, address: Address, token: str | None, silence_s: float) -> None:
        self._address, self._silence_s = address, silence_s
        self._headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if token is not None:
            self._headers["Authorization"] = f"Bearer {token}"
        self._open: http.client.HTTPConnection | None = None
        self._ended = False

    def ask(self, method: str, path: str, body: bytes | None = None, *, longest: int) -> Answer:
        """The answer, of at most `longest` bytes. Raises Lost after `silence_s` without a byte."""
        connection = self._open or self._connected()
        try:
            connection.request(method, self._address.path + path, body, self._headers)
            response = connection.getresponse()
            said = response.read(longest + 1)
            if response.length:
                raise Lost("the answer was cut off")
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.close()
            raise Lost(_reason(error)) from None
        except BaseException:
            self.close()
            raise
        if response.will_close or len(said) > longest:
            self.close()
        if len(said) > longest:
            raise Lost(f"an answer of more than {longest >> 20} MiB")
        return Answer(response.status, said, _seconds(response.headers.get("Retry-After", "")))

    def _connected(self) -> http.client.HTTPConnection:
        address = self._address
        opened = (
            http.client.HTTPSConnection(
                address.host, address.port, timeout=CONNECT_S, context=ssl.create_default_context()
            )
            if address.secure
            else http.client.HTTPConnection(address.host, address.port, timeout=CONNECT_S)
        )
        # Closed by another thread it stays closed: a request would open a socket that is never closed.
        opened.auto_open = 0
        try:
            opened.connect()
        except OSError as error:
            raise Unreachable(_reason(error)) from None
        opened.sock.settimeout(self._silence_s)
        self._open = opened
        if self._ended:
            self.close()
            raise Unreachable("it was closed")
        return opened

    def end(self) -> None:
        """Close it for good."""
        self._ended = True
        self.close()

    def close(self) -> None:
        opened, self._open = self._open, None
        if opened is not None:
            with suppress(OSError):
                if opened.sock is not None:
                    opened.sock.shutdown(socket.SHUT_RDWR)  # its reader notices
            opened.close()


def _reason(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "silence"
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def _seconds(said: str) -> float | None:
    return min(float(said), _LONGEST_AGAIN_S) if said.isdigit() and len(said) < 6 else None
