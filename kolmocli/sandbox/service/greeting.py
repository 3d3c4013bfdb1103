"""What a client asks a server of programs before it sends any: who it is, what it has, and whether that is enough."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from kolmocli.errors import EnvironmentMissing, UsageError
from kolmocli.plain import parsed
from kolmocli.sandbox.base import Limits
from kolmocli.sandbox.service import access, protocol
from kolmocli.sandbox.service.connection import Address, Connection, Lost

WORTH_ANOTHER_TRY = frozenset({408, 429, 500, 502, 503, 504})
"""Status codes of HTTP that another try may not meet."""
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.1, 5.0
_GREETINGS = 3
_SMALL = 1 << 20
"""Bytes of an answer that holds no verdicts."""
_FLAGS = {
    "cpu_ms": "--cpu-ms", "wall_ms": "--wall-ms", "memory_mb": "--memory-mb", "input_bytes": "--input-mb", "output_bytes": "--output-mb",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Facts:
    """A server's description of itself."""

    backend: str
    packages: tuple[str, ...]
    usual: Limits
    most: Limits
    jobs_per_request: int


def greeted(connection: Connection, address: Address) -> Facts:
    """What the server says of itself.

    Raises:
        EnvironmentMissing: no server answers there, or not one like ours.
        UsageError: no token or a wrong one.
    """
    said = asked(connection, address, "/healthz")
    try:
        if said["schema_version"] != protocol.SCHEMA_VERSION:
            raise EnvironmentMissing(
                f"sandbox {address.text}: it has schema_version {str(said['schema_version'])[:20]}, this kolmo "
                f"{protocol.SCHEMA_VERSION}; install the same version on both sides"
            )
        if "most" not in said:
            raise no_token(address)
        return Facts(
            str(said["backend"]), tuple(map(str, said["packages"])), protocol.read_limits(said["usual"]),
            protocol.read_limits(said["most"]), int(said["jobs_per_request"]),
        )  # fmt: skip
    except (LookupError, TypeError, ValueError, OverflowError) as error:
        raise not_ours(address, str(error)) from None


def asked(connection: Connection, address: Address, path: str) -> Any:
    """The JSON that a server has there; a few tries."""
    reason = ""
    for attempt in range(_GREETINGS):
        if attempt:
            time.sleep(pause_before(attempt))
        try:
            answer = connection.ask("GET", path, longest=_SMALL)
        except Lost as error:
            reason = str(error)
            continue
        if answer.code == 401:
            raise no_token(address)
        if answer.code not in WORTH_ANOTHER_TRY:
            try:
                if answer.code != 200:
                    raise ValueError(answer.words)
                return parsed(answer.body)
            except ValueError as error:
                raise not_ours(address, str(error)) from None
        reason = answer.words
    raise EnvironmentMissing(
        f"sandbox {address.text}: no server answers there ({reason}); start one with: kolmo sandbox serve --port {address.port}"
    )


def no_token(address: Address) -> UsageError:
    return UsageError(
        f"sandbox {address.text}: the token is missing or wrong; set {access.TOKEN_VARIABLE}, or give a token_file"
    )


def not_ours(address: Address, reason: str) -> EnvironmentMissing:
    return EnvironmentMissing(f"sandbox {address.text}: this is no server of kolmo sandbox serve: {reason[:200]}")


def require(address: Address, facts: Facts, most: Limits, packages: Sequence[str]) -> None:
    """Raises UsageError for limits above the server's, EnvironmentMissing for packages that it has not."""
    for field in fields(Limits):
        wanted, has = getattr(most, field.name), getattr(facts.most, field.name)
        if wanted > has:
            flag = _FLAGS.get(field.name)
            remedy = f"start it with a larger {flag}" if flag else "lower it"
            raise UsageError(
                f"sandbox {address.text}: {field.name} {wanted} is above the {has} of that server; {remedy}"
            )
    if missing := sorted(set(packages) - set(facts.packages)):
        raise EnvironmentMissing(
            f"sandbox {address.text}: programs have no {', '.join(missing)} there; start it with --with {missing[0]}"
        )


def pause_before(attempt: int) -> float:
    """Seconds to wait before another try; the first try is number 0."""
    return min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2.0 ** (attempt - 1))
