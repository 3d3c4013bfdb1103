"""A belief about every task of a file, as a kind of controller: `data.per_task` with `controller.kind: posterior`."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path

import numpy as np
import pytest

from kolmocli.config import Config
from kolmocli.config.file import load_config
from kolmocli.config.opening import open_controller
from kolmocli.curriculum.base import Bucket, Controller, Result
from kolmocli.curriculum.build import controller
from kolmocli.curriculum.information import signal
from kolmocli.errors import UsageError
from kolmocli.paths import find_curriculum
from kolmocli.tasks.sources import training_source

GROUP, GROUPS = 8, 16


def learned_from(made: Controller, ease: np.ndarray, steps: int) -> list[float]:
    """U of the groups of each step, while task i passes with probability sigma(ease[i])."""
    found = []
    for step in range(steps):
        luck = np.random.default_rng([1, step])
        buckets = made.propose(GROUPS, random.Random(step))
        rates = 1.0 / (1.0 + np.exp(-ease[[bucket.level - 1 for bucket in buckets]]))
        passes = luck.binomial(GROUP, rates).tolist()
        made.observe([Result(bucket, k, GROUP) for bucket, k in zip(buckets, passes, strict=True)])
        found.append(float(np.mean([signal(k, GROUP) for k in passes])))
    return found


def test_it_finds_the_tasks_that_teach_wherever_they_stand() -> None:
    ease = np.random.default_rng(0).normal(-3.0, 2.5, 400)
    late = {
        kind: np.mean(learned_from(controller(kind, {"q": 400}), ease, 120)[60:])
        for kind in ("posterior", "uniform", "rasch")
    }
    assert late["posterior"] > 1.6 * max(late["uniform"], late["rasch"])


def test_a_step_asks_no_task_twice_while_there_are_others() -> None:
    made = controller("posterior", {"q": 40}, sharpness=100.0, probes=0.0)
    made.observe([Result(Bucket("q", 7), 4, 8)] * 20)
    for step in range(20):
        levels = [bucket.level for bucket in made.propose(8, random.Random(step))]
        assert len(set(levels)) == 8
    assert {bucket.level for bucket in made.propose(40, random.Random(0))} == set(range(1, 41))
    assert len(made.propose(60, random.Random(0))) == 60


def test_results_of_tasks_that_it_did_not_propose_count() -> None:
    """A profile, or a trainer that draws by itself."""
    one, other = (controller("posterior", {"q": 400}, probes=0.0) for _ in range(2))
    one.observe([Result(Bucket("q", level), 0 if level > 100 else 4, 8) for level in range(1, 401)])
    asked = [bucket.level for step in range(10) for bucket in one.propose(16, random.Random(step))]
    assert np.mean(np.array(asked) <= 100) > 0.9
    assert one.metrics()["q"].level < 120 < 180 < other.metrics()["q"].level < 220


def test_each_result_has_its_own_age() -> None:
    def after(*ages: int) -> float:
        made = controller("posterior", {"q": 4})
        made.observe([Result(Bucket("q", 1 + i), 8, 8, age=age) for i, age in enumerate(ages)])
        state = made.state_dict()["families"]["q"]["state"]["posterior"]
        return float(sum(mean for mean, _ in state["ability"]))

    assert after(0, 0) > after(0, 9) > after(9, 9)
    assert after(0, 9) == pytest.approx(after(9, 0))


def question(n: int, **more: object) -> dict[str, object]:
    return {"question": f"What is {n} + {n}?", "answer": str(2 * n), **more}


def run(path: Path, **settings: object) -> tuple[Config, Controller]:
    config = load_config(
        find_curriculum("quickstart"), {"data.train": str(path), "controller.kind": "posterior", **settings}
    )
    return config, open_controller(config, training_source(config, print))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Questions of which every fifth is passed half the time; the file is in no order."""
    rows = [question(n, pass_rate=0.5 if n % 5 == 0 else 0.0, level=1 + (n % 5 > 0)) for n in range(200)]
    random.Random(0).shuffle(rows)
    path = tmp_path / "levelled.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("kind", ["posterior", "thompson"])
def test_measured_pass_rates_are_those_of_the_tasks_and_not_of_their_levels(file: Path, kind: str) -> None:
    config, made = run(file, **{"data.per_task": True, "controller.prior": str(file), "controller.kind": kind})
    source = training_source(config, print)
    asked = [source.task(bucket, 0).content for step in range(10) for bucket in made.propose(8, random.Random(step))]
    numbers = [int(text.split(" is ")[1].split(" +")[0]) for text in asked]
    assert np.mean([n % 5 == 0 for n in numbers]) > 0.8


def test_a_profile_of_other_tasks_is_refused(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    other.write_text(json.dumps(question(1000, pass_rate=0.5)) + "\n")
    with pytest.raises(
        UsageError, match=r"other.jsonl has a pass rate of no task of this run.*calibrate --data F -o G"
    ):
        run(file, **{"data.per_task": True, "controller.prior": str(other)})
    other.write_text(json.dumps(question(0, pass_rate=1.5)) + "\n")
    with pytest.raises(UsageError, match=r"other.jsonl:1: a pass rate lies between 0 and 1, got 1.5"):
        run(file, **{"data.per_task": True, "controller.prior": str(other)})


def test_without_a_file_or_tasks_of_their_own_it_says_what_to_set(file: Path) -> None:
    with pytest.raises(UsageError, match=r"controller.kind: posterior .* set data.train, and data.per_task to true"):
        run(file)
    config = load_config(find_curriculum("quickstart"), {"controller.kind": "posterior", "data.per_task": True})
    with pytest.raises(UsageError, match=r"set data.train, and data.per_task to true"):
        open_controller(config, training_source(config, print))


def test_it_keeps_what_was_asked_and_not_the_file() -> None:
    made = controller("posterior", {"q": 100_000})
    made.observe([Result(b, 3, 8) for b in made.propose(16, random.Random(0))])
    kept = made.state_dict()["families"]["q"]["state"]
    assert len(kept["seen"]["prompts"]) == 16
    assert math.isfinite(made.metrics()["q"].level)
