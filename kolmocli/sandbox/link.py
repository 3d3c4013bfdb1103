"""What the pool needs from a place that runs programs: a container, or a worker process."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

Finding = dict[str, Any]


class LinkError(Exception):
    """A container or its daemon failed; says nothing about the programs."""


class Link(Protocol):
    """One connection to one supervisor, past its greeting. Never blocks, `end` aside."""

    id: str
    findings: list[Finding]

    def fileno(self) -> int: ...

    def send(self, data: memoryview) -> int:
        """Bytes taken, 0 when the pipe is full. Raises LinkError when it is broken."""
        ...

    def receive(self) -> bytes | None:
        """Bytes of frames, None when there are none yet, b"" when the other side has ended."""
        ...


AnyLink = TypeVar("AnyLink", bound=Link)


class Maker(Protocol[AnyLink]):
    """Makes and ends links. Its methods block, and are called from several threads."""

    def make(self) -> AnyLink:
        """A new link, greeted and checked. Raises LinkError (try again) or KolmoError (do not)."""
        ...

    def end(self, link: AnyLink) -> bool:
        """Remove it whatever its state; True when it had ended on its own, not by someone's hand."""
        ...

    def answers(self, link: AnyLink) -> bool:
        """Whether the engine behind the link answers at all; may take long when it does not."""
        ...

    def close(self) -> None: ...
