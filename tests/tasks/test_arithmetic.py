"""The families of `arithmetic`: right answers, fine ladders, questions that are held out, and numbers found in any form."""

from __future__ import annotations

import random
import re

import pytest

from kolmocli.config.file import load_config
from kolmocli.curriculum.base import Bucket
from kolmocli.paths import find_curriculum
from kolmocli.tasks.arithmetic import calculation, integers, stories
from kolmocli.tasks.arithmetic.task import NumbersTask, last_numbers
from kolmocli.tasks.family import FamilyTasks, families, open_families
from kolmocli.tasks.outcome import Terms
from kolmocli.tasks.reward import Reward, reward_rule

NAMES = ("sums", "addition", "subtraction", "products", "digits", "order", "stories")


@pytest.fixture(scope="module")
def sections() -> dict[str, object]:
    return dict(load_config(find_curriculum("arithmetic"), {}).families)


def opened(sections: dict[str, object], split: str, seed: int = 0) -> FamilyTasks:
    return open_families(sections, split, seed)  # type: ignore[arg-type]


def test_the_curriculum_has_them_all_and_no_warm_start(sections: dict[str, object]) -> None:
    assert tuple(sections) == NAMES
    assert load_config(find_curriculum("arithmetic"), {}).warmup.max_steps == 0
    assert {f"arithmetic/{name}" for name in NAMES} <= set(families.builtin)


def test_every_reference_passes_its_own_judge(sections: dict[str, object]) -> None:
    source = opened(sections, "train")
    for bucket in source.buckets():
        for index in range(3):
            task = source.task(bucket, index)
            assert isinstance(task, NumbersTask) and task.reference is not None
            assert task.read(task.reference).strict, task
            assert task.bucket == bucket and source.task(bucket, index) == task


def test_evaluation_shares_no_operands_with_training(sections: dict[str, object]) -> None:
    train, held_out = opened(sections, "train"), opened(sections, "eval")
    asked = {train.task(bucket, i).content for bucket in train.buckets() for i in range(40)}  # type: ignore[attr-defined]
    assert not asked & {held_out.task(bucket, i).content for bucket in held_out.buckets() for i in range(10)}  # type: ignore[attr-defined]


@pytest.mark.parametrize("seed", range(20))
def test_right_answers_follow_from_the_words(seed: int) -> None:
    """Worked out again from what the question says."""
    rng = random.Random(seed)
    print("seed", seed)
    for level in range(1, len(calculation.SUMS) + 1):
        task = calculation.sums(level, rng)
        assert task.numbers == (sum(map(int, re.findall(r"\d+", task.asked.text))),)
    for level in range(1, len(calculation.PRODUCTS) + 1):
        task = calculation.products(level, rng)
        a, b = map(int, re.findall(r"\d+", task.asked.text))
        assert task.numbers == (a * b,)
    for level in range(1, len(calculation.SUBTRACTION) + 1):
        task = calculation.subtraction(level, rng)
        a, b = map(int, re.findall(r"\d+", task.asked.text))
        assert task.numbers == (abs(a - b),)
    for level in range(1, len(integers.ORDER) + 1):
        task = integers.order(level, rng)
        shown = [int(n) for n in re.findall(r"\d+", task.asked.text)]
        ranked = sorted(shown)
        expected = {
            "larger": ranked[-1:], "largest": ranked[-1:], "smallest": ranked[:1], "second": ranked[-2:-1],
            "ascending": ranked, "descending": ranked[::-1],
        }[integers.ORDER[level - 1][0]]  # fmt: skip
        assert task.numbers == tuple(expected)


@pytest.mark.parametrize("seed", range(10))
def test_a_story_ends_with_what_its_operands_come_to(seed: int) -> None:
    rng = random.Random(seed)
    for level in range(1, len(stories.STORIES) + 1):
        for _ in range(5):
            task = stories.stories(level, rng)
            first, *rest = task.content.removeprefix("story ").split()
            count = eval(first)  # two numbers of ours and a sign
            for operand in rest:
                count = count * 2 if operand == "2" else count + int(operand)
            assert task.numbers == (count,) and count > 0
            assert "  " not in task.asked.text and "{" not in task.asked.text


def test_without_carry_no_column_makes_ten() -> None:
    rng = random.Random(3)
    for level, (_, _, carries) in enumerate(calculation.ADDITION, 1):
        if not carries:
            for _ in range(50):
                a, b = map(int, re.findall(r"\d+", calculation.addition(level, rng).asked.text))
                assert all(int(x) + int(y) < 10 for x, y in zip(str(a)[::-1], str(b)[::-1], strict=False))


@pytest.mark.parametrize(
    ("text", "count", "found"),
    [
        ("3 + 5 = 8", 1, (8,)), ("The answer is 1,234.", 1, (1234,)), ("8-5=3", 1, (3,)), ("7-3", 1, (3,)),
        ("The sum is **12**.", 1, (12,)), ("$\\boxed{12}$", 1, (12,)), ("= -7", 1, (-7,)), ("3.0", 1, (3,)),
        ("3, 7, 9", 3, (3, 7, 9)), ("3,7,9", 3, (3, 7, 9)), ("1. 3\n2. 7", 2, (3, 7)), ("12.5", 1, None),
        ("", 1, None), ("none", 1, None), ("3 and 7", 3, None), ("9" * 400, 1, None), ("1.5 then 2", 2, None),
        ("It is 5 or 6", 1, (6,)), ("١٢", 1, None),
    ],
)  # fmt: skip
def test_the_last_numbers_count(text: str, count: int, found: tuple[int, ...] | None) -> None:
    assert last_numbers(text, count) == found


def test_a_missing_number_is_counted_as_form_and_not_as_a_wrong_answer() -> None:
    task = NumbersTask(prompt="What is 2 + 2?", numbers=(4,), content="2+2", bucket=Bucket("sums", 1))
    rule = reward_rule(Reward(kind="binary"))
    outcomes = {text: task.attempt(text, Terms(rule)).outcome(None) for text in ("Four.", "It is 5.", "It is 4.")}
    assert [(o.passed, o.formatted) for o in outcomes.values()] == [(False, False), (False, True), (True, True)]  # type: ignore[union-attr]
