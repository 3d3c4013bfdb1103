"""The requests that a server answers, as an ASGI application: read, refuse or submit, wait, answer.

It holds no state of a request beyond its coroutine. Text of programs is data: none of it is logged.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

from kolmocli.errors import KolmoError, UsageError
from kolmocli.plain import parsed
from kolmocli.sandbox.base import Job, Status, Verdict
from kolmocli.sandbox.pool.pool import Pool
from kolmocli.sandbox.pool.routed import Routed
from kolmocli.sandbox.service import access, fusion, metrics, protocol
from kolmocli.sandbox.service.places import Full, Places

BEAT_S = 5.0
"""After so long, and then as often, an answer to `/v1/jobs` that is not there yet gets a blank in front of it, so the client
knows that the server lives."""
_BODY_S = 30.0
"""Without a byte of a body that has begun."""
_DISCARD_S, _DISCARD_BYTES = 5.0, 64 << 20
"""Seconds and bytes that are read of a refused body."""
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
_JSON = "application/json"


class Refused(Exception):
    """An answer that is not what was asked for: a status code, one line, and seconds after which to try again."""

    def __init__(self, code: int, line: str, again: int | None = None) -> None:
        super().__init__(line)
        self.code, self.line, self.again = code, line, again


class Gone(Exception):
    """The client left."""


class App:
    """`warn` gets a line for what is a defect of ours. `facts` are said by `/healthz` to who has the token."""

    def __init__(
        self,
        pool: Pool | Routed,
        places: Places,
        token: str | None,
        body_bytes: int,
        facts: dict[str, Any],
        warn: Callable[[str], None],
    ) -> None:
        self.pool, self.places, self.requests = pool, places, metrics.Requests()
        self.draining = False
        self._token, self._body_bytes, self._facts, self._warn = token, body_bytes, facts, warn
        self._futures: set[Future[list[Verdict]]] = set()
        self._routes: dict[str, tuple[str, Callable[[_Request], Awaitable[None]]]] = {
            "/run_code": ("POST", self._run_code),
            "/v1/jobs": ("POST", self._jobs),
            "/v1/check": ("GET", self._check),
            "/healthz": ("GET", self._health),
            "/metrics": ("GET", self._metrics),
        }

    def abandon(self) -> None:
        """Stop waiting for promised work: jobs that no container has are not run, and their callers are told."""
        for future in list(self._futures):
            self.pool.withdraw(future)

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        request = _Request(scope, receive, send)
        known = request.path if request.path in self._routes else "other"
        begun = time.monotonic()
        self.requests.open += 1
        try:
            await self._answer(request)
        except Gone:
            self.requests.gone += 1
        finally:
            self.requests.open -= 1
            self.requests.seconds[known] += time.monotonic() - begun
            if request.code:
                self.requests.answers[known, request.code] += 1

    async def _answer(self, request: _Request) -> None:
        try:
            await self._route(request)
        except Refused as refusal:
            await request.refuse(refusal)
        except Full as full:
            await request.refuse(Refused(429, str(full), full.seconds))
        except UsageError as error:
            await request.refuse(Refused(422, str(error)))
        except KolmoError as error:
            await request.refuse(Refused(503, str(error), 1))
        except (Gone, asyncio.CancelledError):
            raise
        except Exception as error:  # a defect: who asked hears of it, and the others are served
            self._warn(f"a request to {request.path} failed: {type(error).__name__}: {error}")
            await request.refuse(Refused(500, f"a defect of the server: {type(error).__name__}"))

    async def _route(self, request: _Request) -> None:
        if request.path not in self._routes:
            raise Refused(404, f"no such path; there are {', '.join(self._routes)}")
        method, answer = self._routes[request.path]
        if request.path != "/healthz" and not self._is_known(request):
            raise Refused(401, "the token is missing or wrong: send it as Authorization: Bearer TOKEN")
        if request.method != method:
            raise Refused(405, f"use {method}")
        await answer(request)

    def _is_known(self, request: _Request) -> bool:
        return access.allows(self._token, request.headers.get(b"authorization"))

    # ---- what is answered

    async def _run_code(self, request: _Request) -> None:
        with self.places.holding() as hold:
            body = await self._body(request, hold)
            job = fusion.read_job(body, self.pool.most)
            language = job.language
            del body
            verdicts = await self._judged(request, [job], None)
            await request.answer(200, fusion.answer(verdicts[0], language))

    async def _jobs(self, request: _Request) -> None:
        with self.places.holding() as hold:
            jobs = protocol.read_jobs(await self._body(request, hold))
            verdicts = await self._judged(request, jobs, BEAT_S)
            await request.answer(200, protocol.verdicts_text(verdicts, jobs))

    async def _check(self, request: _Request) -> None:
        await request.answer(200, _object(promises=self.pool.check()))

    async def _health(self, request: _Request) -> None:
        if self._token is not None and b"authorization" in request.headers and not self._is_known(request):
            raise Refused(401, "the token is wrong")
        reason = "draining" if self.draining else self.pool.broken and str(self.pool.broken)
        said: dict[str, Any] = {"status": "unwell" if reason else "ok"}
        if self._is_known(request):
            said |= self._facts | {"detail": reason or "", "queue": self.places.jobs, "unsettled": self.pool.unsettled}
        await request.answer(503 if reason else 200, _object(**said))

    async def _metrics(self, request: _Request) -> None:
        said = metrics.text(self.pool, self.requests, self.places.jobs)
        await request.answer(200, said, kind=metrics.CONTENT_TYPE)

    # ---- how

    async def _body(self, request: _Request, hold: Callable[[int], None]) -> Any:
        """The JSON of a request. Refuses what is too long before it is read, where its length is said."""
        self._refuse_new()
        if request.headers.get(b"content-type", b"").partition(b";")[0].strip().lower() != _JSON.encode():
            raise Refused(415, f"send JSON: Content-Type: {_JSON}")  # a page in a browser cannot, without asking
        length = request.headers.get(b"content-length", b"")
        too_long = Refused(413, f"a body of more than {self._body_bytes >> 20} MiB; send fewer jobs at once")
        if length.isdigit() and int(length[:20]) > self._body_bytes:
            raise too_long
        parts, size = [], 0
        while True:
            try:
                async with asyncio.timeout(_BODY_S):
                    message = await request.receive()
            except TimeoutError:
                raise Refused(408, f"no byte of the body for {_BODY_S:.0f} s") from None
            if message["type"] == "http.disconnect":
                raise Gone
            part = message.get("body", b"")
            size += len(part)
            if size > self._body_bytes:
                raise too_long
            hold(len(part))
            parts.append(part)
            if not message.get("more_body"):
                request.is_read = True
                break
        try:
            return parsed(b"".join(parts))
        except ValueError as error:
            raise Refused(400, f"the body is no JSON: {error}") from None

    def _refuse_new(self) -> None:
        if self.draining:
            raise Refused(503, "the server is about to end; send it to another", 1)

    async def _judged(self, request: _Request, jobs: list[Job], beat: float | None) -> list[Verdict]:
        """The verdicts. With `beat` the client gets a blank that often. Raises Gone when it leaves: its jobs that have not begun
        are dropped."""
        self._refuse_new()
        self.places.require(len(jobs))
        future = self.pool.submit(jobs)
        self._futures.add(future)
        waiting = asyncio.wrap_future(future)
        leaving = asyncio.ensure_future(request.left())
        try:
            while not waiting.done():
                await asyncio.wait((waiting, leaving), timeout=beat, return_when=asyncio.FIRST_COMPLETED)
                if waiting.done():
                    break
                if leaving.done():
                    raise Gone
                await request.beat()
            verdicts = waiting.result()
        finally:
            leaving.cancel()
            self._futures.discard(future)
            if not future.done():
                self.pool.withdraw(future)
                waiting.add_done_callback(_forget)
        if any(verdict.status is Status.CANCELLED for verdict in verdicts):
            raise Refused(503, "the server ends; send it to another", 1)
        return verdicts


def _forget(future: asyncio.Future[list[Verdict]]) -> None:
    """Look at a result that is not waited for: asyncio complains of an exception that was never seen."""
    if not future.cancelled():
        future.exception()


def _object(**said: Any) -> str:
    return json.dumps({"schema_version": protocol.SCHEMA_VERSION, **said})


class _Request:
    """One request and what was answered so far."""

    def __init__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        self.method, self.path = str(scope["method"]), str(scope["path"])
        self.headers: dict[bytes, bytes] = dict(scope["headers"])
        self.receive, self._send = receive, send
        self.code = 0
        """The status of the answer, once it has begun."""
        self.is_read = self.method != "POST"
        """All of its body."""

    async def left(self) -> None:
        """Returns when the client is gone."""
        while (await self.receive())["type"] != "http.disconnect":
            pass

    async def answer(self, code: int, text: str, *, kind: str = _JSON, again: int | None = None) -> None:
        body = text.encode()
        if not self.code:
            headers = [(b"content-type", kind.encode()), (b"content-length", str(len(body)).encode())]
            if again is not None:
                headers.append((b"retry-after", str(again).encode()))
            if code == 401:
                headers.append((b"www-authenticate", b"Bearer"))
            if not self.is_read or code == 503:  # the rest of the body is not read, or another server is to be asked
                headers.append((b"connection", b"close"))
            await self._begin(code, headers)
        await self._write({"type": "http.response.body", "body": body})

    async def refuse(self, refusal: Refused) -> None:
        """Read and drop the rest of the body: a connection that is closed with bytes in it takes the answer with it."""
        if not self.is_read and refusal.code != 408:
            with suppress(TimeoutError):
                async with asyncio.timeout(_DISCARD_S):
                    await self._discard()
        await self.answer(refusal.code, _object(detail=refusal.line), again=refusal.again)

    async def _discard(self) -> None:
        left = _DISCARD_BYTES
        while left > 0 and not self.is_read:
            message = await self.receive()
            left -= len(message.get("body", b""))
            self.is_read = not message.get("more_body")

    async def beat(self) -> None:
        """A blank before the answer, which JSON allows. A fault from now on is reported in the answer alone."""
        if not self.code:
            await self._begin(200, [(b"content-type", _JSON.encode()), (b"x-accel-buffering", b"no")])
        await self._write({"type": "http.response.body", "body": b"\n", "more_body": True})

    async def _begin(self, code: int, headers: list[tuple[bytes, bytes]]) -> None:
        self.code = code
        await self._write({"type": "http.response.start", "status": code, "headers": headers})

    async def _write(self, message: dict[str, Any]) -> None:
        with suppress(OSError):  # the client left, which `left` says
            await self._send(message)
