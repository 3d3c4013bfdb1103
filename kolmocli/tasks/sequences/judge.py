"""Programs of the language, run line by line in the sandbox and paid by their length.

The only feedback of an episode is "go on" or "done", so a whole program can be sampled at once, run once with the value
of every statement, and cut at the first line whose value is the target: the same distribution as stepping
(`environment.py`), at 1/lines of the executions. A test holds the two equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kolmocli.language.coder import coded_bits, literal_bits
from kolmocli.language.program import LineParser, Program, ProgramError, canonical
from kolmocli.language.progress import explained
from kolmocli.sandbox.base import Health, Job, Sandbox, Status, Verdict
from kolmocli.tasks.base import Task
from kolmocli.tasks.outcome import Outcome
from kolmocli.tasks.reward import RewardRule


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


def judge(
    tasks: Sequence[Task], texts: Sequence[str], sandbox: Sandbox, rule: RewardRule, max_lines: int
) -> list[Outcome]:
    """Run `texts[i]` for `tasks[i]`, all in one batch, and score them.

    A winner is run once more, in another container, before it is paid: what passed by luck, or by something
    left over from another program, does not pass twice.
    """
    drafts = [Draft.read(text, max_lines) for text in texts]
    verdicts = _run(drafts, tasks, sandbox, [None] * len(drafts))
    outcomes = [score(t, d, v, rule) for t, d, v in zip(tasks, drafts, verdicts, strict=True)]
    winners = [i for i, outcome in enumerate(outcomes) if outcome.passed]
    again = _run(
        [drafts[i] for i in winners], [tasks[i] for i in winners], sandbox, [verdicts[i].container for i in winners]
    )
    for i, verdict in zip(winners, again, strict=True):
        outcomes[i] = score(tasks[i], drafts[i], verdict, rule)
    return outcomes


def _run(
    drafts: Sequence[Draft], tasks: Sequence[Task], sandbox: Sandbox, avoid: Sequence[str | None]
) -> list[Verdict]:
    """One verdict per draft. An empty one is not worth a run, and the same text, which a group often has, only one."""
    jobs: dict[str, Job] = {}
    for draft, task, container in zip(drafts, tasks, avoid, strict=True):
        if draft.ends:
            text = str(draft.program)
            jobs.setdefault(text, Job(text, "dsl", group=1 + task.index, avoid=container))
    ran = dict(zip(jobs, sandbox.run(list(jobs.values())) if jobs else [], strict=True))
    return [ran[str(d.program)] if d.ends else Verdict(Status.SYNTAX, detail=d.error or "empty") for d in drafts]


def score(task: Task, draft: Draft, verdict: Verdict, rule: RewardRule) -> Outcome:
    """The outcome of one draft, from the values of its statements."""
    text = str(draft.program)
    if verdict.status.is_fault:
        return Outcome(text, draft.end, False, verdict.status, None)
    hit = next((i for i, value in enumerate(verdict.trace) if value == task.target), None)
    if hit is None:
        reward, ran = _missed(task, verdict, rule), len(verdict.trace)
        if verdict.status is not Status.OK and ran < len(draft.ends):
            text = str(draft.program.prefix(ran + 1))
            return Outcome(
                text, draft.ends[ran], False, verdict.status, reward, True, trace=verdict.trace, ends=draft.ends[:ran]
            )
        status = Status.SYNTAX if draft.error and verdict.status is Status.OK else verdict.status
        return Outcome(
            text, draft.end, False, status, reward, draft.error is None, draft.program,
            value=verdict.value, trace=verdict.trace, ends=draft.ends[:ran],
        )  # fmt: skip
    program = draft.program.prefix(hit + 1)
    bits = coded_bits(program)
    return Outcome(
        str(program), draft.ends[hit], True, Status.OK, rule.success(bits, literal_bits(task.target)), True,
        program, bits, is_copy(program), trace=verdict.trace[: hit + 1], ends=draft.ends[: hit + 1],
    )  # fmt: skip


def _missed(task: Task, verdict: Verdict, rule: RewardRule) -> float:
    """What a program that did not make the target is paid."""
    if not rule.partial or not verdict.trace:
        return rule.failure
    return rule.failure + rule.partial * explained(verdict.trace, task.target)[-1]


def is_copy(program: Program) -> bool:
    """True when the program, simplified, is one literal list."""
    simple = canonical(program).statements
    return len(simple) == 1 and simple[0].function == "set_list"  # type: ignore[union-attr]


class SandboxJudge:
    """Runs programs; the sandbox is its own to close."""

    def __init__(self, sandbox: Sandbox, rule: RewardRule, max_lines: int) -> None:
        self.sandbox, self._rule, self._max_lines = sandbox, rule, max_lines

    def __call__(self, tasks: Sequence[Task], texts: Sequence[str]) -> list[Outcome]:
        return judge(tasks, texts, self.sandbox, self._rule, self._max_lines)

    def health(self) -> Health:
        return self.sandbox.health()

    def close(self) -> None:
        self.sandbox.close()
