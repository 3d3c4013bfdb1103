"""What all samples of some tasks come to, together and by family; lost ones count nowhere."""

from __future__ import annotations

import pytest

from kolmocli.curriculum.base import Bucket
from kolmocli.evaluation.intervals import wilson
from kolmocli.evaluation.samples import Attempts, every_sample, pass_shares, pass_shares_by
from kolmocli.sandbox.base import Status
from kolmocli.tasks.base import Task
from kolmocli.tasks.outcome import Outcome

PASSED = Outcome("", 1, True, Status.OK, 1.0, True)
FAILED = Outcome("", 1, False, Status.RUNTIME, 0.0, True)
LOST = Outcome("", 1, False, Status.INFRA, None)
RIGHT = Outcome("", 1, True, Status.OK, 1.0, True, lenient=True)
LOOSE = Outcome("", 1, False, Status.SYNTAX, 0.0, False, lenient=True)


def task(family: str, level: int = 1, *, words: bool = False) -> Task:
    return Task(prompt="?", check=bool, bucket=Bucket(family, level), language="text" if words else "python")


ATTEMPTS: Attempts = [
    (task("a"), [PASSED, FAILED, LOST]), (task("a", 2), [FAILED, FAILED, FAILED]), (task("b", words=True), [RIGHT, LOOSE, LOOSE]),
    (task("b"), [LOST, LOST, LOST]),
]  # fmt: skip


def test_lost_samples_make_a_task_smaller_and_a_lost_task_none() -> None:
    found = pass_shares(ATTEMPTS)
    assert (found["n"], found["accuracy"]) == (3, pytest.approx((1 / 2 + 0 + 1 / 3) / 3))
    assert found["pass_at_k"] == {"1": found["accuracy"], "2": pytest.approx((1 + 0 + 2 / 3) / 3)}
    assert found["accuracy_ci"] == list(wilson(3 * found["accuracy"], 3))


def test_nothing_judged_is_no_number() -> None:
    found = pass_shares(ATTEMPTS[3:])
    assert found == {"n": 0, "accuracy": None, "accuracy_ci": [0.0, 1.0], "pass_at_k": {}, "pass_at_k_ci": {}}
    assert pass_shares_by(ATTEMPTS[3:])["buckets"] == {}
    assert every_sample(ATTEMPTS[3:]) == ({}, {})


def test_by_bucket_and_family() -> None:
    found = pass_shares_by(ATTEMPTS)
    assert {name: (b["n"], b["accuracy"]) for name, b in found["buckets"].items()} == {
        "a/1": (1, 0.5), "a/2": (1, 0.0), "b/1": (1, pytest.approx(1 / 3)),
    }  # fmt: skip
    assert found["families"]["a"]["accuracy"] == 0.25
    assert "n" not in found, "the report has that number already"


def test_shares_of_all_samples() -> None:
    shares, intervals = every_sample(ATTEMPTS)
    assert shares == {
        "executable": 1 / 5, "format_rate": 6 / 8, "accuracy_lenient": 1.0,
        "average_reward": pytest.approx((1 / 2 + 0 + 1 / 3) / 3),
    }  # fmt: skip
    assert all(low <= shares[name] <= high for name, (low, high) in intervals.items())
