"""Which sets of reasoning-gym can be used: a scorer that would run an answer as code is found, whatever the set is called."""

from __future__ import annotations

import builtins
import importlib.util
import random
from collections.abc import Iterator
from typing import Any

import pytest

from kolmocli.errors import EnvironmentMissing, UsageError
from kolmocli.tasks.reasoning.sets import reasoning_set, runs_answers

ANSWER = "['A', 'B']"


@pytest.fixture(autouse=True)
def read_anew() -> Iterator[None]:
    reasoning_set.cache_clear()
    yield
    reasoning_set.cache_clear()


def test_without_the_package_one_line_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(EnvironmentMissing, match=r"needs reasoning-gym: pip install 'kolmocli\[reasoning-gym\]'"):
        reasoning_set("chain_sum")


class Runs:
    def score_answer(self, answer: str, entry: dict[str, Any]) -> float:
        return float(eval(answer) == entry["answer"])


class RunsBySympy:
    def score_answer(self, answer: str, entry: dict[str, Any]) -> float:
        sympy: Any = None
        return float(sympy.parse_expr(f"{answer}") == entry["answer"])


class RunsItsOwn:
    def score_answer(self, answer: str, entry: dict[str, Any]) -> float:
        return float(answer in eval(entry["answer"]))


@pytest.mark.parametrize(("scorer", "found"), [(Runs, True), (RunsBySympy, True), (RunsItsOwn, False)])
def test_what_a_scorer_runs_is_read_from_its_source(scorer: type[Any], found: bool) -> None:
    assert runs_answers(scorer) is found


@pytest.mark.reasoning_gym
def test_no_scorer_of_a_usable_set_runs_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    from reasoning_gym.factory import CURRICULA, DATASETS

    ran: list[str] = []
    run = builtins.eval

    def noted(text: Any, *rest: Any) -> Any:
        ran.append(str(text))
        return run(text, *rest)

    monkeypatch.setattr(builtins, "eval", noted)

    def score(name: str) -> bool:
        """Whether the scorer of a set runs the answer."""
        ran.clear()
        dataset = DATASETS[name][0](config=DATASETS[name][1](seed=1, size=1))
        try:
            dataset.score_answer(ANSWER, dataset[0])
        except Exception as error:  # an answer that it was not made for
            assert not isinstance(error, AttributeError | NameError), error
        return ANSWER in ran

    assert score("string_insertion")
    for name in random.Random(0).sample(sorted(CURRICULA), 40):
        try:
            reasoning_set(name)
        except UsageError:
            continue
        assert not score(name), name
