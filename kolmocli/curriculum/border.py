"""Check what a user's own controller returns, once, where it comes in.

A bucket that is on no ladder would be sampled all the same, and a state that JSON cannot write would be noticed at the first
checkpoint, with all the steps before it lost.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from kolmocli.curriculum.base import Bucket, Controller, FamilyMetrics, Ladder, Result
from kolmocli.errors import KolmoError, UsageError
from kolmocli.registry import blame


class Bordered:
    """A `Controller` that passes on what the one inside says. Its verbs raise UsageError where that raises, or says no such thing."""

    def __init__(self, kind: str, inner: Controller, ladders: Mapping[str, Ladder]) -> None:
        self.inner, self._kind, self._ladders = inner, kind, dict(ladders)

    def propose(self, groups: int, rng: random.Random) -> list[Bucket]:
        buckets = self._said("propose", groups, rng)
        if not isinstance(buckets, Sequence) or len(buckets) != groups:
            raise self._error("propose", f"asked for {groups} buckets, it gave {buckets!s:.80}")
        for bucket in buckets:
            if not self._is_on_a_ladder(bucket):
                raise self._error("propose", f"{bucket!s:.40} is no bucket with a family and a level of this run")
        return list(buckets)

    def _is_on_a_ladder(self, bucket: Any) -> bool:
        whole = isinstance(bucket, Bucket) and isinstance(bucket.level, int)
        return whole and bucket.level in self._ladders.get(bucket.family, ())

    def observe(self, results: Sequence[Result]) -> list[str]:
        """Nothing to say may be None: a method that only looks returns that."""
        return [str(text) for text in self._said("observe", results) or ()]

    def metrics(self) -> dict[str, FamilyMetrics]:
        return self._mapping("metrics")

    def state_dict(self) -> dict[str, Any]:
        state = self._mapping("state_dict")
        if not _is_plain(state):
            raise self._error("state_dict", f"not plain JSON, with words as keys: {state!s:.80}")
        return state

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._said("load_state_dict", state)

    def _mapping(self, verb: str) -> dict[str, Any]:
        found = self._said(verb)
        if not isinstance(found, Mapping):
            raise self._error(verb, f"must give a mapping, and gave {found!s:.80}")
        return dict(found)

    def _said(self, verb: str, *arguments: Any) -> Any:
        try:
            return getattr(self.inner, verb)(*arguments)
        except KolmoError:
            raise
        except Exception as error:
            raise self._error(verb, blame(error, self._kind)) from error

    def _error(self, verb: str, wrong: str) -> UsageError:
        return UsageError(f"controller {self._kind}: {verb}: {wrong}")


def _is_plain(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and _is_plain(item) for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, (str, int, float))
