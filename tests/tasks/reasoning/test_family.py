"""Questions of reasoning-gym: its levels, its answers, its scorers; and that no question of evaluation is asked in training."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kolmocli.config import Config
from kolmocli.config.file import dump_config, load_config, read_curriculum
from kolmocli.curriculum.base import Bucket
from kolmocli.errors import UsageError
from kolmocli.sandbox.base import Status
from kolmocli.tasks.base import TaskSource
from kolmocli.tasks.judging import judge
from kolmocli.tasks.outcome import Outcome, Terms
from kolmocli.tasks.reasoning.sets import reasoning_set
from kolmocli.tasks.reasoning.task import ReasoningTask
from kolmocli.tasks.reward import Reward, reward_rule
from kolmocli.tasks.sources import evaluation_source, training_source
from tests.conftest import Run

pytestmark = pytest.mark.reasoning_gym
TERMS = Terms(reward_rule(Reward(kind="binary")))


def config(**families: Any) -> Config:
    sections = {name: {**section, "task": f"reasoning_gym/{section['task']}"} for name, section in families.items()}
    return read_curriculum({"families": sections, "reward": {"kind": "binary"}})


def training(**families: Any) -> TaskSource:
    return training_source(config(**families), pytest.fail)


def first(name: str, level: int = 1, **section: Any) -> ReasoningTask:
    task = training(some={"task": name, **section}).task(Bucket("some", level), 0)
    assert isinstance(task, ReasoningTask)
    return task


def judged(task: ReasoningTask, text: str) -> Outcome:
    return judge([task], [text], None, TERMS)[0]


def test_levels_are_those_of_its_own_curriculum() -> None:
    from reasoning_gym.factory import create_curriculum

    source = training(sums={"task": "chain_sum"})
    curriculum = create_curriculum("chain_sum")
    for level in range(1, len(source.buckets()) + 1):
        curriculum.set_global_level(level - 1)
        asked = curriculum.generate_configuration()
        for index in range(20):
            task = source.task(Bucket("sums", level), index)
            assert isinstance(task, ReasoningTask)
            assert asked.min_terms <= task.entry["metadata"]["num_terms"] <= asked.max_terms
            assert asked.min_digits <= task.entry["metadata"]["num_digits"] <= asked.max_digits
    assert len(source.buckets()) == 11


def test_levels_of_the_file_are_laid_over_the_first_of_its_own() -> None:
    levels = [{"max_digits": 1}, {"min_digits": 3, "max_digits": 3}]
    source = training(sums={"task": "chain_sum", "options": {"min_terms": 2, "max_terms": 2}, "levels": levels})
    for level, digits in ((1, 1), (2, 3)):
        task = source.task(Bucket("sums", level), 0)
        numbers = [word for word in task.asked.shortest.split() if word.isdigit()]
        assert [len(number) for number in numbers] == [digits] * 2


def test_levels_that_its_own_configuration_refuses_are_left_out() -> None:
    assert reasoning_set("caesar_cipher").own_levels < 5  # the last one rotates by more letters than there are
    assert len(training(secret={"task": "caesar_cipher"}).buckets()) == reasoning_set("caesar_cipher").own_levels


def test_a_question_is_shown_whole_to_who_reads_and_bare_to_who_does_not() -> None:
    task = first("spell_backward")
    word = task.entry["metadata"]["word"]
    assert task.asked.text == f"Spell this word backward (example: sun -> nus): {word}"
    assert task.asked.short == f"some {word}"
    assert task.reference == f"[ANSWER] {word[::-1]}"
    assert "[ANSWER]" in task.asked.system


def test_the_right_answer_behind_the_tag_passes_and_nothing_else() -> None:
    task = first("spell_backward")
    right = task.entry["answer"]
    assert judged(task, f"[ANSWER] {right}").passed
    assert judged(task, f"first this\n[ANSWER] nothing\n[ANSWER] {right}\n").passed
    for text, status, lenient in (
        (right, Status.SYNTAX, True),
        (f"[ANSWER] {right}\nand more", Status.OK, True),
        (f"[ANSWER] {right}x", Status.OK, False),
        ("[ANSWER] ", Status.SYNTAX, False),
        ("", Status.SYNTAX, False),
    ):
        outcome = judged(task, text)
        assert (outcome.passed, outcome.status, outcome.lenient, outcome.reward) == (False, status, lenient, -1.0)


def test_an_answer_of_several_lines_passes() -> None:
    task = first("rotate_matrix", levels=[{"min_n": 2, "max_n": 2}])
    assert str(task.reference).count("\n") == 1
    assert judged(task, str(task.reference)).passed
    assert not judged(task, str(task.reference).rpartition("\n")[0]).passed


def test_any_right_answer_passes_not_the_reference_alone() -> None:
    task = first("palindrome_generation", levels=[{"min_length": 8, "max_length": 8}])
    right = task.entry["answer"]
    half = "".join(sorted(right[:4]))
    other = half + half[::-1]
    assert judged(task, f"[ANSWER] {other}").passed
    assert not judged(task, f"[ANSWER] {other[:-1]}").passed


def test_a_scorer_that_stumbles_is_no_pass() -> None:
    task = first("chain_sum")

    def stumbles(answer: str, entry: Any) -> float:
        raise IndexError(answer)

    assert not ReasoningTask(prompt="?", entry=task.entry, scorer=stumbles).is_right("1")


def test_tasks_are_the_same_whenever_they_are_asked_for() -> None:
    one, other = training(sums={"task": "chain_sum"}), training(sums={"task": "chain_sum"})
    places = [(Bucket("sums", level), index) for level in (1, 5) for index in range(20)]
    assert [one.task(*place).asked for place in places] == [other.task(*place).asked for place in reversed(places)][
        ::-1
    ]
    assert len({one.task(Bucket("sums", 5), index).asked for index in range(20)}) == 20


def test_evaluation_shares_no_seed_and_no_question_with_training(monkeypatch: pytest.MonkeyPatch) -> None:
    from reasoning_gym.arithmetic.products import ProductsDataset

    seeds: list[int] = []
    make = ProductsDataset.__getitem__

    def noted(self: Any, index: int) -> Any:
        seeds.append(self.seed + index)
        return make(self, index)

    monkeypatch.setattr(ProductsDataset, "__getitem__", noted)
    asked = config(times={"task": "products", "bounds": [1, 2]})
    found: dict[str, set[str]] = {}
    used: dict[str, set[int]] = {}
    for source in (training_source(asked, pytest.fail), evaluation_source(asked, pytest.fail)):
        source.task(Bucket("times", 1), 0)  # the words that all questions share have been looked for
        seeds.clear()
        tasks = [source.task(Bucket("times", level), index) for level in (1, 2) for index in range(200)]
        found[source.split] = {task.asked.text for task in tasks}
        used[source.split] = set(seeds)
    assert found["train"].isdisjoint(found["eval"])
    assert used["train"].isdisjoint(used["eval"])
    assert all(seed < 2**31 for seed in used["train"] | used["eval"])


def test_a_level_without_questions_enough_is_named() -> None:
    with pytest.raises(UsageError, match=r"families\.some: level 1: eval: no question is left"):
        evaluation_source(config(some={"task": "coin_flip"}), pytest.fail).task(Bucket("some", 1), 0)


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ({"task": "chain_some"}, "reasoning-gym has no set chain_some; did you mean chain_sum?"),
        ({"task": "countdown"}, "reasoning_gym/countdown: its scorer runs an answer as code"),
        ({"task": "spiral_matrix"}, "reasoning_gym/spiral_matrix: its scorer runs an answer as code"),
        ({"task": "chain_sum", "bounds": [1, 99]}, "bounds: 1 to 99 is not a part of the 11 levels"),
        ({"task": "chain_sum", "options": {"max_digit": 3}}, "has no option max_digit; did you mean max_digits?"),
        ({"task": "chain_sum", "levels": [{"max_terms": 1}]}, r"refuses level 1 with \{'max_terms': 1\}"),
    ],
)
def test_what_cannot_be_used_is_one_line(section: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said) as error:
        training(some=section).task(Bucket("some", 1), 0)
    assert "\n" not in str(error.value)


def test_a_configuration_survives_a_round_trip(tmp_path: Any) -> None:
    one = config(sums={"task": "chain_sum", "options": {"max_terms": 2}, "levels": [{"max_digits": 1}], "target": 0.6})
    (tmp_path / "config.yaml").write_text(dump_config(one))
    assert load_config(tmp_path / "config.yaml") == one


def test_its_levels_are_shown_with_their_options(kolmo: Run, tmp_path: Path) -> None:
    (tmp_path / "some.yaml").write_text(
        "families: {sums: {task: reasoning_gym/chain_sum, levels: [{max_terms: 2}, {max_terms: 3}]}}\n"
        "reward: {kind: binary}\n"
    )
    done = kolmo("curriculum", "show", "some.yaml", "--json")
    levels = json.loads(done.stdout)["families"]["sums"]["levels"]
    assert [level["knobs"] for level in levels] == [{"max_terms": 2}, {"max_terms": 3}]
    assert levels[0]["samples"][0]["answer"].startswith("[ANSWER] ")
