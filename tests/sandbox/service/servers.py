"""Servers for tests: real processes of `kolmo sandbox serve`, on a port that is free."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from tests.conftest import command_environment

COMMAND = (sys.executable, "-m", "kolmocli", "sandbox", "serve")


@dataclass
class Server:
    process: subprocess.Popen[str]
    url: str
    errors: Path

    @property
    def port(self) -> str:
        return self.url.rpartition(":")[2]

    def said(self) -> str:
        return self.errors.read_text("utf-8")

    def facts(self) -> dict[str, Any]:
        found: dict[str, Any] = httpx2.get(f"{self.url}/healthz").json()
        return found

    def metric(self, line: str) -> float:
        """The value of a line of `/metrics` such as `jobs_total{status="OK"}`."""
        text = httpx2.get(f"{self.url}/metrics").text
        return next(
            float(v)
            for name, _, v in (each.rpartition(" ") for each in text.splitlines())
            if name == f"kolmo_sandbox_{line}"
        )


@contextmanager
def serving(folder: Path, *arguments: str, backend: str = "embedded", port: str = "0") -> Iterator[Server]:
    """A server, killed in the end unless it has ended by itself."""
    errors = folder / f"serve-{time.monotonic_ns()}.txt"
    with errors.open("w") as stderr:
        process = subprocess.Popen(
            [*COMMAND, "--port", port, "--backend", backend, *arguments],
            stdout=subprocess.PIPE, stderr=stderr, text=True, env=command_environment(), cwd=folder,
        )  # fmt: skip
    try:
        assert process.stdout
        url = process.stdout.readline().strip()
        assert url.startswith("http://"), errors.read_text()
        yield Server(process, url, errors)
    finally:
        process.kill()
        process.wait()
        assert process.stdout
        process.stdout.close()


def wait_until(holds: Callable[[], Any], seconds: float = 60.0) -> None:
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until, "it never came true"
        time.sleep(0.02)
