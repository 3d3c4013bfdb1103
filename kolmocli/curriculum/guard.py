"""Steer past a bucket whose grader seems broken, around any controller, and keep looking whether it still is."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from kolmocli.curriculum.base import Bucket, Controller, FamilyMetrics, Ladder, Result, check_results
from kolmocli.curriculum.graders import Graders
from kolmocli.curriculum.levels import take

_HOPELESS = 0.05
_AT_LEAST = 3
"""Groups with a pass rate of at most `_HOPELESS` that open the question whether a level is broken or only hard."""
_PASSING = 0.25
"""A lower level with this pass rate keeps the question open."""
_PAST = 3
"""Levels beyond it that are looked at."""
_QUIET = 0.1
"""Times `share`: the part of the groups that closed buckets get when there is no question."""
_ANSWERED = 6
"""Groups at a level beyond that fail as much and answer it: the level is hard."""


class Guard:
    """A `Controller` that asks another one, and replaces what it proposes in two cases.

    - A bucket that is `broken` (`graders.py`) is closed: the level above or below it is asked in its place, and its results are
      kept from the controller inside.
    - A level that never passes next to an easier one that does is a question: levels beyond it are looked at.

    `share` of the groups of the family look beyond while there is a question, and a tenth of that goes to closed buckets for ever,
    so that a repaired grader is noticed. Without either it changes nothing, not even a random number.

    A kind that keeps something for every level learns nothing of a closed one; it is told the results of the levels in its
    place. A kind with a model of the levels in between (it has a belief) needs none of that.
    """

    def __init__(self, inner: Controller, ladders: Mapping[str, Ladder], share: float) -> None:
        self.inner, self.ladders, self.share = inner, dict(ladders), share
        self.graders = Graders()
        self._plan()

    def propose(self, groups: int, rng: random.Random) -> list[Bucket]:
        return [self._instead(bucket, rng) for bucket in self.inner.propose(groups, rng)]

    def _instead(self, bucket: Bucket, rng: random.Random) -> Bucket:
        share, looked_at = self._looks.get(bucket.family, (0.0, []))
        if looked_at and rng.random() < share:
            return rng.choice(looked_at)
        return rng.choice(self._in_place[bucket]) if bucket in self._in_place else bucket

    def observe(self, results: Sequence[Result]) -> list[str]:
        results = check_results(results, self.ladders)
        news = [
            f"{bucket}: passes again, and is sampled as before" if suspicion is None else f"{bucket}: steered past"
            for bucket, suspicion in self.graders.observe(results).items()
            if suspicion is None or suspicion.why == "broken"
        ]
        self._plan()
        passed_on = [r for r in results if r.bucket not in self._in_place]
        metrics = self.inner.metrics()
        for bucket, others in self._in_place.items():
            if metrics[bucket.family].belief is None:
                passed_on += [replace(r, bucket=bucket) for r in results if r.bucket in others]
        return news + self.inner.observe(passed_on)

    def _plan(self) -> None:
        """The replacements of closed buckets, and the levels to look at, until the next results."""
        self._in_place: dict[Bucket, list[Bucket]] = {}
        self._looks: dict[str, tuple[float, list[Bucket]]] = {}
        for bucket, suspicion in self.graders.suspected.items():
            if suspicion.why == "broken" and bucket.family in self.ladders:
                near = [self._nearest(bucket, step) for step in (-1, 1)]
                self._in_place[bucket] = [other for other in near if other is not None]
        for family, ladder in self.ladders.items():
            closed = [bucket for bucket in self._in_place if bucket.family == family]
            levels = [Bucket(family, level) for level in range(ladder.bottom, ladder.top)]
            question = next((bucket for bucket in levels if self._is_open(bucket, ladder)), None)
            if question is not None:
                self._looks[family] = self.share, closed + self._beyond(question, ladder)
            elif closed:
                self._looks[family] = _QUIET * self.share, closed

    def _nearest(self, bucket: Bucket, step: int) -> Bucket | None:
        """The nearest level of the ladder in this direction that is not closed."""
        ladder, level = self.ladders[bucket.family], bucket.level + step
        while level in ladder:
            other = Bucket(bucket.family, level)
            suspicion = self.graders.suspected.get(other)
            if suspicion is None or suspicion.why != "broken":
                return other
            level += step
        return None

    def _is_open(self, bucket: Bucket, ladder: Ladder) -> bool:
        rate, groups = self.graders.rate(bucket)
        if bucket in self._in_place or groups < _AT_LEAST or rate > _HOPELESS:
            return False
        below = self._nearest(bucket, -1)
        if below is not None and self.graders.rate(below)[0] < _PASSING:
            return False
        rate, groups = self.graders.rate(*self._beyond(bucket, ladder))
        return groups < _ANSWERED or rate > _HOPELESS

    def _beyond(self, bucket: Bucket, ladder: Ladder) -> list[Bucket]:
        levels = range(bucket.level + 1, min(bucket.level + _PAST, ladder.top) + 1)
        return [Bucket(bucket.family, level) for level in levels]

    def metrics(self) -> dict[str, FamilyMetrics]:
        return self.inner.metrics()

    def state_dict(self) -> dict[str, Any]:
        return {"guarded": self.inner.state_dict(), "graders": self.graders.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        inner, graders = take(state, "guarded", "graders")
        self.inner.load_state_dict(inner)
        self.graders.load_state_dict(graders)
        self._plan()
