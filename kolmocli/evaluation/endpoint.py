"""A model behind an OpenAI-compatible chat endpoint: one request per answer, several at once, retried with patience.

The key comes from `KOLMO_API_KEY` or `OPENAI_API_KEY`, is sent to the endpoint and to nowhere else, and is never shown.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import httpx2

from kolmocli.errors import KolmoError, UsageError
from kolmocli.evaluation.prompt import messages

KEYS = ("KOLMO_API_KEY", "OPENAI_API_KEY")
_AT_ONCE = 16
"""Requests on their way at a time; the benchmark's own number."""
_TRIES = 6
_LONGEST_WAIT = 60.0
_WORTH_ANOTHER_TRY = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_TIMEOUT = httpx2.Timeout(600.0, connect=20.0)
"""Seconds. A slow model may think for minutes before its first byte; a host that is not there is known soon."""


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
    first_wait: float = 1.0
    """Seconds before the second try; doubled for each one after it."""
    key: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not self.url.startswith(("http://", "https://")):
            raise UsageError(f"--endpoint {self.url}: not an address; it looks like http://localhost:8000/v1")

    @property
    def address(self) -> str:
        base = self.url.rstrip("/")
        return base if base.endswith("/chat/completions") else f"{base}/chat/completions"

    def answers(self, sequences: Sequence[tuple[int, ...]]) -> Iterator[Answer]:
        """An answer for each sequence, in order, as they come.

        Raises:
            KolmoError: the endpoint cannot be reached, refuses, or does not speak the protocol.
        """
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        threads = ThreadPoolExecutor(_AT_ONCE)
        try:
            with httpx2.Client(headers=headers, timeout=_TIMEOUT) as client:
                yield from threads.map(lambda sequence: self._ask(client, sequence), sequences)
        finally:
            threads.shutdown(wait=False, cancel_futures=True)

    def _ask(self, client: httpx2.Client, sequence: tuple[int, ...]) -> Answer:
        body = {"model": self.model, "messages": messages(sequence), "max_tokens": self.max_tokens}
        for attempt in range(1, _TRIES + 1):
            wait = self.first_wait * 2 ** (attempt - 1)
            try:
                response = client.post(self.address, json=body)
            except httpx2.TransportError as error:
                reason = str(error) or type(error).__name__
            else:
                if response.status_code == 200:
                    return self._read(response)
                reason = f"{response.status_code} {_said(response)}"
                if response.status_code not in _WORTH_ANOTHER_TRY:
                    raise KolmoError(f"{self.address}: {reason}{self._mend(response.status_code)}")
                wait = _asked_to_wait(response) or wait
            if attempt < _TRIES:
                time.sleep(min(wait, _LONGEST_WAIT))
        raise KolmoError(f"{self.address}: no answer in {_TRIES} tries: {reason}")

    def _read(self, response: httpx2.Response) -> Answer:
        try:
            choice = response.json()["choices"][0]
            text = choice["message"]["content"]
        except (ValueError, LookupError, TypeError):
            raise KolmoError(
                f"{self.address}: the reply is not that of an OpenAI-compatible chat endpoint: {response.text[:80]!r}"
            ) from None
        return Answer(text if isinstance(text, str) else "", choice.get("finish_reason") == "length")

    def _mend(self, status: int) -> str:
        if status in (401, 403):
            return f"; set {KEYS[0]}" if self.key is None else f"; the key in {' or '.join(KEYS)} is not taken"
        return "; is the address right? It looks like http://localhost:8000/v1" if status in (404, 405) else ""


def key_from_environment() -> str | None:
    return next((os.environ[name] for name in KEYS if os.environ.get(name)), None)


def _said(response: httpx2.Response) -> str:
    """The endpoint's own words, on one line."""
    try:
        data: Any = response.json()
        text = data["error"]["message"]
    except (ValueError, LookupError, TypeError):
        text = response.text
    return " ".join(str(text).split())[:160]


def _asked_to_wait(response: httpx2.Response) -> float | None:
    """Seconds, from `Retry-After`; its other form, a date, is passed over."""
    value = response.headers.get("retry-after", "")
    return float(value) if value.isdecimal() else None
