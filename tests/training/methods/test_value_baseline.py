"""Returns and advantages by a value head: by hand, and that stopping hopeless rollouts leaves the expected gradient."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator

import pytest

from kolmocli.config import Config, Training
from kolmocli.engine.base import Group
from kolmocli.learning.regression import Regression
from kolmocli.learning.value import SURVIVES, ValuedRollout
from kolmocli.training.methods.shaping import Shaping
from kolmocli.training.methods.value import Value, ValueWeighted, line_values
from kolmocli.training.weigh import line_rewards
from tests.training.methods.test_shaping import TASK, Episode, Gradient, add, chance, episodes, expected, outcome

HOPELESS = 0.4


def value(beginning: Episode) -> float:
    """Of the state after these lines: anything, below `HOPELESS` for many."""
    return random.Random(repr(beginning)).uniform(-0.5, 1.0)


def rollout(lines: Episode, spared: tuple[int, ...] = (), stopped: int | None = None) -> ValuedRollout:
    """One token a line, as far as they were written."""
    n = len(lines) if stopped is None else stopped
    values = tuple(value(lines[:t]) for t in range(n))
    mark = None if stopped is None else (stopped, value(lines[:stopped]))
    return ValuedRollout((0,), (1,) * n, (0.0,) * n, tuple(range(n)), "", True, values, spared, mark)


def fates(lines: Episode) -> Iterator[tuple[float, ValuedRollout]]:
    """What the roulette may make of an episode, with the chance of each."""
    spared: tuple[int, ...] = ()
    for line in range(1, len(lines)):
        if value(lines[:line]) < HOPELESS:
            yield SURVIVES ** len(spared) * (1 - SURVIVES), rollout(lines, spared, line)
            spared += (line,)
    yield SURVIVES ** len(spared), rollout(lines, spared)


def found(config: Training, *, stopping: bool) -> Gradient:
    """The exact mean of the gradient over all episodes and all their fates."""
    gradient: Gradient = defaultdict(float)
    for lines in episodes():
        for likely, written in fates(lines) if stopping else [(1.0, rollout(lines))]:
            n = len(written.tokens)
            # Of a program that was stopped its own text is judged, whose last line is the decision to stop.
            made = outcome(lines) if written.stopped is None else outcome((*lines[:n], ""))
            rewards = line_rewards(made, TASK, Shaping(config.shaping, config.gamma))
            assert rewards is not None
            _, advantages = line_values(rewards, config.gamma, written)
            add(gradient, lines[:n], [chance(lines) * likely * a for a in advantages[:n]])
    return gradient


@pytest.mark.parametrize("gamma", [1.0, 0.8])
@pytest.mark.parametrize("shaping", [0.0, 0.7])
@pytest.mark.parametrize("stopping", [False, True])
def test_the_expected_gradient_is_that_without_a_baseline(gamma: float, shaping: float, stopping: bool) -> None:
    plain = expected(Training(baseline="none", gamma=gamma))
    ours = found(Training(baseline="value", gamma=gamma, shaping=shaping), stopping=stopping)
    assert dict(ours) == pytest.approx(dict(plain), abs=1e-12)


def test_many_of_these_rollouts_are_stopped() -> None:
    cut = sum(chance(e) * likely for e in episodes() for likely, r in fates(e) if r.stopped is not None)
    assert cut > 0.1
    assert sum(chance(e) * likely for e in episodes() for likely, _ in fates(e)) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("baseline", "share", "reason"),
    [
        ("rloo", 0.0, "stop_hopeless goes by what a value head expects; set baseline to value"),
        ("value", 0.2, "stop_hopeless would stop proposals of self_play"),
    ],
)
def test_what_cannot_be_stopped_is_refused(baseline: str, share: float, reason: str) -> None:
    training = {"baseline": baseline, "stop_hopeless": 0.1}
    with pytest.raises(ValueError, match=reason):
        Config.model_validate(
            {"families": {"a": {"levels": [{}]}}, "training": training, "self_play": {"share": share}}
        )


def test_a_line_is_compared_with_the_state_that_it_began_in() -> None:
    # lines of two, one and two tokens; the episode ends with the second line
    written = ValuedRollout((1,), (5, 6, 7, 8, 9), (0.0,) * 5, (0, 0, 1, 2, 2), "", True, (0.5, 9.0, -1.0, 9.0, 9.0))
    assert line_values([0.0, 3.0], 1.0, written) == ([3.0, 3.0], [2.5, 4.0])
    assert line_values([1.0, 4.0], 0.5, written) == ([3.0, 4.0], [2.5, 5.0])
    # begun for the policy, within line 1; line 2 has no tokens of its own
    begun = ValuedRollout((1,), (5, 6, 7, 8, 9), (0.0,) * 5, (1, 1, 3, 3, 3), "", True, (0.5, 9.0, -1.0, 9.0, 9.0))
    assert line_values([0.0, 0.0, 0.0, 4.0], 1.0, begun)[1] == [4.0, 3.5, 4.0, 5.0]


def test_a_rollout_that_was_spared_stands_for_those_that_were_not() -> None:
    written = ValuedRollout((1,), (5, 6), (0.0, 0.0), (0, 1), "", True, (0.5, 0.25), spared=(1,))
    told = 0.25 + (1.0 - 0.25) / SURVIVES
    assert line_values([0.0, 1.0], 1.0, written) == ([told, 1.0], [told - 0.5, (1.0 - 0.25) / SURVIVES])
    stopped = ValuedRollout((1,), (5,), (0.0,), (0,), "", False, (0.5,), stopped=(1, 0.25))
    assert line_values([0.0, 0.0], 1.0, stopped) == ([0.25, 0.25], [-0.25, 0.25])
    # the episode was over before the line that was not allowed
    assert line_values([1.0], 1.0, stopped) == ([1.0], [0.5])


def test_a_rollout_that_the_sandbox_lost_has_no_lines() -> None:
    written = ValuedRollout((1,), (5,), (0.0,), (0,), "", True, (0.5,))
    baseline = Value(Regression(2), gamma=1.0)
    one, lost = baseline(Group(TASK, [written, written], []), [[2.0], None])
    assert isinstance(one, ValueWeighted) and isinstance(lost, ValueWeighted)
    assert (one.returns, one.weights) == ([2.0], [1.5])
    assert (lost.returns, lost.weights, lost.end) == ([], [0.0], 0)
