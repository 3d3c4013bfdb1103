"""What the tests of controllers share: a controller of any kind over three families, and any results whatever.

A kind is made for every family, or it is a whole controller: the former have levels and a mixture to look into, of the
latter nothing is known but the verbs of a `Controller`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from hypothesis import strategies as st

from kolmocli.config import Config
from kolmocli.config.controller import build_controller
from kolmocli.contributed import ENTRY_POINTS
from kolmocli.curriculum.base import Bucket, Controller, Result
from kolmocli.curriculum.families import FamilyController
from kolmocli.curriculum.kinds import KINDS as REGISTERED, is_whole

KINDS = (*REGISTERED.builtin, *ENTRY_POINTS["kolmocli.controllers"])
WHOLE = tuple(kind for kind in KINDS if is_whole(REGISTERED.get(kind)))
BY_FAMILY = tuple(kind for kind in KINDS if kind not in WHOLE)
LEVELS = {"a": 6, "b": 1, "c": 12}
BUCKETS = [Bucket(family, level + 1) for family, top in LEVELS.items() for level in range(top)]
G = 8

History = list[list[Result]]
C = TypeVar("C", bound=Controller)


def controller(kind: str = "rasch", families: Mapping[str, Any] | None = None, **settings: Any) -> Controller:
    """As a curriculum file would make it. `families` adds keys to some families."""
    data = {f: {"levels": [{}] * top, **(families or {}).get(f, {})} for f, top in LEVELS.items()}
    config = Config.model_validate({"families": data, "controller": {"kind": kind, **settings}})
    return build_controller(config.controller, config.families, BUCKETS, config.training.steps)


def family_controller(
    kind: str = "rasch", families: Mapping[str, Any] | None = None, **settings: Any
) -> FamilyController:
    """Of a kind that is made for every family."""
    made = controller(kind, families, **settings)
    assert isinstance(made, FamilyController)
    return made


def after(history: History, made: C) -> C:
    for step in history:
        made.observe(step)
    return made


def levels(made: Controller) -> dict[str, float]:
    return {family: metrics.level for family, metrics in made.metrics().items()}


@st.composite
def results(draw: Any, buckets: Sequence[Bucket] = BUCKETS) -> Result:
    rollouts = draw(st.integers(0, G))
    return Result(draw(st.sampled_from(buckets)), draw(st.integers(0, rollouts)), rollouts, draw(st.integers(0, 8)))


steps = st.lists(results(), max_size=6)
crowded = st.lists(results([b for b in BUCKETS if b.family == "c"]), min_size=2, max_size=8)
"""Steps whose groups are all of one family."""
histories = st.lists(steps, max_size=12)
kinds = st.sampled_from(KINDS)
kinds_by_family = st.sampled_from(BY_FAMILY)
