"""Beyond the end of a ladder the level is held, and what is shown is what was measured."""

from __future__ import annotations

import pytest

from kolmocli.curriculum.base import Bucket, Result
from kolmocli.curriculum.tracker import Tracker


@pytest.mark.parametrize(("passes", "level"), [(15, 5), (1, 1)])
def test_beyond_the_ladder_the_belief_is_what_was_measured(passes: int, level: int) -> None:
    tracker = Tracker(5)
    for _ in range(60):
        tracker.observe([Result(Bucket("a", level), passes, 16)] * 4)
    belief = tracker.belief(level)
    assert belief.pass_rate == pytest.approx(passes / 16, abs=0.04)
    assert belief.low < passes / 16 < belief.high
    assert tracker.level_for(0.5) == level
    copy = Tracker(5)
    copy.load_state_dict(tracker.state_dict())
    assert copy.belief(level) == belief
    held = {name: value for name, value in tracker.state_dict().items() if name != "beyond"}
    copy.load_state_dict(held)  # of a version that did not measure it
    assert copy.level_for(0.5) == level


def test_coming_back_from_beyond_takes_no_longer_than_from_the_end() -> None:
    """What is shown holds no level."""
    tracker = Tracker(5)
    for _ in range(60):
        tracker.observe([Result(Bucket("a", 5), 16, 16)] * 4)
    for _ in range(12):
        tracker.observe([Result(Bucket("a", 5), 1, 16)] * 4)
    assert tracker.beyond == 0.0 and tracker.belief(5).pass_rate < 0.2
