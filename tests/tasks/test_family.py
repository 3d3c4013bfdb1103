"""A kind of task of one's own: one function, a section in a curriculum file, and held-out prompts."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kolmocli.config.file import load_config
from kolmocli.curriculum.base import Bucket
from kolmocli.errors import UsageError
from kolmocli.registry import load_plugin
from kolmocli.tasks import border
from kolmocli.tasks.base import Prompt, Split, Task
from kolmocli.tasks.family import FamilyTasks, FunctionKind, family, open_families
from kolmocli.tasks.outcome import Outcome, Terms
from kolmocli.tasks.reward import Binary

PLUGIN = '''\
from __future__ import annotations
import random
from typing import Literal
from kolmocli.tasks.base import Task
from kolmocli.tasks.family import family

@family("primes", levels=3)
def primes(
    level: int, rng: random.Random, *, count: int = 2, span: tuple[int, int] = (1, 9), how: Literal["up", "down"] = "up"
) -> Task:
    """Primes above a number."""
    start = rng.randrange(10**level)
    return Task(prompt=f"{count} primes above {start}", check=lambda value: len(value) == count)
'''
FILE = """\
training: {steps: 7}
families:
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(PLUGIN)
    path = tmp_path / "c.yaml"
    path.write_text(FILE + "  primes: {}\n")
    return path


@pytest.fixture
def plugged(file: Path) -> Path:
    load_plugin(str(file.with_name("mine.py")))
    return file


def counting(name: str = "counting", **options: Any) -> FunctionKind:
    """Two levels: numbers below a hundred, and below ten thousand."""

    @family(name, levels=2, **options)
    def generator(level: int, rng: random.Random, *, add: int = 1) -> Task:
        number = rng.randrange(100**level)
        return Task(
            prompt=Prompt(f"{number} + {add}", "Add.", f"{number} {add}"),
            check=lambda value: value == (number + add,),
            reference=f"output = {number + add}",
        )

    return generator


def opened(kind: FunctionKind, split: Split = "train", seed: int = 0, **settings: Any) -> FamilyTasks:
    return open_families({"mine": kind.settings.model_validate({"task": kind.name, **settings})}, split, seed)


def texts(source: FamilyTasks, level: int, count: int = 200) -> set[str]:
    return {source.task(Bucket("mine", level), i).asked.text for i in range(count)}


def plain(task: Task) -> Task:
    """What of a task can be compared: a check is another function every time."""
    return replace(task, check=None)


def complaint(path: Path, overrides: dict[str, object] | None = None) -> str:
    with pytest.raises(UsageError) as caught:
        load_config(path, overrides)
    line = str(caught.value)
    assert "\n" not in line
    return line.replace(f"{path.parent}/", "")


# --- its tasks


def test_the_function_is_called_with_a_level_and_fills_in_the_rest() -> None:
    source = opened(counting(), add=5)
    assert source.buckets() == [Bucket("mine", 1), Bucket("mine", 2)]
    for bucket in source.buckets():
        task = source.task(bucket, 3)
        number, add = map(int, task.asked.text.split(" + "))
        assert (task.bucket, task.index, task.language, add) == (bucket, 3, "python", 5)
        assert number < 100**bucket.level
        assert task.check is not None
        assert task.check((number + 5,))
        assert not task.check((number + 1,))
        assert source.size(bucket) is None
        assert source.taught(bucket)
    assert max(int(text.split()[0]) for text in texts(source, 2)) >= 100


def test_the_function_is_what_it_was() -> None:
    kind = counting()
    task = kind(1, random.Random(0), add=7)
    assert plain(task) == plain(kind(1, random.Random(0), add=7))
    assert (task.asked.text.split(" + ")[1], task.bucket.family) == ("7", "")


def test_a_task_is_the_same_again_and_another_with_another_seed() -> None:
    bucket, kind = Bucket("mine", 2), counting()
    one, again, other = opened(kind), opened(kind), opened(kind, seed=1)
    assert plain(one.task(bucket, 7)) == plain(again.task(bucket, 7))
    assert one.task(bucket, 7).asked != other.task(bucket, 7).asked
    assert one.task(bucket, 7).asked != one.task(bucket, 8).asked


def test_no_prompt_of_evaluation_is_asked_in_training() -> None:
    """Whatever the seeds: of a hundred prompts every one is asked, and on one side only; about a tenth in evaluation."""
    kind = counting()
    train, held_out = (
        set().union(*(texts(opened(kind, split, seed), 1, 400) for seed in (0, 1))) for split in ("train", "eval")
    )
    assert not train & held_out
    assert len(train | held_out) == 100
    assert 4 <= len(held_out) <= 18


def test_prompts_may_be_shared_where_the_family_says_so() -> None:
    kind = counting(held_out=False)
    train, held_out = (texts(opened(kind, split), 1, 1000) for split in ("train", "eval"))
    assert len(train) == len(held_out) == 100
    bucket = Bucket("mine", 2)
    assert opened(kind).task(bucket, 0).asked != opened(kind, "eval").task(bucket, 0).asked


def test_a_level_without_prompts_for_a_split_is_named_with_the_mend() -> None:
    @family("one", levels=1)
    def one(level: int, rng: random.Random) -> Task:
        return Task(prompt="always the same", check=bool)

    refused = []
    for split in ("train", "eval"):
        try:
            opened(one, split).task(Bucket("mine", 1), 0)  # type: ignore[arg-type]
        except UsageError as error:
            refused.append(str(error))
    assert len(refused) == 1
    assert re.match("families.mine: level 1: (train|eval): no prompt is left", refused[0])
    assert "held_out=False" in refused[0]


def test_a_family_without_references_is_not_taught() -> None:
    @family("bare", levels=1)
    def bare(level: int, rng: random.Random) -> Task:
        return Task(prompt=str(rng.random()), check=bool)

    source = opened(bare)
    assert not source.taught(Bucket("mine", 1))


@pytest.mark.parametrize("language", ["dsl", "python", "text"])
def test_what_is_written_for_its_tasks_is_the_familys_to_say(language: str) -> None:
    kind = counting(language=language)
    assert opened(kind).task(Bucket("mine", 1), 0).language == kind.language == language


# --- what is refused


def test_something_else_than_a_task_is_refused() -> None:
    @family("wrong", levels=1)
    def wrong(level: int, rng: random.Random) -> Task:
        return "2 + 2"  # type: ignore[return-value]

    with pytest.raises(UsageError, match=r"family wrong: made str and not a Task"):
        opened(wrong).task(Bucket("mine", 1), 0)


def test_a_task_that_nobody_can_judge_is_refused() -> None:
    @family("unchecked", levels=1)
    def unchecked(level: int, rng: random.Random) -> Task:
        return Task(prompt=str(rng.random()))

    with pytest.raises(UsageError, match=r"family unchecked: .*needs `check`"):
        opened(unchecked).task(Bucket("mine", 1), 0)


@pytest.mark.parametrize("check", ["5", 5, [5]])
def test_a_check_that_is_the_answer_itself_is_refused(check: Any) -> None:
    @family("unchecked", levels=1)
    def unchecked(level: int, rng: random.Random) -> Task:
        return Task(prompt=str(rng.random()), check=check)

    with pytest.raises(UsageError, match=r"its check is .* and not a function"):
        opened(unchecked).task(Bucket("mine", 1), 0)


def str_or_type(value: Any) -> str:
    return type(value).__name__


@pytest.mark.parametrize("levels", [0, -1, 2.5, True, "3", None, 10**7, 10**5000], ids=str_or_type)
def test_a_family_has_a_number_of_levels(levels: Any) -> None:
    with pytest.raises(UsageError, match=r"^family empty: levels is .*; a family has a whole number, 1 to 10,000$"):
        family("empty", levels=levels)


def made(make: Callable[[], Any]) -> None:
    """The third task of a family whose function this is."""

    @family("own", levels=2)
    def own(level: int, rng: random.Random) -> Task:
        return make()

    open_families({"mine": own.settings.model_validate({"task": "own"})}, "train", 0).task(Bucket("mine", 2), 3)


@pytest.mark.parametrize("error", [ValueError("no\nluck"), RecursionError("deep"), SystemExit(3), MemoryError()])
def test_a_function_that_fails_is_one_line_with_its_place(error: BaseException) -> None:
    def fail() -> Task:
        raise error

    with pytest.raises(UsageError) as raised:
        made(fail)
    line = str(raised.value)
    assert line.startswith(f"family own: level 2, task 3: {__file__}:") and type(error).__name__ in line
    assert "\n" not in line
    assert raised.value.__cause__ is error


def test_a_function_of_the_wrong_signature_is_one_line() -> None:
    with pytest.raises(UsageError, match=r"^family own: level 2, task 3: .*TypeError: .*missing 1 required"):
        made(lambda value: None)  # type: ignore[arg-type, misc]


@pytest.mark.parametrize(
    "texts, words",
    [
        ({"prompt": b"2 + 2"}, "its prompt is bytes b'2 + 2' and not a string"),
        ({"prompt": None}, "its prompt is NoneType None and not a string"),
        ({"prompt": Prompt(3)}, "its prompt is int 3 and not a string"),  # type: ignore[arg-type]
        ({"prompt": Prompt("3", short=3)}, "its prompt.short is int 3 and not a string"),  # type: ignore[arg-type]
        ({"prompt": "3", "reference": 3}, "its reference is int 3 and not a string"),
        (
            {"prompt": "3", "prefix": [1] * 90},
            r"its prefix is list [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  and not a string",
        ),
        ({"prompt": "\ud800"}, r"its prompt holds a lone surrogate, which no tokenizer reads: '\ud800'"),
        (
            {"prompt": "ü", "reference": "ü\udfff"},
            r"its reference holds a lone surrogate, which no tokenizer reads: '\xfc\udfff'",
        ),
    ],
)
def test_texts_of_a_task_are_texts(texts: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError) as raised:
        made(lambda: Task(check=bool, **texts))
    assert str(raised.value) == f"family own: level 2, task 3: {words}"


def waits_for_the_line(caplog: pytest.LogCaptureFixture, words: str) -> Callable[..., Any]:
    """Does not return before it is named."""

    def wait(*_: Any) -> bool:
        while not any(words in record.getMessage() for record in caplog.records):
            time.sleep(0.01)
        return True

    return wait


def test_a_function_that_does_not_return_is_named(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(border, "PATIENCE_SECONDS", 0.1)
    monkeypatch.setattr(border, "_watched_by", [0])
    wait = waits_for_the_line(caplog, "family own: level 2, task 3: its function has run for")
    made(lambda: Task(prompt="x", check=bool, reference=str(wait())))


def test_a_check_that_does_not_return_is_named(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(border, "PATIENCE_SECONDS", 0.1)
    monkeypatch.setattr(border, "_watched_by", [0])
    wait = waits_for_the_line(caplog, r"family slow\x1b/2: its check has run for")
    task = Task(prompt="x", check=wait, language="text", bucket=Bucket("slow\x1b", 2))
    outcome = task.attempt("x", Terms(Binary())).outcome(None)
    assert isinstance(outcome, Outcome) and outcome.passed


def test_what_returned_is_not_watched_any_more() -> None:
    with border.at_work("a", "outside"):
        with border.at_work("a", "inside"):
            assert [said for said, _ in border._running.values()] == ["a: inside"]
        assert [said for said, _ in border._running.values()] == ["a: outside"]
    assert not border._running
