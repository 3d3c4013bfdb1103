"""What rollouts cost, and how the processes that write them are doing."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cost:
    """`tokens` were sampled, and `read` are those of prompts that nothing was sampled for; the seconds are wall time."""

    tokens: int = 0
    rollout_seconds: float = 0.0
    execute_seconds: float = 0.0
    read: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.tokens + other.tokens,
            self.rollout_seconds + other.rollout_seconds,
            self.execute_seconds + other.execute_seconds,
            self.read + other.read,
        )


@dataclass(frozen=True, slots=True)
class GeneratorReport:
    """Work of one generator since the last report; `executed`, `infra` and `restarts` since it began."""

    host: str
    pid: int | None
    tokens_per_second: float | None
    idle: float
    lag: int
    executed: int
    infra: int
    restarts: int
