"""The beginning of an answer that is given, and how its share follows the pass rate."""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from kolmocli.config import Config
from kolmocli.config.controller import build_controller, ladders_of
from kolmocli.contrib.methods.hints import Hints
from kolmocli.curriculum.base import Bucket, Controller, Result
from kolmocli.engine.base import Group
from kolmocli.language.program import parse
from kolmocli.monitor.records import BucketRecord, ReinforceRecord
from kolmocli.policy.loading import load_policy
from kolmocli.policy.rollout import Rollout
from kolmocli.sandbox.base import Status
from kolmocli.tasks.judging import judge
from kolmocli.tasks.outcome import Outcome, Terms
from kolmocli.tasks.reward import Relative
from kolmocli.tasks.sequences.task import SequenceTask, sequence_task
from tests.policies import prompts, tiny
from tests.tasks.sequences.test_environment import Interpreted

BOTTOM, NEXT = Bucket("a", 1), Bucket("a", 2)
PROGRAM = parse("a = range_func_up(1, 3)\nb = repeat_num(2, 9)\nc = concatenate(a, b)\nd = reverse_list(c)")
TASK = sequence_task(BOTTOM, 0, (9, 9, 3, 2, 1), PROGRAM)
ROLLOUT = Rollout((1,), (2,), (0.0,), (0,), "", True)


def config(**sections: dict[str, Any]) -> Config:
    return Config.model_validate({"families": {"a": {"levels": [{}, {}, {}]}}, **sections})


def hints(shares: dict[str, float] | None = None, **settings: float) -> Hints:
    return hints_of(config(methods={"hints": {"most": 1.0, **settings}}), shares)


def hints_of(made: Config, shares: dict[str, float] | None = None) -> Hints:
    """With these shares to begin with, in this very mapping."""
    ladders = ladders_of(made.controller, made.families, [BOTTOM, NEXT, Bucket("a", 3)])
    settings: Any = made.methods["hints"]
    mine = Hints(settings, ladders, made.training.max_lines, random.Random)
    mine.shares = shares = {} if shares is None else shares
    for family in ladders:
        shares.setdefault(family, min(settings.start, settings.most))
    return mine


def controller_of(made: Config) -> Controller:
    return build_controller(made.controller, made.families, [BOTTOM, NEXT, Bucket("a", 3)], made.training.steps)


def group(task: SequenceTask, passes: int, rollouts: int = 8) -> Group:
    outcomes = [Outcome("", 1, i < passes, Status.OK, float(i < passes)) for i in range(rollouts)]
    return Group(task, [ROLLOUT] * rollouts, outcomes)


def given(task: SequenceTask, share: float) -> list[str]:
    """The hints of a hundred draws."""
    return [t.prefix for t in hints({"a": share}).give([task] * 100, random.Random(0))]


def words(text: str) -> int:
    """Counted by what ends them."""
    return len(re.findall(r"= |\(|, |\)", text))


# --- what is given


def test_the_mean_number_of_words_is_the_share_but_for_tasks_without_a_hint() -> None:
    whole = str(PROGRAM)
    assert words(whole) == 15
    found = given(TASK, 0.5)
    assert {words(hint) for hint in found} == {0, 7, 8}
    assert fmean(words(hint) for hint in found if hint) == pytest.approx(0.5 * 15, abs=0.2)
    assert 5 <= found.count("") <= 20
    assert all(whole.startswith(hint) for hint in found)


def test_the_last_word_of_the_line_that_makes_the_target_is_never_given() -> None:
    assert max(given(TASK, 1.0), key=len) == str(PROGRAM).removesuffix("sequence_3)")
    early = sequence_task(BOTTOM, 0, (1, 2, 3), PROGRAM)  # already the value of the first line
    assert max(given(early, 1.0), key=len) == "sequence_1 = range_func_up(1, "
    other = sequence_task(BOTTOM, 0, (7, 7), PROGRAM)  # not what the program makes
    assert set(given(other, 1.0)) == {""}


@pytest.mark.parametrize(("max_lines", "hinted"), [(3, False), (4, True)])
def test_no_hint_for_a_program_that_is_longer_than_allowed(max_lines: int, hinted: bool) -> None:
    mine = hints_of(config(methods={"hints": {"most": 1.0}}, training={"max_lines": max_lines}), {"a": 1.0})
    assert any(t.prefix for t in mine.give([TASK] * 20, random.Random(0))) == hinted


@pytest.mark.parametrize(
    "task",
    [
        sequence_task(NEXT, 0, TASK.target, PROGRAM),
        sequence_task(BOTTOM, 0, TASK.target),
        sequence_task(Bucket("b", 1), 0, TASK.target, PROGRAM),
    ],
    ids=["above the lowest level", "without a reference", "of no family"],
)
def test_no_hint_for_a_task(task: SequenceTask) -> None:
    assert set(given(task, 1.0)) == {""}


def test_the_lowest_level_is_that_of_the_bounds() -> None:
    bounded = Config.model_validate(
        {"families": {"a": {"levels": [{}, {}, {}], "bounds": [2, 3]}}, "hints": {"most": 1.0, "start": 1.0}}
    )
    mine = hints_of(bounded)
    one, two = mine.give([TASK, sequence_task(NEXT, 0, TASK.target, PROGRAM)], random.Random(0))
    assert (one.prefix, bool(two.prefix)) == ("", True)


def test_the_tasks_of_a_step_are_begun_with_the_numbers_of_the_step() -> None:
    mine = hints({"a": 0.5})
    first, again, other = (mine.tasks(step, 20, lambda count: [TASK] * count) for step in (1, 1, 2))
    assert first == again == mine.give([TASK] * 20, random.Random(1)) != other


# --- what becomes of it


def test_the_policy_goes_on_from_the_hint_and_it_is_run_and_charged_for() -> None:
    hint = str(PROGRAM)[:-6]
    task = replace(TASK, prefix=hint)
    whole, none = judge([task, task], [hint + "nce_3)", hint], Interpreted(), Terms(Relative(0.25), 8))  # type: ignore[arg-type]
    assert (whole.passed, whole.end, whole.program) == (True, 4, PROGRAM)
    assert not none.passed


@pytest.mark.parametrize(
    "hint", ["", "sequence_1 = ", "sequence_1 = range_func_up(1, 3)\nsequence_2 = repeat_list(2, "]
)
def test_what_is_given_is_prompt_and_not_answer(hint: str) -> None:
    policy, rest = (
        tiny(),
        "sequence_1 = range_func_up(1, 3)\nsequence_2 = repeat_list(2, sequence_1)\n".removeprefix(hint),
    )
    (rollout,) = policy.rollout(prompts()[:1], samples=1, max_new_tokens=4, generator=None, prefixes=[hint])
    answer = policy.answer(prompts()[0], hint + rest).tokens
    assert (*rollout.prompt, *policy.tokenizer(rest).input_ids) == (*policy.prompt_ids(prompts()[0]), *answer[:-1])
    assert rollout.text.startswith(hint)
    assert rollout.lines[0] == hint.count("\n")
    assert len(rollout.lines) == len(rollout.tokens) <= 4


def test_other_tokenizers_put_a_blank_before_a_word(chat_folder: Path) -> None:
    policy = load_policy(str(chat_folder), device="cpu", seed=0)
    plain = policy.prompt_ids(prompts()[0])
    (rollout,) = policy.rollout(prompts()[:1], samples=1, max_new_tokens=4, generator=None, prefixes=["sequence_1 = "])
    assert policy.tokenizer.decode(rollout.prompt[len(plain) :]) == "sequence_1 ="
    assert rollout.text.startswith("sequence_1 =")


# --- how the share moves


def test_it_rises_where_the_family_fails_and_falls_where_it_passes() -> None:
    shares = {"a": 0.5}
    mine = hints(shares)
    for passes, share in ((0, 0.55), (4, 0.55), (8, 0.5), (2, 0.525)):
        mine.observe([group(TASK, passes)])
        assert shares["a"] == pytest.approx(share)


def test_it_stays_between_nothing_and_the_most() -> None:
    shares: dict[str, float] = {}
    mine = hints(shares, most=0.6, start=0.9)
    assert shares == {"a": 0.6}
    mine.observe([group(TASK, 0)])
    assert shares == {"a": 0.6}
    for _ in range(20):
        mine.observe([group(TASK, 8)])
    assert shares == {"a": 0.0}


def test_a_pass_above_counts_a_failure_above_does_not() -> None:
    shares = {"a": 0.5}
    mine = hints(shares)
    above = sequence_task(NEXT, 0, TASK.target)
    mine.observe([group(above, 0)])
    assert shares == {"a": 0.5}
    mine.observe([group(above, 1), group(TASK, 0, 1)])
    assert shares == {"a": 0.5}
    mine.observe([group(above, 1)])
    assert shares == {"a": pytest.approx(0.45)}


def test_hinted_passes_are_no_news_for_the_level_but_for_the_mixture() -> None:
    controller = controller_of(config())
    before = controller.state_dict()["families"]["a"]["state"]["ability"]
    controller.observe([Result(Bucket("a", 0), 8, 8)] * 4)
    after = controller.state_dict()
    assert after["families"]["a"]["state"]["ability"] == before
    assert after["signal"]["a"] < 0.25
    controller.observe([Result(BOTTOM, 8, 8)] * 4)
    assert controller.state_dict()["families"]["a"]["state"]["ability"] > before


def test_a_task_that_is_begun_lies_below_every_ladder() -> None:
    shares = {"a": 0.5}
    mine = hints(shares)
    begun = next(task for task in mine.give([TASK] * 20, random.Random(0)) if task.prefix)
    assert begun.bucket == Bucket("a", 0)
    mine.observe([group(begun, 0)])
    assert shares == {"a": 0.55}


def taught(learn: Callable[[float, float], float], steps: int = 400) -> tuple[list[float], list[int]]:
    """Shares and levels of a learner in the loop with hints and controller: it finds a task six logits easier when
    all of it is given, and `learn(ability, signal)` is its ability after a step."""
    settings = config(methods={"hints": {"most": 0.9}})
    controller = controller_of(settings)
    shares: dict[str, float] = {}
    mine, ability, rng = hints_of(settings, shares), -3.0, random.Random(1)
    history, levels = [], []
    for _ in range(steps):
        tasks = [sequence_task(bucket, 0, TASK.target, PROGRAM) for bucket in controller.propose(4, rng)]
        groups = []
        for task in mine.give(tasks, rng):
            logit = ability + 6.0 * words(task.prefix) / 15 - 2.0 * (max(task.bucket.level, 1) - 1)
            p = 1 / (1 + math.exp(-logit))
            groups.append(group(task, sum(rng.random() < p for _ in range(8))))
            ability = learn(ability, p * (1 - p))
        controller.observe([g.result() for g in groups])
        mine.observe(groups)
        history.append(shares["a"])
        levels.append(max(t.bucket.level for t in tasks))
    return history, levels


def test_the_share_reaches_zero_on_a_learner_that_improves() -> None:
    shares, levels = taught(lambda ability, signal: ability + 0.1 * signal)
    assert max(shares[:40]) > 0.3
    assert shares[-50:] == [0.0] * 50
    assert fmean(levels[:40]) < 1.4
    assert levels[-1] == 3


def test_the_share_stays_with_a_learner_that_does_not() -> None:
    shares, levels = taught(lambda ability, signal: ability)
    assert 0.3 < fmean(shares[-100:]) < 0.9
    assert fmean(levels[-100:]) < 1.2


def test_a_share_is_shown_with_the_family() -> None:
    record = ReinforceRecord(buckets={"a": BucketRecord(n=8), "b": BucketRecord(n=8)})
    buckets = hints({"a": 0.25}).metrics(record, []).buckets
    assert buckets is not None
    assert (buckets["a"].hint, "hint" in buckets["b"].to_json()) == (0.25, False)


def test_the_state_is_plain_json_and_is_taken_up() -> None:
    mine = hints(start=0.3)
    mine.observe([group(TASK, 1)])
    again = hints()
    again.load_state_dict(json.loads(json.dumps(mine.state_dict())))
    assert again.shares == mine.shares != {"a": 0.3}
