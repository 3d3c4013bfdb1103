"""What a run would take: what is rehearsed, and how it is multiplied. A token that is read or written takes one second
here, and one that is learnt three."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
import torch

from kolmocli.learning.learner import Learner
from kolmocli.learning.report import StepReport
from kolmocli.policy.policy import Policy
from kolmocli.training import rehearsal
from kolmocli.training.rehearsal import rehearse
from kolmocli.training.warmstart import CHECK_TASKS
from tests.training.runs import small_config

PROMPT, ANSWER = 10, 6
"""Tokens."""


@pytest.fixture
def worked(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds of each timed piece of work."""
    seconds, clock = [], [0.0]

    def timed(work: Callable[[], Any]) -> float:
        before = clock[0]
        work()
        seconds.append(clock[0] - before)
        return seconds[-1]

    def rollout(self: Policy, asked: Any, *, samples: int, max_new_tokens: int, **_: Any) -> None:
        clock[0] += len(asked) * (PROMPT + samples * (max_new_tokens - 1))

    def step(self: Learner, batch: Any, *_: Any, **__: Any) -> StepReport:
        prompts = {item.rollout.prompt for item in batch}
        clock[0] += 3 * (len(prompts) * PROMPT + sum(len(item.rollout.tokens) for item in batch))
        return StepReport(0, 0, 0, 0, 0)

    monkeypatch.setattr(rehearsal, "_timed", timed)
    monkeypatch.setattr(Policy, "rollout", rollout)
    monkeypatch.setattr(Policy, "prompt_ids", lambda self, prompt, prefix="": (crc32(prompt.text.encode()),) * PROMPT)
    monkeypatch.setattr(Policy, "_answer_ids", lambda self, text, given="": (1,) * ANSWER)
    monkeypatch.setattr(Learner, "step", step)
    return seconds


def of_a_step(prompts: int, samples: int) -> float:
    return prompts * (PROMPT + samples * ANSWER)


def test_what_is_rehearsed_is_multiplied(worked: list[float]) -> None:
    """By twelve steps of two prompts with four rollouts, four evaluations of four tasks, and 25 steps of 16 references."""
    found = rehearse(small_config())
    assert found["update"] == (1 + 3) * of_a_step(2, 4)
    assert found["reinforce"] == 12 * found["update"]
    assert found["evaluations"] == (2 + 2) * of_a_step(4, 1)
    assert found["warm_start"] == pytest.approx(of_a_step(CHECK_TASKS, 1) + 25 * 3 * of_a_step(16, 1), rel=0.3)
    assert found["all"] == pytest.approx(found["reinforce"] + found["evaluations"] + found["warm_start"], abs=0.02)
    assert found["hours"] == pytest.approx(found["all"] / 3600, abs=0.01)
    assert found["core_hours"] == pytest.approx(found["hours"] * torch.get_num_threads(), abs=0.02)


@pytest.mark.parametrize("products", [5e10, 3e7], ids=["as usual", "as of a large model"])
def test_what_is_too_large_to_rehearse_is_rehearsed_in_part(
    worked: list[float], monkeypatch: pytest.MonkeyPatch, products: float
) -> None:
    monkeypatch.setattr(rehearsal, "_PRODUCTS", products)
    config = small_config(training={"steps": 3, "batch_size": 640, "group_size": 8}, warmup={"batch_size": 320})
    found = rehearse(config)
    assert found["update"] == pytest.approx((1 + 3) * of_a_step(80, 8))
    assert found["warm_start"] == pytest.approx(of_a_step(CHECK_TASKS, 1) + 25 * 3 * of_a_step(320, 1), rel=0.3)
    budget = min(2048, products / 682_048)
    assert max(worked) <= 2 * 3 * budget + PROMPT + 32  # prompts are read, and answers written


def test_long_answers_of_a_file_are_not_taught_in_full(tmp_path: Path, worked: list[float]) -> None:
    """Thirty-two references of two thousand characters at three moments took minutes."""
    rows = [f'{{"question": "How many, number {i}?", "answer": "{"because " * 250} #### {i}"}}' for i in range(60)]
    (tmp_path / "q.jsonl").write_text("\n".join(rows))
    config = small_config(data={"train": str(tmp_path / "q.jsonl")}, warmup={"batch_size": 64})
    found = rehearse(config.model_copy(update={"families": {}}))
    assert found["all"] > 0
    assert max(worked) <= 3 * 2048 + PROMPT + 32


def test_threads_are_given_back() -> None:
    before = torch.get_num_threads()
    found = rehearse(small_config().model_copy(update={"threads": before + 1}))
    assert torch.get_num_threads() == before
    assert min(found["update"], found["reinforce"], found["evaluations"], found["warm_start"]) > 0


def test_without_a_warm_start_there_is_none(worked: list[float]) -> None:
    found = rehearse(small_config(warmup={"max_steps": 0}))
    assert found["warm_start"] == 0
