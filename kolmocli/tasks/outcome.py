"""The outcome of one rollout, and the terms of its judge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kolmocli.language.program import Program
from kolmocli.sandbox.base import Status, Value
from kolmocli.tasks.reward import Form, RewardRule


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one rollout.

    `text` holds the lines that were run, as the language prints them. `end` is the number of lines of the
    rollout that belong to the episode: up to the one whose value is the target or that went wrong, or all
    of them and the decision to stop. `reward` is None when the sandbox failed: such a rollout is masked, never scored.
    """

    text: str
    end: int
    passed: bool
    status: Status
    reward: float | None
    formatted: bool = False
    """Every line that counts is of the language; of an answer in words: it has the tag that was asked for."""
    program: Program | None = None
    """The lines that count, parsed; None when a line failed."""
    bits: int | None = None
    """Coded bits of the program that passed."""
    copied: bool = False
    """Passed by writing the target as a literal."""
    value: Value | None = None
    """The value of a program that ended normally and missed; for an answer in words, the number that a lenient
    reader finds in it."""
    trace: tuple[Value | None, ...] = ()
    """The value of each statement of the episode that has one."""
    ends: tuple[int, ...] = ()
    """The number of lines up to and with each of these statements."""
    literal_bits: int | None = None
    """Bits of the copy that a program competes with; None where there is nothing to copy."""
    lenient: bool | None = None
    """For an answer in words: whether a lenient reader finds the right one in it."""
    metrics: Mapping[str, float] = field(default_factory=dict, hash=False)
    """The task's own figures by name, of an answer that got as far as its check."""

    cut_off: bool = False
    """The limit on tokens ended it."""

    @property
    def executable(self) -> bool:
        """It ended normally with some value."""
        return self.status is Status.OK

    @property
    def unread(self) -> bool:
        """It never reached the check: it broke the form that was asked for, or ended before."""
        return not self.passed and not (self.formatted and self.executable)


@dataclass(frozen=True, slots=True)
class Terms:
    """A judge's terms apart from the task: what is paid, how many lines of a program are run at most, and where an answer in words
    has to stand."""

    rule: RewardRule
    max_lines: int = 256
    form: Form = "asked"
