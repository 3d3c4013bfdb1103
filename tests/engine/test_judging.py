"""The judge of a run: what an engine has in place of a sandbox, and that answers in words need none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kolmocli.config import Config
from kolmocli.curriculum.base import Bucket
from kolmocli.engine import judging
from kolmocli.engine.judging import open_judge
from kolmocli.sandbox.opening import Backend
from kolmocli.tasks.answers.digits import sum_digits
from kolmocli.tasks.judging import SandboxJudge
from kolmocli.tasks.sequences.task import sequence_task

TASK = sum_digits([123, 45, 67])
QUESTIONS = Config.model_validate(
    {"families": {"sums": {"task": "sum_digits", "levels": [{}]}}, "reward": {"kind": "binary"}}
)
PROGRAMS = Config.model_validate({"families": {"any": {"levels": [{}]}}, "sandbox": {"workers": 1}})


def opened(config: Config, backend: Backend, warn: Callable[[str], None] = print) -> SandboxJudge:
    sandbox = config.sandbox if config.runs_programs else None
    return open_judge(config.reward, config.training.max_lines, sandbox, backend, warn)


def test_questions_are_judged_without_a_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("a sandbox was opened")

    monkeypatch.setattr(judging, "open_sandbox", refuse)
    judge = opened(QUESTIONS, "auto")
    assert TASK.reference is not None
    assert [o.passed for o in judge([TASK, TASK], [TASK.reference, "no"])] == [True, False]
    assert (judge.health().backend, judge.health().executed) == ("none", 0)
    judge.close()
    with pytest.raises(AssertionError, match="a sandbox was opened"):
        opened(PROGRAMS, "auto")


def test_a_sandbox_that_nothing_would_run_in_is_noted() -> None:
    said: list[str] = []
    judge = opened(QUESTIONS, "docker", said.append)
    assert said == ["sandbox docker: not opened, answers in words are not run"]
    assert judge.health().backend == "none"


def test_programs_are_judged_in_the_sandbox_that_was_asked_for() -> None:
    judge = opened(PROGRAMS, "embedded")
    try:
        task = sequence_task(Bucket("any", 1), 0, (7, 7, 7))
        assert isinstance(judge, SandboxJudge)
        (outcome,) = judge([task], ["output = repeat_num(3, 7)"])
        assert outcome.passed
        assert judge.health().backend == "embedded"
        assert judge.health().executed == 2  # a winner runs twice
    finally:
        judge.close()
