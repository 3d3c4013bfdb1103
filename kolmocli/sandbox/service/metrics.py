"""Answer `GET /metrics` in the text format of Prometheus."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from kolmocli.sandbox.base import Status
from kolmocli.sandbox.pool.pool import Pool
from kolmocli.sandbox.pool.routed import Routed

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@dataclass(slots=True)
class Requests:
    """Counters of a server since it started."""

    answers: Counter[tuple[str, int]] = field(default_factory=Counter)
    """By path, and status code."""
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    """From the first byte of a request to the last of its answer, by path."""
    gone: int = 0
    """Clients that did not wait for the answer."""
    open: int = 0
    """Requests that are not answered yet."""


def text(pool: Pool | Routed, requests: Requests, places: int) -> str:
    health = pool.health()
    lines: list[str] = []

    def metric(name: str, kind: str, words: str, *values: tuple[str, float]) -> None:
        lines.extend((f"# HELP kolmo_sandbox_{name} {words}", f"# TYPE kolmo_sandbox_{name} {kind}"))
        lines.extend(f"kolmo_sandbox_{name}{labels} {value}" for labels, value in values)

    by_status = [(f'{{status="{status.value}"}}', health.statuses.get(status.value, 0)) for status in Status]
    metric("info", "gauge", "The backend of the pool.", (f'{{backend="{health.backend}"}}', 1))
    metric("jobs_total", "counter", "Jobs that ended, by verdict.", *by_status)
    metric("queue_length", "gauge", "Jobs that no container has yet.", ("", pool.waiting))
    metric("queue_limit", "gauge", "Jobs that the server holds at most, running ones too.", ("", places))
    metric("jobs_running", "gauge", "Jobs that a container has.", ("", max(0, pool.unsettled - pool.waiting)))
    metric("workers", "gauge", "Containers, or worker processes.", ("", pool.containers))
    metric("workers_replaced_total", "counter", "Containers that were replaced.", ("", health.replaced))
    metric("busy_seconds_total", "counter", "Seconds with any job.", ("", round(health.busy_seconds, 3)))
    answers = [(f'{{path="{path}",code="{code}"}}', n) for (path, code), n in sorted(requests.answers.items())]
    metric("requests_total", "counter", "Requests that were answered, by path and status code.", *answers)
    seconds = [(f'{{path="{path}"}}', round(s, 3)) for path, s in sorted(requests.seconds.items())]
    metric("request_seconds_total", "counter", "Seconds of all requests, by path.", *seconds)
    metric("requests_open", "gauge", "Requests that are not answered yet.", ("", requests.open))
    metric("clients_gone_total", "counter", "Clients that left before their answer.", ("", requests.gone))
    return "\n".join(lines) + "\n"
