"""KolmogorovEnv: write a program line by line until its value is the target.

State: the program so far. Action: one line. The only feedback is "go on" or "done", so a whole program
can be sampled at once, run once with the value of every statement, and cut at the first line whose value
is the target: the same distribution as stepping, at 1/lines of the executions. `KolmogorovEnv` is the
readable reference, `judge` the batched twin that training uses; a test holds them equal.

An engine knows neither: it has a `Judge`. Questions are judged by their text, so their judge opens no sandbox.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from kolmocli.config import Config
from kolmocli.errors import UsageError
from kolmocli.language.coder import coded_bits, literal_bits
from kolmocli.language.program import LineParser, Program, ProgramError, canonical
from kolmocli.language.progress import explained
from kolmocli.sandbox import open_sandbox
from kolmocli.sandbox.base import Health, Job, Limits, Sandbox, Status, Value, Verdict
from kolmocli.tasks.answers.parsing import extract_answer, is_tagged, strict_answer
from kolmocli.tasks.base import Task
from kolmocli.tasks.reward import RewardRule, reward_rule


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one rollout.

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
    """Of a program that ended normally and missed: what it really makes. Of an answer in words: the number that a lenient
    reader finds in it."""
    trace: tuple[Value | None, ...] = ()
    """The value of each statement of the episode that has one."""
    ends: tuple[int, ...] = ()
    """The number of lines up to and with each of these statements."""

    @property
    def executable(self) -> bool:
        """It ended normally with some value."""
        return self.status is Status.OK


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
            jobs.setdefault(text, Job(text, group=1 + task.index, avoid=container))
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


class Judge(Protocol):
    """From what a policy wrote for some tasks to the outcomes, one per text, in order. Any thread may call it."""

    def __call__(self, tasks: Sequence[Task], texts: Sequence[str]) -> list[Outcome]: ...

    def health(self) -> Health: ...

    def close(self) -> None: ...


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


NO_SANDBOX = "none"
"""The backend of a judge that runs nothing."""


class AnswerJudge:
    """Reads answers. One passes that ends with the tag and the right number; whatever ends otherwise is a SYNTAX error."""

    def __init__(self, rule: RewardRule) -> None:
        self._rule = rule

    def __call__(self, tasks: Sequence[Task], texts: Sequence[str]) -> list[Outcome]:
        return [self._read(task, text) for task, text in zip(tasks, texts, strict=True)]

    def _read(self, task: Task, text: str) -> Outcome:
        strict, lenient = strict_answer(text), extract_answer(text)
        passed = (strict,) == task.target
        return Outcome(
            text, len(text.split("\n")), passed, Status.SYNTAX if strict is None else Status.OK,
            self._rule.success(0.0, 1.0) if passed else self._rule.failure, is_tagged(text),
            value=None if lenient is None else (lenient,),
        )  # fmt: skip

    def health(self) -> Health:
        return Health(NO_SANDBOX)

    def close(self) -> None:
        pass


def open_judge(config: Config, backend: str, warn: Callable[[str], None]) -> Judge:
    """The judge of a run or an evaluation; only one of programs opens a sandbox, of `backend`.

    Raises:
        EnvironmentMissing: the sandbox that was asked for is not there.
        UsageError: a sandbox was asked for by name where nothing is run.
    """
    rule, asked = reward_rule(config.reward), config.sandbox
    if config.asks_questions:
        if backend != "auto":
            raise UsageError(f"sandbox {backend}: answers in words are not run, no sandbox is opened; leave it out")
        return AnswerJudge(rule)
    sandbox = open_sandbox(
        backend,
        limits=Limits(asked.cpu_ms, asked.wall_ms, asked.memory_mb),
        workers=asked.workers or None,
        warn=warn,
        runtime=asked.runtime,
    )
    return SandboxJudge(sandbox, rule, config.training.max_lines)


class KolmogorovEnv:
    """The environment as textbooks have it: `reset`, then `step(line)` until done, or `stop()` short of that.

    The reward is 0 until an episode ends: with the value of a line, with a line that fails, with the last
    line that is allowed, or with the decision to stop. Blank lines are no statements and change nothing.
    """

    def __init__(self, sandbox: Sandbox, rule: RewardRule, max_lines: int) -> None:
        self.sandbox = sandbox
        self.rule = rule
        self.max_lines = max_lines

    def reset(self, task: Task) -> str:
        """Start with an empty program and return it."""
        self.task = task
        self.lines: list[str] = []
        return ""

    def step(self, line: str) -> tuple[str, float | None, bool]:
        """Add a line, run the program, and return (program so far, reward, done).

        A line that is not of the language or does not run ends the episode. The reward is None when the
        sandbox failed.
        """
        self.lines.append(line)
        text = "\n".join(self.lines)
        if not line.strip(" "):
            return text, 0.0, False
        outcome = self._judge(text)
        statements = sum(bool(line.strip(" ")) for line in self.lines)
        done = outcome.passed or outcome.status is not Status.OK or statements >= self.max_lines
        return text, outcome.reward if done else 0.0, done

    def stop(self) -> float | None:
        """End the program as it is, short of the target, and return the reward of that."""
        return self._judge("\n".join(self.lines)).reward

    def _judge(self, text: str) -> Outcome:
        self.outcome = judge([self.task], [text], self.sandbox, self.rule, self.max_lines)[0]
        return self.outcome
