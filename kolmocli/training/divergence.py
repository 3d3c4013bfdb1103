"""A run that has stopped learning because its numbers are not finite any more: said once, and ended after ten steps."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from kolmocli.engine.base import Group
from kolmocli.errors import KolmoError
from kolmocli.learning.report import StepReport

MOST = 10
"""Steps in a row. One that overflows now and then costs nothing; ten of them do not come back."""
MEND = "lower training.learning_rate, set model.precision=fp32, or start from an earlier checkpoint"


class Diverged(KolmoError):
    """The policy does not learn any more; the run has been saved."""


class Divergence:
    """Counts the steps of this sitting that could not learn, over the warm start and REINFORCE alike."""

    def __init__(self, tell: Callable[[int, str], None]) -> None:
        """`tell` is called once, with the first such step and a line."""
        self._tell, self._told = tell, False
        self._in_a_row = 0

    def observe(self, step: int, report: StepReport, groups: Sequence[Group] = ()) -> None:
        """Take in one step: the report of its update, and what was sampled for it."""
        if report.skipped:
            what = f"the gradient is not finite: the update of step {step} was skipped"
        elif not _is_sound(groups):
            what = f"the policy's log-probabilities are not finite in step {step}"
        else:
            self._in_a_row = 0
            return
        self._in_a_row += 1
        if not self._told:
            self._told = True
            self._tell(step, f"{what}; after {MOST} such steps in a row the run ends")

    @property
    def ends(self) -> bool:
        """No step of the last ten could learn."""
        return self._in_a_row >= MOST

    def error(self, saved: str) -> Diverged:
        """The error that ends the run; `saved` names its checkpoint."""
        return Diverged(f"no finite update in {MOST} steps in a row; saved {saved}; {MEND}")


def _is_sound(groups: Sequence[Group]) -> bool:
    """Weights that are not finite spoil every token: the first one of each rollout tells."""
    return all(math.isfinite(r.logprobs[0]) for group in groups for r in group.rollouts if r.logprobs)
