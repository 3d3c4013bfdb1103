"""What a run would take: what is rehearsed, and how it is multiplied. A rehearsed step takes one second here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from kolmocli.training import rehearsal
from kolmocli.training.rehearsal import rehearse
from kolmocli.training.warmstart import CHECK_TASKS
from tests.training.runs import small_config


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What each timed piece of work returned."""
    results = []

    def timed(work: Callable[[], Any]) -> float:
        results.append(work())
        return 1.0

    monkeypatch.setattr(rehearsal, "_timed", timed)
    return results


def test_steps_are_multiplied(done: list[Any]) -> None:
    """A batch of 8 is rehearsed whole. One of the evaluation's 32 tasks has its share of a second."""
    found = rehearse(small_config())
    assert found["reinforce"] == 12 * (1 + 1)
    assert found["evaluations"] == pytest.approx((2 + 2) * 4 / 32, abs=0.01)
    assert found["warm_start"] == 25 + CHECK_TASKS / 32
    assert found["all"] == pytest.approx(found["reinforce"] + found["evaluations"] + found["warm_start"], abs=0.01)
    assert found["core_hours"] == pytest.approx(found["all"] * torch.get_num_threads() / 3600, abs=0.01)
    reports = [result for result in done if result is not None]
    assert len(reports) == 1 + 3  # a batch is learnt from, and references at three moments
    assert all(report.work > 0 for report in reports)


def test_what_is_too_large_to_rehearse_is_rehearsed_in_part(done: list[Any]) -> None:
    found = rehearse(
        small_config(training={"steps": 3, "batch_size": 640, "group_size": 8}, warmup={"batch_size": 320})
    )
    assert found["reinforce"] == 3 * (1 + 1) * 640 / 32
    assert found["warm_start"] == 25 * 320 / 32 + CHECK_TASKS / 32
    assert done


def test_threads_are_given_back() -> None:
    before = torch.get_num_threads()
    rehearse(small_config().model_copy(update={"threads": before + 1}))
    assert torch.get_num_threads() == before


def test_without_a_warm_start_there_is_none(done: list[Any]) -> None:
    found = rehearse(small_config(warmup={"max_steps": 0}))
    assert found["warm_start"] == 0
    assert len(done) == 4
