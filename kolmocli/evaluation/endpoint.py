"""A model behind an OpenAI-compatible chat endpoint: one request per answer, several at once, retried with patience.

The key comes from `KOLMO_API_KEY` or `OPENAI_API_KEY`, is sent to the endpoint and to nowhere else, and is never shown.
"""

from __future__ import annotations

import contextlib
import os
import threading
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx2

from kolmocli.addresses import is_web_address
from kolmocli.errors import KolmoError, UsageError
from kolmocli.plain import parsed

KEYS = ("KOLMO_API_KEY", "OPENAI_API_KEY")
_AT_ONCE = 16
"""Requests on their way at a time; the benchmark's own number."""
_TRIES = 6
_LONGEST_REPLY = 8 << 20
"""Bytes, as sent and as unpacked: a million tokens, and what stands around them."""
_SHOWN = 80
"""Characters of what an endpoint said."""
_SHORTEST_SECRET = 6
"""Characters. A shorter key, such as the EMPTY of a local server, guards nothing, and may be a word of a program."""
_LONGEST_WAIT = 60.0
_WORTH_ANOTHER_TRY = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_ELSEWHERE = frozenset({301, 302, 303, 307, 308, 404, 405})
TIMEOUT = 600.0
"""Seconds for a whole answer: a slow model may think for minutes before its first byte."""
_CONNECT = 20.0
"""Seconds: a host that is not there is known soon."""


Messages = list[dict[str, str]]
"""A conversation, as chat endpoints take it."""


@dataclass(frozen=True, slots=True)
class Answer:
    text: str
    cut_off: bool
    """It ran out of tokens."""


@dataclass(frozen=True)
class Endpoint:
    """`url` is the base, such as `http://localhost:8000/v1`, or the whole address of the chat completions."""

    url: str
    model: str
    max_tokens: int = 1024
    timeout: float = TIMEOUT
    """Seconds from a request to the last byte of its answer, however many bytes come meanwhile."""
    first_wait: float = 1.0
    """Seconds before the second try; doubled for each one after it."""
    key: str | None = field(default=None, repr=False)
    note: Callable[[str], None] = field(default=lambda text: None, repr=False)
    """Is told, once for each reason, that something is asked for again."""
    _told: set[str] = field(default_factory=set, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not is_web_address(self.url):
            raise UsageError(f"--endpoint {self.url}: not an address; it looks like http://localhost:8000/v1")

    @property
    def address(self) -> str:
        base = self.url.rstrip("/")
        return base if base.endswith("/chat/completions") else f"{base}/chat/completions"

    @contextmanager
    def asking(self, conversations: Sequence[Messages]) -> Iterator[list[Future[Answer]]]:
        """While entered, all conversations are sent, and each has its answer in a future, in order.

        Leaving the block ends it at once, without waiting for requests under way.

        Raises:
            KolmoError: (from a future) the endpoint cannot be reached, refuses, or does not speak the protocol.
        """
        futures: list[Future[Answer]] = [Future() for _ in conversations]
        waiting = iter(zip(futures, conversations, strict=True))
        lock, over = threading.Lock(), threading.Event()

        def work() -> None:
            while not over.is_set():
                with lock:
                    future, messages = next(waiting, (None, None))
                if future is None or messages is None:
                    return
                try:
                    future.set_result(self._ask(client, messages, over))
                except Exception as error:
                    future.set_exception(error)

        with httpx2.Client(headers=self._headers(), timeout=httpx2.Timeout(self.timeout, connect=_CONNECT)) as client:
            # Not an executor: the interpreter waits for the threads of one when it ends, and they wait for a host.
            for _ in range(min(_AT_ONCE, len(futures))):
                threading.Thread(target=work, daemon=True).start()
            try:
                yield futures
            finally:
                over.set()

    def _headers(self) -> dict[str, str]:
        """Headers that accept no encoding but gzip: any other would have to be unpacked without a limit."""
        key = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        return {"Accept-Encoding": "gzip", **key}

    def _ask(self, client: httpx2.Client, messages: Messages, over: threading.Event) -> Answer:
        body = {"model": self.model, "messages": messages, "max_tokens": self.max_tokens}
        for attempt in range(1, _TRIES + 1):
            pause = self.first_wait * 2 ** (attempt - 1)
            try:
                response, said = self._sent(client, body)
            except httpx2.TransportError as error:
                reason = str(error) or type(error).__name__
            else:
                if response.status_code == 200:
                    return self._read(said)
                reason = f"{response.status_code} {self._words(said)}"
                if response.status_code not in _WORTH_ANOTHER_TRY:
                    raise self._failed(f"{reason}{self._mend(response.status_code)}")
                pause = _asked_to_wait(response) or pause
            if attempt < _TRIES:
                self._tell(reason)
            if attempt < _TRIES and over.wait(min(pause, _LONGEST_WAIT)):
                break
        raise self._failed(f"no answer in {attempt} tries: {reason}")

    def _sent(self, client: httpx2.Client, body: Mapping[str, Any]) -> tuple[httpx2.Response, bytes]:
        """Send one request, and return what comes back within `timeout`.

        The library's own limits are for one read: a byte a second, in the body or among the headers, meets none of them. So
        somebody else waits for the answer, and the thread that gets it is left behind.

        Raises:
            KolmoError: time is up. It is not tried again: the next one would take as long.
        """
        got: Future[tuple[httpx2.Response, bytes]] = Future()
        late = threading.Event()

        def send() -> None:
            try:
                with client.stream("POST", self.address, json=body) as response:
                    got.set_result((response, self._body(response, late)))
            except Exception as error:
                got.set_exception(error)

        threading.Thread(target=send, daemon=True).start()
        if not wait([got], self.timeout).done:
            late.set()
            raise self._failed(f"no complete answer within {self.timeout:g} s; give it more with --timeout")
        return got.result()

    def _body(self, response: httpx2.Response, late: threading.Event) -> bytes:
        """All that was sent, unpacked. Raises KolmoError where either is longer than an answer can be."""
        said = bytearray()
        for chunk in response.iter_raw():
            said += chunk
            if late.is_set():  # it is not waited for any more
                return b""
            if len(said) > _LONGEST_REPLY:
                raise self._failed(f"a reply of more than {_LONGEST_REPLY >> 20} MiB; no answer is so long")
        packed = response.headers.get("content-encoding", "identity").lower()
        if packed == "identity":
            return bytes(said)
        if packed != "gzip":
            raise self._failed(f"a reply packed with {packed[:_SHOWN]!r}, which was not asked for")
        try:
            unpacked = zlib.decompressobj(wbits=31).decompress(said, _LONGEST_REPLY + 1)
        except zlib.error:
            raise self._failed("a reply packed with gzip that cannot be unpacked") from None
        if len(unpacked) > _LONGEST_REPLY:
            raise self._failed(f"a reply that unpacks to more than {_LONGEST_REPLY >> 20} MiB; no answer is so long")
        return unpacked

    def _read(self, said: bytes) -> Answer:
        try:
            choice = parsed(said)["choices"][0]
            text = _text_of(choice["message"]["content"])
        except (ValueError, LookupError, TypeError):
            shown = self._masked(said.decode("utf-8", "replace"))[:_SHOWN]
            raise self._failed(f"the reply is not that of an OpenAI-compatible chat endpoint: {shown!r}") from None
        return Answer(self._masked(text), choice.get("finish_reason") == "length")

    def _words(self, said: bytes) -> str:
        """The endpoint's own words, on one line."""
        text = None
        with contextlib.suppress(ValueError, LookupError, TypeError):
            text = parsed(said)["error"]["message"]
        if not isinstance(text, str):
            text = said.decode("utf-8", "replace")
        return " ".join(self._masked(text).split())[: 2 * _SHOWN]

    def _tell(self, reason: str) -> None:
        if reason not in self._told:
            self._told.add(reason)
            self.note(self._masked(f"{self.address}: {reason}; asked again, {_TRIES} times in all"))

    def _failed(self, reason: str) -> KolmoError:
        return KolmoError(self._masked(f"{self.address}: {reason}"))

    def _masked(self, text: str) -> str:
        """Without the key, which an endpoint may say back: what it says is shown and saved."""
        return text.replace(self.key, "***") if self.key and len(self.key) >= _SHORTEST_SECRET else text

    def _mend(self, status: int) -> str:
        if status in (401, 403):
            return f"; set {KEYS[0]}" if self.key is None else f"; the key in {' or '.join(KEYS)} is not taken"
        return "; is the address right? It looks like http://localhost:8000/v1" if status in _ELSEWHERE else ""


def _text_of(content: Any) -> str:
    """The text of a message: nothing where a model refuses or only thinks, and of a list of parts those of text. Raises LookupError
    or TypeError for anything else."""
    if isinstance(content, list):
        return "".join(part["text"] for part in content if part["type"] == "text")
    if not isinstance(content, str | None):
        raise TypeError
    return content or ""


def key_from_environment() -> str | None:
    """The first of `KEYS` that is set.

    Raises:
        UsageError: it cannot be sent.
    """
    name = next((name for name in KEYS if os.environ.get(name, "").strip()), None)
    if name is None:
        return None
    key = os.environ[name].strip()
    if not (key.isascii() and key.isprintable()):
        raise UsageError(f"{name}: has characters that no key has; set it again")
    return key


def _asked_to_wait(response: httpx2.Response) -> float | None:
    """Seconds, from `Retry-After`; its other form, a date, is passed over."""
    value = response.headers.get("retry-after", "")
    return float(value) if value.isdecimal() else None
