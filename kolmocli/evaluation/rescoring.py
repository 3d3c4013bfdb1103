"""Programs of any model, run in the sandbox and judged by the value of `output`.

Two languages. `python`: anything, with an empty prelude; `output` is looked at after the last statement. `dsl`: the
functions of the language are in scope, and a program must be of the language.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from kolmocli.config import Reward
from kolmocli.evaluation.answers import spells_out, without_comments
from kolmocli.language.coder import coded_bits, literal_bits
from kolmocli.language.program import Program
from kolmocli.sandbox import Job, Limits, Sandbox, Status, Verdict
from kolmocli.tasks.base import Task
from kolmocli.tasks.outcome import Outcome
from kolmocli.tasks.reward import reward_rule
from kolmocli.tasks.sequences.judge import Draft, is_copy

Language = Literal["python", "dsl"]
_CHUNK = 512
"""Programs of one batch; two are on their way, so that reading and scoring do not hold up the sandbox."""
_MOST_STATEMENTS = 4096
_RULE = reward_rule(Reward())
MAX_ITEMS = 1 << 16
"""Of any value: a program may make a table on the way to a short sequence."""
_REPORTED = 4 << 20
"""Bytes of the values of all statements."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A program that a model wrote for a task."""

    task: Task
    program: str


def limits_of(seconds: float) -> Limits:
    """Of the benchmark: so many seconds of processor time, and three times as many by the clock on a busy machine."""
    return Limits(
        cpu_ms=round(1000 * seconds), wall_ms=round(3000 * seconds), max_items=MAX_ITEMS, output_bytes=_REPORTED
    )


def rescore(
    candidates: Iterable[Candidate], language: Language, sandbox: Sandbox, told: Callable[[int], None] = lambda n: None
) -> Iterator[tuple[Task, Outcome]]:
    """Every candidate with its outcome, in order. `told` hears how many are done.

    What passes is run once more, in another container: what passed by luck does not pass twice.
    """
    source, waiting, done = iter(candidates), deque[tuple[list[_Prepared], Future[list[Verdict]]]](), 0
    while True:
        while len(waiting) < 2 and (batch := [_prepare(c, language, i) for i, c in enumerate(islice(source, _CHUNK))]):
            waiting.append((batch, sandbox.submit([p.job for p in batch])))
        if not waiting:
            return
        batch, future = waiting.popleft()
        yield from _confirmed(batch, future.result(), sandbox)
        done += len(batch)
        told(done)


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A candidate and its job. `parsed` is None for free Python; `error` is what the language says of the text."""

    task: Task
    text: str
    job: Job
    parsed: Program | None = None
    error: str | None = None


def _prepare(candidate: Candidate, language: Language, group: int) -> _Prepared:
    text = candidate.program
    if language == "python":
        # Two line breaks: after a backslash at the end of a program one would join the lines.
        return _Prepared(candidate.task, text, Job(f"{text}\n\noutput\n", "python", group=group))
    draft = Draft.read(without_comments(text), _MOST_STATEMENTS)
    error = draft.error or (None if draft.ends else "empty")
    return _Prepared(candidate.task, text, Job(str(draft.program), "dsl", group=group), draft.program, error)


def _confirmed(batch: list[_Prepared], verdicts: list[Verdict], sandbox: Sandbox) -> Iterator[tuple[Task, Outcome]]:
    outcomes = [_score(p, v) for p, v in zip(batch, verdicts, strict=True)]
    winners = [i for i, outcome in enumerate(outcomes) if outcome.passed]
    again = [
        Job(batch[i].job.program, batch[i].job.language, group=batch[i].job.group, avoid=verdicts[i].container)
        for i in winners
    ]
    for i, verdict in zip(winners, sandbox.run(again) if again else [], strict=True):
        outcomes[i] = _score(batch[i], verdict)
    yield from ((p.task, outcome) for p, outcome in zip(batch, outcomes, strict=True))


def _score(prepared: _Prepared, verdict: Verdict) -> Outcome:
    if verdict.status.is_fault:
        return Outcome(prepared.text, 1, False, verdict.status, None)
    if prepared.parsed is not None:
        return _score_parsed(prepared, prepared.parsed, verdict)
    target, value = prepared.task.target, verdict.value
    # A program that ends normally without a sequence in `output` has not answered.
    status = Status.RUNTIME if verdict.status is Status.OK and value is None else verdict.status
    formatted = status is not Status.SYNTAX
    if value != target:
        return Outcome(prepared.text, 1, False, status, _RULE.failure, formatted, value=value)
    bits = _text_bits(prepared.text)
    reward = _RULE.success(bits, _text_bits(f"output={list(target)}"))
    return Outcome(prepared.text, 1, True, status, reward, True, bits=bits, copied=spells_out(prepared.text, target))


def _score_parsed(prepared: _Prepared, program: Program, verdict: Verdict) -> Outcome:
    if prepared.error is not None:
        return Outcome(prepared.text, 1, False, Status.SYNTAX, _RULE.failure)
    target, text = prepared.task.target, str(program)
    if verdict.value != target:
        return Outcome(text, 1, False, verdict.status, _RULE.failure, True, program, value=verdict.value)
    bits = coded_bits(program)
    reward = _RULE.success(bits, literal_bits(target))
    return Outcome(text, 1, True, verdict.status, reward, True, program, bits, is_copy(program))


def _text_bits(text: str) -> int:
    return 8 * len(text.encode("utf-8", "surrogatepass"))
