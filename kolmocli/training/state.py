"""The state that a run carries from step to step, apart from weights, optimiser, controller and methods. Plain JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Phase = Literal["warmup", "rl", "done"]


@dataclass
class RunState:
    """The progress of a run. `step` counts REINFORCE steps done, `warm_steps` supervised ones."""

    phase: Phase = "warmup"
    step: int = 0
    warm_steps: int = 0
    drawn: dict[str, int] = field(default_factory=dict)
    """Tasks drawn so far, by bucket: the index of the next one."""
    evaluations: dict[str, Any] = field(default_factory=dict)
    """Reports by name: before, `step 50`, after."""
    unmeasured: dict[str, Any] | None = None
    """The report of the latest step of the warm start, while what passes after it is still to be measured."""
    passed_before: list[int | None] = field(default_factory=list)
    """0 or 1 per held-out task, None for one that the sandbox lost, for the paired interval."""


@dataclass
class Totals:
    """Sums over the records of a run."""

    pass_rates: list[float] = field(default_factory=list)
    controlled: list[float | None] = field(default_factory=list)
    """Pass rate of each step over the families that are not at an end of their ladder (`standing.py`)."""
    recent: list[list[Any]] = field(default_factory=list)
    """Groups of the last steps, as rows of `standing.py`."""
    graders: dict[str, Any] = field(default_factory=dict)
    """Evidence of the latest groups about graders (`graders.py`)."""
    mastered_steps: int = 0
    """Steps in a row, up to the last one, after which every family was mastered."""
    rollouts: int = 0
    bits: float = 0.0
    flops: float = 0.0
    warm_flops: float = 0.0
    """FLOPs of the warm start alone."""
    answers: int = 0
    answer_bits: float = 0.0
    """−log2 p of all answers of the warm start, each before it was learned."""
    hindsight_answers: int = 0
    hindsight_bits: float = 0.0
    executed: int = 0
    infra: int = 0
    seconds: dict[str, float] = field(default_factory=dict)

    def spend(self, what: str, seconds: float) -> None:
        self.seconds[what] = self.seconds.get(what, 0.0) + seconds
