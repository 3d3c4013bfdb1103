"""A family's own metrics: recorded by name, paid by weight, and never a way to pass."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import kolmocli as kolmo
from kolmocli.errors import UsageError
from kolmocli.sandbox import Sandbox
from kolmocli.tasks.base import Attempt
from kolmocli.tasks.figures import means
from kolmocli.tasks.judging import judge
from kolmocli.tasks.outcome import Outcome, Terms
from kolmocli.tasks.reward import Binary
from tests.training.runs import metrics

TERMS = Terms(Binary())


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with kolmo.open_sandbox("embedded", workers=1) as opened:
        yield opened


def task(**parts: Any) -> kolmo.Task:
    return kolmo.Task(prompt="Count to three.", check=lambda value: tuple(value) == (1, 2, 3), **parts)


def said(**parts: Any) -> kolmo.Task:
    return kolmo.Task(prompt="Say yes.", check=lambda text: text == "yes", language="text", **parts)


def words(texts: list[str], asked: kolmo.Task, sandbox: Sandbox) -> list[Outcome]:
    return judge([asked] * len(texts), texts, sandbox, TERMS)


def test_programs_are_measured_where_they_made_something(sandbox: Sandbox) -> None:
    counted = task(metrics={"items": len, "last": lambda value: value[-1]}, weights={"items": 0.25})
    programs = ["output = [1, 2, 3]", "output = [1, 2]", "output = [", "output = []"]
    right, short, broken, empty = words(programs, counted, sandbox)
    assert (right.passed, right.reward, right.metrics) == (True, 1.75, {"items": 3.0, "last": 3.0})
    assert (short.passed, short.reward, short.metrics) == (False, -0.5, {"items": 2.0, "last": 2.0})
    assert (broken.reward, broken.metrics) == (-1.0, {})
    assert (empty.reward, empty.metrics) == (-1.0, {"items": 0.0})  # a metric that raises has no figure
    assert means([right, short, broken, empty]) == {"items": 5 / 3, "last": 2.5}


def test_answers_in_words_are_measured_too(sandbox: Sandbox) -> None:
    polite = said(metrics={"please": lambda text: "please" in text}, weights={"please": 0.5})
    outcomes = words(["yes", "yes please"], polite, sandbox)
    assert [(o.passed, o.reward, o.metrics["please"]) for o in outcomes] == [(True, 1.0, 0.0), (False, -0.5, 1.0)]


def test_without_metrics_nothing_is_said(sandbox: Sandbox) -> None:
    (outcome,) = words(["yes"], said(), sandbox)
    assert outcome.metrics == {}
    assert means([outcome]) is None


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), "1", None, [1.0], 10**400], ids=lambda value: str(value)[:5]
)
def test_what_is_no_figure_ends_the_run(sandbox: Sandbox, value: Any) -> None:
    with pytest.raises(UsageError, match="its metric odd returned"):
        words(["yes"], said(metrics={"odd": lambda _: value}), sandbox)


def test_a_weight_of_no_metric_is_refused(sandbox: Sandbox) -> None:
    with pytest.raises(UsageError, match="a weight for lenght, which is no metric of it; did you mean length"):
        words(["yes"], said(metrics={"length": len}, weights={"lenght": 1.0}), sandbox)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged(kolmo.Task):
    """A task with a judge of its own."""

    def attempt(self, text: str, terms: Terms) -> Attempt:
        raise NotImplementedError


def test_a_judge_of_its_own_with_metrics_is_refused() -> None:
    @kolmo.family("judged", levels=1, held_out=False)
    def judged(level: int, rng: random.Random) -> kolmo.Task:
        return Judged(prompt="Count.", metrics={"length": len})

    with pytest.raises(UsageError, match="with metrics and a judge of its own"):
        judged.open("judged", judged.settings(), "train", 0, None).task(1, 0)


def register(weights: dict[str, float]) -> str:
    """A family whose metric has these weights."""

    @kolmo.family("letters", levels=2, language="text", held_out=False)
    def letters(level: int, rng: random.Random) -> kolmo.Task:
        prompt = f"Write {rng.choice('abc') * level}."
        return kolmo.Task(
            prompt=prompt, check=lambda text: text in prompt[6:], metrics={"length": len}, weights=weights
        )

    return letters.name


def test_a_run_records_them_and_learns_by_their_weights(tmp_path: Path) -> None:
    kept = {}
    for weight in (0.0, -0.01):
        name, run = register({"length": weight}), tmp_path / str(weight)
        curriculum = {
            "name": "letters",
            "families": {name: {}},
            "model": {"name": "tiny-llama"},
            "reward": {"kind": "binary"},
            "warmup": {"max_steps": 0},
            "training": {"batch_size": 16, "max_new_tokens": 8},
            "evaluation": {"tasks": 4},
            "report": False,
        }
        summary = kolmo.train(curriculum, steps=1, sandbox="embedded", run_dir=run)
        kept[weight] = next(m for m in metrics(run) if m["phase"] == "rl")
        assert 0 < summary["eval"]["before"]["metrics"]["length"] <= 8
        assert json.loads((run / "summary.json").read_text())["eval"]["after"]["metrics"]["length"] > 0
    plain, short = kept.values()
    assert plain["metrics"] == short["metrics"]
    assert plain["metrics"]["length"] > 1
    assert short["reward"] == pytest.approx(plain["reward"] - 0.01 * plain["metrics"]["length"])
    assert plain["dead_groups"] > short["dead_groups"]
