"""A headless Chromium that is driven over its own pipe: no driver, no port, no package."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_FLAGS = (
    "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
    "--no-first-run", "--disable-extensions", "--disable-background-networking", "--window-size=1280,900",
)  # fmt: skip


def find() -> str | None:
    """The browser of this machine."""
    return next(filter(None, map(shutil.which, _NAMES)), None)


class Tab:
    """One page. `events` are all that it told, in order, as (method, parameters)."""

    def __init__(self, commands: int, replies: int) -> None:
        self._commands, self._replies = commands, replies
        self._number, self._session, self._buffer = 0, "", b""
        self.events: list[tuple[str, dict[str, Any]]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Raises RuntimeError with what the browser answers when it refuses."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        while (reply := self._next()).get("id") != self._number:
            pass
        if "error" in reply:
            raise RuntimeError(f"{method}: {reply['error']}")
        return dict(reply["result"])

    def open(self, page: Path) -> None:
        """Go there, and wait until all of it is loaded."""
        self.call("Page.navigate", url=page.as_uri())
        while not self.told("Page.loadEventFired"):
            self._next()

    def evaluate(self, expression: str) -> Any:
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        return result["result"].get("value")

    def told(self, method: str) -> list[dict[str, Any]]:
        return [parameters for name, parameters in self.events if name == method]

    def _next(self, patience: float = 60.0) -> dict[str, Any]:
        """The next message, kept when it is an event. Raises TimeoutError, or EOFError when the browser is gone."""
        end = time.monotonic() + patience
        while b"\0" not in self._buffer:
            if not select.select([self._replies], [], [], max(0.0, end - time.monotonic()))[0]:
                raise TimeoutError(f"Chromium said nothing for {patience:.0f} s")
            more = os.read(self._replies, 1 << 16)
            if not more:
                raise EOFError("Chromium ended")
            self._buffer += more
        line, _, self._buffer = self._buffer.partition(b"\0")
        message = dict(json.loads(line))
        if "method" in message:
            self.events.append((message["method"], message["params"]))
        return message


@contextmanager
def tab(profile: Path) -> Iterator[Tab]:
    """A browser with one empty page; it is ended with the block."""
    program = find()
    assert program is not None
    to_browser, commands = os.pipe()
    replies, from_browser = os.pipe()
    # It reads from descriptor 3 and writes to 4; the shell puts them there.
    browser = subprocess.Popen(
        ["bash", "-c", f'exec "$@" 3<&{to_browser} 4>&{from_browser}', "bash", program, *_FLAGS, f"--user-data-dir={profile}"],
        pass_fds=(to_browser, from_browser), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(to_browser)
    os.close(from_browser)
    try:
        yield Tab(commands, replies)
    finally:
        os.close(commands)
        os.close(replies)
        browser.terminate()
        browser.wait(timeout=30)
