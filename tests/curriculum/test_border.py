"""What a run takes of a user's own controller, and what it refuses in one line."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from kolmocli.curriculum import Bucket, FamilyMetrics, Ladder, Result
from kolmocli.curriculum.border import Bordered
from kolmocli.curriculum.families import FamilyController
from kolmocli.curriculum.mixture import Mixture
from kolmocli.errors import UsageError
from tests.curriculum.test_own import Climber


class Odd:
    """A controller whose verbs return what they are told to, or raise it."""

    def __init__(self, **says: Any) -> None:
        self.says = says

    def _said(self, verb: str, usual: Any) -> Any:
        said = self.says.get(verb, usual)
        if isinstance(said, Exception):
            raise said
        return said

    def propose(self, groups: int, rng: random.Random) -> list[Bucket]:
        return self._said("propose", [Bucket("a", 2)] * groups)  # type: ignore[no-any-return]

    def observe(self, results: Sequence[Result]) -> list[str]:
        return self._said("observe", ["seen"])  # type: ignore[no-any-return]

    def metrics(self) -> dict[str, FamilyMetrics]:
        return self._said("metrics", {})  # type: ignore[no-any-return]

    def state_dict(self) -> dict[str, Any]:
        return self._said("state_dict", {"level": 1.5, "seen": [1, (2, None)]})  # type: ignore[no-any-return]

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self._said("load_state_dict", None)


def bordered(**says: Any) -> Bordered:
    return Bordered("odd", Odd(**says), {"a": Ladder(3)})


def test_what_is_right_passes() -> None:
    made = bordered()
    assert made.propose(2, random.Random(0)) == [Bucket("a", 2)] * 2
    assert (made.observe([]), made.metrics()) == (["seen"], {})
    assert made.state_dict() == {"level": 1.5, "seen": [1, (2, None)]}
    made.load_state_dict({})


def test_one_that_only_looks_has_nothing_to_say() -> None:
    class Silent(Climber):
        def observe(self, results: Sequence[Result]) -> list[str]:
            return None  # type: ignore[return-value]

    assert bordered(observe=None).observe([]) == []
    assert FamilyController("silent", {"a": Silent(Ladder(3))}, Mixture({"a": 1.0})).observe([]) == []


@pytest.mark.parametrize("wrong", [
    None, [], [Bucket("a", 1)], [Bucket("a", 1)] * 3, ["a/1"] * 2, [Bucket("b", 1)] * 2, [Bucket("a", 0)] * 2, [Bucket("a", 4)] * 2,
    [Bucket("a", 1.5)] * 2, ZeroDivisionError("x"),  # type: ignore[arg-type]
])  # fmt: skip
def test_no_group_is_sampled_off_the_ladders(wrong: Any) -> None:
    with pytest.raises(UsageError, match="controller odd: propose: "):
        bordered(propose=wrong).propose(2, random.Random(0))


@pytest.mark.parametrize("state", [None, {"seen": {1}}, {1: 2}, {"a": {2: 3}}, {"a": [object()]}])
def test_a_state_that_no_checkpoint_keeps_is_refused_before_the_first_step(state: Any) -> None:
    with pytest.raises(UsageError, match="controller odd: state_dict: "):
        bordered(state_dict=state).state_dict()


@pytest.mark.parametrize("verb", ["observe", "metrics", "load_state_dict"])
def test_what_it_raises_is_one_line_with_its_place(verb: str) -> None:
    with pytest.raises(UsageError, match=rf"controller odd: {verb}: .*test_border.py:\d+: ValueError: no$"):
        getattr(bordered(**{verb: ValueError("no")}), verb)(*([] if verb == "metrics" else [[]]))
