"""Programs of the language, run line by line in the sandbox and paid by their length.

The only feedback of an episode is "go on" or "done", so a whole program can be sampled at once, run once with the value
of every statement, and cut at the first line whose value is the target: the same distribution as stepping
(`environment.py`), at 1/lines of the executions. A test holds the two equal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from kolmocli.language.coder import coded_bits, literal_bits
from kolmocli.language.program import LineParser, Program, ProgramError, canonical
from kolmocli.language.progress import explained
from kolmocli.sandbox.base import Job, Status, Value, Verdict
from kolmocli.tasks.base import text_bits
from kolmocli.tasks.outcome import Outcome
from kolmocli.tasks.reward import RewardRule
from kolmocli.tasks.sequences.python import python_literal_bits


@dataclass(frozen=True, slots=True)
class Draft:
    """A sampled program as far as it is of the language: the part that is worth running.

    `ends[i]` is the number of lines of the text up to and with statement i; `end` that of the whole episode.
    """

    program: Program
    ends: tuple[int, ...]
    end: int
    error: str | None

    @classmethod
    def read(cls, text: str, max_lines: int) -> Draft:
        """Parse line by line and stop at the first line that is not of the language."""
        parser = LineParser()
        ends: list[int] = []
        lines = text.split("\n")
        for number, line in enumerate(lines, start=1):
            if not line.strip(" "):
                continue
            try:
                parser.feed(line)
            except ProgramError as problem:
                return cls(parser.program(), tuple(ends), number, str(problem))
            ends.append(number)
            if len(ends) == max_lines:
                return cls(parser.program(), tuple(ends), number, None)
        return cls(parser.program(), tuple(ends), len(lines), None)


@dataclass(frozen=True, slots=True)
class DslAttempt:
    """A program of the language for one sequence: it ends at the first line whose value is the target."""

    target: Value
    draft: Draft
    rule: RewardRule
    group: int = 0

    @property
    def job(self) -> Job | None:
        return Job(str(self.draft.program), "dsl", group=self.group) if self.draft.ends else None

    def outcome(self, verdict: Verdict | None) -> Outcome:
        """From the values of its statements."""
        draft, verdict = self.draft, verdict or Verdict(Status.SYNTAX, detail=self.draft.error or "empty")
        text, literal = str(draft.program), literal_bits(self.target)
        if verdict.status.is_fault:
            return Outcome(text, draft.end, False, verdict.status, None, literal_bits=literal)
        hit = next((i for i, value in enumerate(verdict.trace) if value == self.target), None)
        if hit is None:
            return self._missed(verdict, text, literal)
        program = draft.program.prefix(hit + 1)
        bits = coded_bits(program)
        return Outcome(
            str(program), draft.ends[hit], True, Status.OK, self.rule.success(bits, literal), True,
            program, bits, is_copy(program), trace=verdict.trace[: hit + 1], ends=draft.ends[: hit + 1],
            literal_bits=literal,
        )  # fmt: skip

    def _missed(self, verdict: Verdict, text: str, literal: int) -> Outcome:
        draft, ran, reward = self.draft, len(verdict.trace), self.rule.failure
        if self.rule.partial and verdict.trace:
            reward += self.rule.partial * explained(verdict.trace, self.target)[-1]
        if verdict.status is not Status.OK and ran < len(draft.ends):
            text = str(draft.program.prefix(ran + 1))
            return Outcome(
                text, draft.ends[ran], False, verdict.status, reward, True, trace=verdict.trace, ends=draft.ends[:ran],
                literal_bits=literal,
            )  # fmt: skip
        status = Status.SYNTAX if draft.error and verdict.status is Status.OK else verdict.status
        return Outcome(
            text, draft.end, False, status, reward, draft.error is None, draft.program,
            value=verdict.value, trace=verdict.trace, ends=draft.ends[:ran], literal_bits=literal,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class PythonAttempt:
    """A program in free Python for one sequence.

    Its result is the value of its last statement; of a program that names `output`, what that is after the last statement,
    which is the convention of the KoLMogorov Test.
    """

    target: Value
    text: str
    rule: RewardRule
    group: int = 0

    @property
    def job(self) -> Job | None:
        # Two line breaks: after a backslash at the end of a program one would join the lines.
        text = f"{self.text}\n\noutput\n" if _OUTPUT.search(self.text) else self.text
        return Job(text, "python", group=self.group)

    def outcome(self, verdict: Verdict | None) -> Outcome:
        assert verdict is not None
        end, literal = self.text.count("\n") + 1, python_literal_bits(self.target)
        if verdict.status.is_fault:
            return Outcome(self.text, end, False, verdict.status, None, literal_bits=literal)
        value = verdict.value
        # A program that ends normally without a sequence has not answered.
        status = Status.RUNTIME if verdict.status is Status.OK and value is None else verdict.status
        if value != self.target:
            formatted = status is not Status.SYNTAX
            return Outcome(
                self.text, end, False, status, self.rule.failure, formatted, value=value, literal_bits=literal
            )
        bits = text_bits(self.text)
        return Outcome(
            self.text, end, True, status, self.rule.success(bits, literal), True, bits=bits,
            copied=spells_out(self.text, self.target), literal_bits=literal,
        )  # fmt: skip


_OUTPUT = re.compile(r"\boutput\b")


def is_copy(program: Program) -> bool:
    """True when the program, simplified, is one literal list."""
    simple = canonical(program).statements
    return len(simple) == 1 and simple[0].function == "set_list"  # type: ignore[union-attr]


def spells_out(program: str, target: tuple[int, ...]) -> bool:
    """Whether the text of a program holds its target as a literal: its numbers in a row, or its characters.

    By the text alone, without parsing: programs of strangers are parsed in the sandbox and nowhere else.
    """
    if _in_a_row(target) in _in_a_row(map(int, re.findall(r"-?\d{1,20}", program))):
        return True
    if min(target) < 0 or max(target) > 255:
        return False
    text = bytes(target)
    return repr(text)[2:-1] in program or repr(text.decode("latin-1"))[1:-1] in program


def _in_a_row(numbers: Iterable[int]) -> str:
    """As text: one text is found in another in time linear in both."""
    return f",{','.join(map(str, numbers))},"
