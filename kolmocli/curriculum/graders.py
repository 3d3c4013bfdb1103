"""Tell a broken grader from a hard task, by what comes back from every bucket.

A level that is too hard passes seldom, and so do all harder ones. Two things look different:

- `broken`: nothing passes while a harder level of the family passes. A wrong answer key, tests that nothing can pass, a form that
  is rejected on this level alone.
- `unread`: nothing passes because answers never reach the check. A form is not learned yet, or the form is refused.

A suspicion stays until the bucket passes again, however seldom it is sampled.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from kolmocli.curriculum.base import Bucket, Result

Why = Literal["broken", "unread"]

WINDOW = 30
"""Steps whose groups are compared."""
_KEPT = 64
"""Groups of one bucket that are kept of them, about."""
_LEAST, _LEAST_ROLLOUTS = 4, 24
"""Groups and rollouts below which nothing is said of a bucket."""
_SELDOM = 0.1
"""A broken grader passes a few by chance, or by a wrong key that a few wrong answers hit."""
_UNREAD = 0.9
"""Share of the answers that never reached the check."""
_NEAR = 4
"""Levels up that a bucket is compared with."""
_UNLIKELY = 1e-3
"""Chance of what was seen if the bucket were no harder than a harder one."""
_AGAIN, _AGAIN_RATE = 3, 0.25
"""A suspicion ends when this many of the latest groups have at least this pass rate."""

Seen = tuple[int, int, int, int]
"""A group: the step that it was sampled at, passes, rollouts, answers that never reached the check."""


@dataclass(slots=True)
class Suspicion:
    """Why a bucket is suspected and what of: `passes` of `rollouts` in `groups`. For `broken`, `harder` is the level that it is
    compared with and `harder_rate` its pass rate. `since` are the groups since then, newest last."""

    why: Why
    passes: int
    rollouts: int
    groups: int
    harder: int | None = None
    harder_rate: float | None = None
    since: list[Seen] = field(default_factory=list)

    def __str__(self) -> str:
        seen = f"{self.passes} of {self.rollouts} pass"
        if self.why == "unread":
            return f"{seen}, answers do not reach the check"
        return f"{seen} but level {self.harder} passes {self.harder_rate:.0%}, broken grader?"


class Graders:
    """The latest groups of every bucket as evidence about its grader. `observe` it once for each version of the policy."""

    def __init__(self) -> None:
        self.step = 0
        self.seen: dict[Bucket, list[Seen]] = {}
        self.suspected: dict[Bucket, Suspicion] = {}

    def observe(self, results: Sequence[Result]) -> dict[Bucket, Suspicion | None]:
        """Take in the groups of a step. Returns what is new: a suspicion, or None where one has ended."""
        self.step += 1
        for r in sorted((r for r in results if r.rollouts > 1 and r.bucket.level > 0), key=lambda r: r.bucket):
            group = (self.step - r.age, r.passes, r.rollouts, r.unread)
            self.seen.setdefault(r.bucket, []).append(group)
            if r.bucket in self.suspected:
                self.suspected[r.bucket].since.append(group)
        for suspicion in self.suspected.values():
            suspicion.since = _latest(suspicion.since, _AGAIN)
        for bucket, groups in list(self.seen.items()):
            self.seen[bucket] = [g for g in _latest(groups, _KEPT) if g[0] > self.step - WINDOW]
        return {**self._ended(), **self._found()}

    def rate(self, *buckets: Bucket) -> tuple[float, int]:
        """The pass rate of the groups in the window, and how many they are; 0 where there are none."""
        groups = [g for bucket in buckets for g in self.seen.get(bucket, ())]
        return sum(g[1] for g in groups) / max(1, sum(g[2] for g in groups)), len(groups)

    def _ended(self) -> dict[Bucket, Suspicion | None]:
        ended = [bucket for bucket, suspicion in self.suspected.items() if _passes_again(suspicion)]
        for bucket in ended:
            self.seen[bucket] = self.suspected.pop(bucket).since
        return dict.fromkeys(ended)

    def _found(self) -> dict[Bucket, Suspicion | None]:
        found: dict[Bucket, Suspicion | None] = {}
        for bucket in sorted(self.seen):
            before = self.suspected.get(bucket)
            if before is not None and before.why == "broken":
                continue
            suspicion = self._broken(bucket) or (self._unread(bucket) if before is None else None)
            if suspicion is not None:
                found[bucket] = self.suspected[bucket] = suspicion
        return found

    def _unread(self, bucket: Bucket) -> Suspicion | None:
        groups = self.seen[bucket]
        passes, rollouts, unread = (sum(g[i] for g in groups) for i in (1, 2, 3))
        if passes or not _enough(groups) or unread < _UNREAD * rollouts:
            return None
        return Suspicion("unread", 0, rollouts, len(groups))

    def _broken(self, bucket: Bucket) -> Suspicion | None:
        """Groups that fail whole are counted, and not rollouts: those of one task are alike. Only groups count that were sampled
        when a harder level had passed already, so that learning in between explains nothing."""
        harder: list[Seen] = []
        for level in range(bucket.level + 1, bucket.level + 1 + _NEAR):
            above = Bucket(bucket.family, level)
            if above in self.suspected or not self.seen.get(above):
                continue
            harder += self.seen[above]
            if not any(g[1] for g in harder):
                continue
            first = min(g[0] for g in harder if g[1])
            groups = [g for g in self.seen[bucket] if g[0] >= first]
            passes, rollouts = sum(g[1] for g in groups), sum(g[2] for g in groups)
            if not _enough(groups) or passes > _SELDOM * rollouts:
                continue
            if _chance(_failing(groups), len(groups), _failing(harder), len(harder)) < _UNLIKELY:
                return Suspicion("broken", passes, rollouts, len(groups), level, self.rate(above)[0])
        return None

    def state_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        return {
            "step": self.step,
            "seen": [[b.family, b.level, [list(g) for g in groups]] for b, groups in self.seen.items() if groups],
            "suspected": [[b.family, b.level, asdict(s)] for b, s in self.suspected.items()],
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.step = int(state["step"])
        self.seen = {Bucket(f, level): list(map(_group, groups)) for f, level, groups in state["seen"]}
        self.suspected = {
            Bucket(f, level): Suspicion(**{**s, "since": list(map(_group, s["since"]))})
            for f, level, s in state["suspected"]
        }


def _latest(groups: Sequence[Seen], count: int) -> list[Seen]:
    """The latest `count`, and all others of the same step as the first of them: the order inside a step is chance."""
    ordered = sorted(groups)
    return [g for g in ordered if g[0] >= ordered[-count][0]] if len(ordered) > count else ordered


def _group(row: Sequence[int]) -> Seen:
    step, passes, rollouts, unread = row
    return step, passes, rollouts, unread


def _enough(groups: Sequence[Seen]) -> bool:
    return len(groups) >= _LEAST and sum(g[2] for g in groups) >= _LEAST_ROLLOUTS


def _failing(groups: Sequence[Seen]) -> int:
    return sum(not g[1] for g in groups)


def _passes_again(suspicion: Suspicion) -> bool:
    passes, rollouts, unread = (sum(g[i] for g in suspicion.since) for i in (1, 2, 3))
    if len(suspicion.since) < _AGAIN:
        return False
    return passes >= _AGAIN_RATE * rollouts or (suspicion.why == "unread" and unread < rollouts / 2)


def _chance(x: int, m: int, a: int, n: int) -> float:
    """The chance that x or more of m groups fail whole, where a of n others did: beta-binomial, from an even prior."""

    def beta(p: float, q: float) -> float:
        return math.lgamma(p) + math.lgamma(q) - math.lgamma(p + q)

    return math.fsum(
        math.comb(m, i) * math.exp(beta(a + 1 + i, n - a + 1 + m - i) - beta(a + 1, n - a + 1)) for i in range(x, m + 1)
    )
