"""`training.entropy_target`: how unsure the policy is of its answers, held by a loop. The controller holds what passes between
tasks at one half; what dies first on a pretrained model is the uncertainty inside each task.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from kolmocli.config.training import EntropyTarget, Training
from kolmocli.curriculum.information import signal_fraction
from kolmocli.engine.base import Engine, Group
from kolmocli.errors import UsageError
from kolmocli.learning.learner import Learner
from kolmocli.learning.report import StepReport
from kolmocli.monitor.records import EntropyTargetRecord, ReinforceRecord
from kolmocli.policy.head import underlying
from kolmocli.policy.policy import Policy
from kolmocli.training.methods.base import Method

_MEMORY = 0.5
"""Weight of what was measured before: S of one step has a standard deviation of a tenth and more."""
_AHEAD = 4.0
"""Steps that the error is looked ahead. An entropy follows its bonus late, and an integral alone would swing about the target."""


class Loop:
    """value ← clip(value + gain · (high − low) · clip(e + 4 · (e − e before), −1, 1), low, high), e = 1 − measured ÷ target.

    An integral of where the error is going. What it adds up to is the value itself, which never leaves the bounds, so that
    nothing is wound up while it is at one of them: it leaves in the step in which the error that is looked ahead to turns.
    """

    def __init__(
        self, value: float, bounds: tuple[float, float], gain: float, *, target: float | None, share: float = 1.0
    ) -> None:
        """Without a `target` it is the `share` of what is measured first."""
        self.value, self.target = value, target
        self.measured: float | None = None
        self._error: float | None = None
        self._bounds, self._gain, self._share = bounds, gain, share

    def observe(self, measured: float) -> None:
        """What a step has measured, 0 or more; the value is that of the next one."""
        if self.target is None:
            if measured <= 0.0:
                return  # a share of nothing is no target
            self.target = self._share * measured
        earlier = measured if self.measured is None else self.measured
        self.measured = _MEMORY * earlier + (1.0 - _MEMORY) * measured
        error = 1.0 - self.measured / self.target
        ahead = error if self._error is None else error + _AHEAD * (error - self._error)
        self._error = error
        low, high = self._bounds
        moved = self.value + self._gain * (high - low) * min(1.0, max(-1.0, ahead))
        self.value = min(high, max(low, moved))

    def state_dict(self) -> dict[str, float | None]:
        return {"value": self.value, "target": self.target, "measured": self.measured, "error": self._error}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.value, self.target = state["value"], state["target"]
        self.measured, self._error = state["measured"], state["error"]


class HeldEntropy(Method):
    """Measures each step, and sets the learner's bonus or the engine's temperature for the next one."""

    def __init__(self, asked: EntropyTarget, training: Training, learner: Learner, engine: Engine) -> None:
        self._asked, self._learner, self._engine = asked, learner, engine
        start = training.entropy_bonus if asked.by == "bonus" else training.temperature
        target = asked.signal_share if asked.nats is None else asked.nats
        self.loop = Loop(start, asked.range, asked.gain, target=target, share=asked.share or 1.0)
        self._record: EntropyTargetRecord | None = None

    def learned(self, report: StepReport, groups: Sequence[Group]) -> None:
        used = self._used(groups)
        if (measured := self._measure(report, groups)) is not None:
            self.loop.observe(measured)
        of = "entropy" if self._asked.signal_share is None else "signal_share"
        self._record = replace(used, of=of, measured=self.loop.measured, target=self.loop.target)
        self._set()

    def _measure(self, report: StepReport, groups: Sequence[Group]) -> float | None:
        """None where the step says nothing of it: then nothing moves."""
        if self._asked.signal_share is not None:
            return signal_fraction([(r.passes, r.rollouts) for r in (g.result() for g in groups)])
        return report.entropy if report.tokens and math.isfinite(report.entropy) else None

    def _used(self, groups: Sequence[Group]) -> EntropyTargetRecord:
        """The bonus of this step, or the temperature of its rollouts, which were begun earlier where an engine works ahead."""
        if self._asked.by == "bonus":
            return EntropyTargetRecord(bonus=self._learner.entropy_bonus)
        sampled = [r.temperature for g in groups for r in g.rollouts if r.temperature is not None]
        return EntropyTargetRecord(temperature=math.fsum(sampled) / len(sampled) if sampled else None)

    def _set(self) -> None:
        if self._asked.by == "bonus":
            self._learner.entropy_bonus = self.loop.value
        else:
            self._engine.temperature = self.loop.value

    def metrics(self, record: ReinforceRecord, groups: Sequence[Group]) -> ReinforceRecord:
        return replace(record, entropy_target=self._record)

    def state_dict(self) -> dict[str, Any]:
        return self.loop.state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.loop.load_state_dict(state)
        self._set()


def require_reachable(asked: EntropyTarget, policy: Policy) -> None:
    """Raises UsageError for an entropy that no choice among the policy's tokens has."""
    words = int(underlying(policy.model).config.get_text_config().vocab_size)
    if asked.nats is not None and asked.nats >= math.log(words):
        raise UsageError(
            f"training.entropy_target.nats: {asked.nats:g} is out of reach: a choice among the {words:,} tokens of {policy.name} "
            f"has less than {math.log(words):.4g} nats; set less, or a share"
        )
