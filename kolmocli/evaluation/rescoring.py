"""Programs of any model, run in the sandbox: those for a sequence are judged by their result.

The result of a program is the value of its last statement; of one in Python that names `output`, what that is after the
last statement. Two languages. `python`: anything, with an empty prelude. `dsl`: the functions of the language are in scope, and
a program must be of the language, whole.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from kolmocli.language.answers import without_comments
from kolmocli.language.coder import coded_bits, literal_bits
from kolmocli.pace import Done
from kolmocli.sandbox import Job, Limits, Sandbox, Status, Verdict
from kolmocli.tasks.base import Attempt, Task
from kolmocli.tasks.judging import judge_attempts
from kolmocli.tasks.outcome import Outcome, Terms
from kolmocli.tasks.reward import Reward, reward_rule
from kolmocli.tasks.sequences.judge import Draft, is_copy
from kolmocli.tasks.sequences.task import SequenceTask

Language = Literal["python", "dsl"]
_CHUNK = 512
"""Programs of one batch; two are on their way, so that reading and scoring do not hold up the sandbox."""
_TERMS = Terms(reward_rule(Reward()), 4096)
MAX_ITEMS = 1 << 16
"""Longest value: a program may make a table on the way to a short sequence."""
_REPORTED = 4 << 20
"""Bytes of the values of all statements."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A program, or an answer in words, that a model wrote for a task."""

    task: Task
    program: str


def limits_of(seconds: float, memory_mb: int = Limits().memory_mb) -> Limits:
    """The benchmark's limits: `seconds` of processor time, and three times that by the clock, for a busy machine."""
    return Limits(
        cpu_ms=round(1000 * seconds), wall_ms=round(3000 * seconds), memory_mb=memory_mb, max_items=MAX_ITEMS,
        output_bytes=_REPORTED,
    )  # fmt: skip


def rescore(
    candidates: Iterable[Candidate], sandbox: Sandbox | None, told: Done = lambda count: None
) -> Iterator[tuple[Task, Outcome]]:
    """Every candidate with its outcome, in order. `told` hears of those that are done. Without a sandbox where all are answers in
    words."""
    source, waiting = iter(candidates), deque[tuple[list[Candidate], Future[list[Outcome]]]]()
    threads = ThreadPoolExecutor(2)
    try:
        while True:
            while len(waiting) < 2 and (chunk := list(islice(source, _CHUNK))):
                waiting.append((chunk, threads.submit(judge_attempts, [_read(c) for c in chunk], sandbox)))
            if not waiting:
                return
            chunk, judged = waiting.popleft()
            yield from ((c.task, outcome) for c, outcome in zip(chunk, judged.result(), strict=True))
            told(len(chunk))
    finally:  # what is under way when it ends early is for the owner of the sandbox to end
        threads.shutdown(wait=False, cancel_futures=True)


def _read(candidate: Candidate) -> Attempt:
    task, text = candidate.task, candidate.program
    if task.language != "dsl" or not isinstance(task, SequenceTask):
        return task.attempt(text, _TERMS)
    return WholeProgram(task, Draft.read(without_comments(text), _TERMS.max_lines))


@dataclass(frozen=True, slots=True)
class WholeProgram:
    """A program of the language that must be one to its last line, and whose result is the value of that."""

    task: SequenceTask
    draft: Draft

    @property
    def job(self) -> Job | None:
        return Job(str(self.draft.program), "dsl", group=self.task.index) if self.draft.ends else None

    def outcome(self, verdict: Verdict | None) -> Outcome:
        draft, target, rule = self.draft, self.task.target, _TERMS.rule
        text, literal = str(draft.program), literal_bits(target)
        if verdict is not None and verdict.status.is_fault:
            return Outcome(text, 1, False, verdict.status, None, literal_bits=literal)
        if verdict is None or draft.error is not None:
            return Outcome(text, 1, False, Status.SYNTAX, rule.failure, literal_bits=literal)
        if verdict.value != target:
            return Outcome(
                text, 1, False, verdict.status, rule.failure, True, draft.program, value=verdict.value,
                literal_bits=literal,
            )  # fmt: skip
        bits = coded_bits(draft.program)
        return Outcome(
            text, 1, True, verdict.status, rule.success(bits, literal), True, draft.program, bits,
            is_copy(draft.program), literal_bits=literal,
        )  # fmt: skip
