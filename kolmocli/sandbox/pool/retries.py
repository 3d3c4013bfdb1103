"""Numbers and delays of retries before the pool gives up on a program or a container."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Retries:
    """Seconds where the name ends in `_s`, else counts."""

    silence_s: float = 12.0
    """Without a word from a container that has work, beyond the wall limit as far as it can be stretched."""
    drought_s: float = 60.0
    """Without any container: then waiting programs become INFRA."""
    ping_s: float = 60.0
    """Between two signs of life to an idle container, which ends itself otherwise."""
    attempts: int = 12
    """Runs of a program that is lost with its container; then it is INFRA."""
    solo_kills: int = 2
    """Containers that a program may end alone, by itself; then it is POISON."""
    starved_runs: int = 3
    """Runs of a program that got too little of a processor to be judged; then it is TLE_WALL, so that to starve never pays."""
    renew_programs: int = 10_000
    """Programs of one container; then it is replaced."""
