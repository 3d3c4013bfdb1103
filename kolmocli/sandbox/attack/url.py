"""A server in SandboxFusion's shape as the target: `POST /run_code`, a script for each input."""

from __future__ import annotations

import json
import ssl
import time
from collections.abc import Sequence
from typing import Any

import httpx2

from kolmocli.addresses import is_web_address
from kolmocli.console import printable
from kolmocli.errors import UsageError
from kolmocli.sandbox.attack.campaign import Answer, Said
from kolmocli.sandbox.attack.suite import CASES, Kind, as_script

_RUN_S, _MEMORY_MB = 3, 256
_MOST = 8 << 20
"""Bytes of an answer that are read."""
_FULL = frozenset({429, 503})
_TRIES = 8


class Url:
    kind: Kind = "service"
    at_once = 2

    def __init__(self, url: str, timeout: float, token: str | None = None) -> None:
        """`timeout`: seconds for an answer, of which a program may use three. Raises UsageError for no address."""
        if not is_web_address(url):
            raise UsageError(f"--url {url}: not an address; type http://127.0.0.1:8080")
        self.name = f"--url {url}"
        self._url = url.rstrip("/").removesuffix("/run_code") + "/run_code"
        self._timeout = timeout
        # Every client would load the certificates again, which takes longer than a program.
        self._tls = ssl.create_default_context()
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    def judge(self, programs: Sequence[str], expected: str) -> list[Answer]:
        return [self._one(program) for program in programs]

    def _one(self, program: str) -> Answer:
        """It passes where every input got its right output; the caller compares."""
        for x, y in CASES:
            answer = self._printed(as_script(program), f"{x}\n", str(y))
            if answer.said is not Said.PASSED:
                return answer
        return Answer(Said.PASSED)

    def _printed(self, code: str, stdin: str, wanted: str) -> Answer:
        body = {
            "code": code, "language": "python", "stdin": stdin, "run_timeout": _RUN_S, "compile_timeout": _RUN_S,
            "memory_limit_MB": _MEMORY_MB, "files": {}, "fetch_files": [],
        }  # fmt: skip
        for attempt in range(_TRIES):
            try:
                code_of_http, text = self._post(body)
            except (httpx2.TimeoutException, TimeoutError):
                return Answer(Said.SILENT, f"no answer in {self._timeout:g} s")
            except (httpx2.HTTPError, OSError) as error:
                return Answer(Said.FAULT, f"{type(error).__name__}: {printable(str(error))[:200]}")
            if code_of_http not in _FULL:
                break
            time.sleep(min(0.1 * 2**attempt, 2.0))
        if code_of_http == 413 or code_of_http == 422:
            return Answer(Said.REFUSED, f"HTTP {code_of_http} {printable(text[:100])}")
        if code_of_http != 200:
            return Answer(Said.FAULT, f"HTTP {code_of_http} {printable(text[:100])}")
        return _read(text, wanted)

    def _post(self, body: dict[str, Any]) -> tuple[int, str]:
        """Reads no more than it has room and time for, however the answer drips."""
        until, read = time.monotonic() + self._timeout, bytearray()
        with (
            httpx2.Client(timeout=self._timeout, verify=self._tls, trust_env=False) as client,
            client.stream("POST", self._url, json=body, headers=self._headers) as answer,
        ):
            for piece in answer.iter_bytes():
                read += piece
                if len(read) > _MOST:
                    return answer.status_code, ""
                if time.monotonic() > until:
                    raise TimeoutError
        return answer.status_code, read.decode("utf-8", "replace")


def _read(text: str, wanted: str) -> Answer:
    try:
        said = json.loads(text)
        status, run = said["status"], said.get("run_result") or {}
        if status == "SandboxError":
            return Answer(Said.FAULT, f"SandboxError {printable(str(said.get('message')))[:200]}")
        right = status == "Success" and run.get("return_code") == 0 and str(run.get("stdout", "")).strip() == wanted
        detail = f"{status}, {run.get('status')}, {run.get('return_code')}"
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return Answer(Said.FAULT, "an answer that is not in SandboxFusion's shape")
    return Answer(Said.PASSED if right else Said.REFUSED, printable(detail)[:200])
