"""Tests of a script: what it reads, and what it has to print for that."""

from __future__ import annotations

from dataclasses import dataclass

from kolmocli.sandbox.base import Job, Verdict
from kolmocli.tasks.base import Attempt
from kolmocli.tasks.code.judge import Submission
from kolmocli.tasks.code.languages import Written
from kolmocli.tasks.code.limits import LARGEST
from kolmocli.tasks.code.outputs import Compare, says, usual
from kolmocli.tasks.outcome import Outcome


@dataclass(frozen=True, slots=True)
class Scripts:
    """Inputs, and the output for each; the script runs once for each input, in a process of its own, and is never shown an output."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    compare: Compare | None = None
    """None: as the outputs ask for (`outputs.py`)."""
    asked: bool = False
    """`compare` is what the outputs ask for."""
    language: Written = "python"

    def __post_init__(self) -> None:
        """Raises ValueError where nothing could pass, or be told apart."""
        if not self.inputs or len(self.inputs) != len(self.outputs):
            raise ValueError(f"{len(self.inputs)} inputs and {len(self.outputs)} outputs")
        for what, size in (("inputs", self.input_bytes), ("outputs", self.output_bytes)):
            if size > LARGEST:
                raise ValueError(f"{what} of {size:,} bytes: a sandbox takes {LARGEST >> 20} MiB of one task")
        if not any(output.strip() for output in self.outputs):
            raise ValueError("outputs that are all empty: a script that does nothing would pass")
        if self.compare is None:
            object.__setattr__(self, "compare", usual(self.outputs))
            object.__setattr__(self, "asked", True)

    @property
    def input_bytes(self) -> int:
        return sum(map(_bytes, self.inputs))

    @property
    def output_bytes(self) -> int:
        return sum(map(_bytes, self.outputs))

    def attempt(self, submission: Submission) -> Attempt:
        return Script(self, submission)


@dataclass(frozen=True, slots=True)
class Script:
    """A program and what it is given to read."""

    tests: Scripts
    submission: Submission

    @property
    def job(self) -> Job | None:
        return self.submission.job(inputs=self.tests.inputs, language=self.tests.language)

    def outcome(self, verdict: Verdict | None) -> Outcome:
        assert verdict is not None
        printed, compare = verdict.trace, self.tests.compare
        assert compare is not None
        held = [i < len(printed) and says(printed[i], wanted, compare) for i, wanted in enumerate(self.tests.outputs)]
        return self.submission.outcome(verdict, held)


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
