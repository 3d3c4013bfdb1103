"""Tests of a script: what it reads, and what it has to print for that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kolmocli.sandbox.base import Job, Verdict
from kolmocli.tasks.base import Attempt
from kolmocli.tasks.code.judge import Submission
from kolmocli.tasks.outcome import Outcome


@dataclass(frozen=True, slots=True)
class Scripts:
    """Inputs, and the output for each; the script runs once for each input, and is never shown an output."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.inputs or len(self.inputs) != len(self.outputs):
            raise ValueError(f"{len(self.inputs)} inputs and {len(self.outputs)} outputs")

    def attempt(self, submission: Submission) -> Attempt:
        return Script(self, submission)


@dataclass(frozen=True, slots=True)
class Script:
    """A program and what it is given to read."""

    tests: Scripts
    submission: Submission

    @property
    def job(self) -> Job | None:
        return self.submission.job(inputs=self.tests.inputs)

    def outcome(self, verdict: Verdict | None) -> Outcome:
        assert verdict is not None
        printed = verdict.trace
        held = [i < len(printed) and says(printed[i], wanted) for i, wanted in enumerate(self.tests.outputs)]
        return self.submission.outcome(verdict, held)


def says(printed: Any, wanted: str) -> bool:
    """Whether the output is the wanted one, line by line; white space at the end of a line, and of it all, is no matter."""
    return type(printed) is str and _lines(printed) == _lines(wanted)


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip().split("\n")]
