"""One problem to write Python for, judged by tests that the policy does not see."""

from __future__ import annotations

from dataclasses import dataclass

from kolmocli.tasks.base import Attempt, Task
from kolmocli.tasks.code.judge import Credit, Submission, Tests
from kolmocli.tasks.code.limits import USUAL, Allowance
from kolmocli.tasks.code.objects import NONE, Objects, method_glue
from kolmocli.tasks.code.prompt import closed, program_of_completion
from kolmocli.tasks.outcome import Terms


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeTask(Task):
    tests: Tests
    entry_point: str | None = None
    """The function that the tests call; None for a script."""
    opening: str = ""
    """The code that an answer goes on from, or stands below, as HumanEval has it; empty where an answer is all there is."""
    credit: Credit = "all"
    objects: Objects = NONE
    either: bool = False
    """The program may as well define the methods of these as functions."""
    allowance: Allowance = USUAL
    """Limits that the task itself grants a program."""

    @property
    def defines(self) -> tuple[str, ...]:
        names = () if self.entry_point is None else (self.entry_point,)
        owners = dict.fromkeys((*self.objects.classes, *(method.owner for method in self.objects.methods)))
        return (*owners, *(names if self.either or not owners else ()))

    def attempt(self, text: str, terms: Terms) -> Attempt:
        program, lines = self.program(text), text.count("\n") + 1
        methods = [each for each in self.objects.methods if not self.either or each.owner in program]
        below = method_glue(methods, perhaps=self.either)
        return self.tests.attempt(
            Submission(program, lines, terms.rule, self.credit, 1 + self.index, self.allowance, below)
        )

    def program(self, text: str) -> str:
        """The program that an answer stands for, with what its prompt gives."""
        if not self.objects.methods:
            return program_of_completion(self.opening, self.entry_point, text)
        return f"{closed(self.opening)}\n\n{text}" if self.opening else text
