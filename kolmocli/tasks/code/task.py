"""One problem to write Python for, judged by tests that the policy does not see."""

from __future__ import annotations

from dataclasses import dataclass

from kolmocli.tasks.base import Attempt, Task
from kolmocli.tasks.code.judge import Credit, Submission, Tests
from kolmocli.tasks.code.limits import USUAL, Allowance
from kolmocli.tasks.code.prompt import program_of_completion
from kolmocli.tasks.outcome import Terms


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeTask(Task):
    tests: Tests
    entry_point: str | None = None
    """The function that the tests call; None for a script."""
    opening: str = ""
    """The code that an answer goes on from, or stands below, as HumanEval has it; empty where an answer is all there is."""
    credit: Credit = "all"
    allowance: Allowance = USUAL
    """What the task itself grants a program."""

    def attempt(self, text: str, terms: Terms) -> Attempt:
        program = program_of_completion(self.opening, self.entry_point, text)
        return self.tests.attempt(
            Submission(program, text.count("\n") + 1, terms.rule, self.credit, 1 + self.index, self.allowance)
        )
