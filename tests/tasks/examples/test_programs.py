"""The long ladders: programs of several statements are right, told apart by their examples, and other ones in evaluation."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator
from typing import Any

import pytest

from kolmocli.config.file import load_config
from kolmocli.curriculum.base import Bucket
from kolmocli.paths import find_curriculum
from kolmocli.sandbox import Sandbox, open_sandbox
from kolmocli.tasks.chat import judged_text
from kolmocli.tasks.code.checks import Check, Checks
from kolmocli.tasks.code.task import CodeTask
from kolmocli.tasks.examples.family import EXAMPLES
from kolmocli.tasks.examples.shapes import Function, Shape, draw
from kolmocli.tasks.examples.subjects import LONGER, SUBJECTS, Subject
from kolmocli.tasks.examples.task import is_fair, program_task
from kolmocli.tasks.family import open_families
from kolmocli.tasks.judging import judge
from kolmocli.tasks.outcome import Terms
from kolmocli.tasks.reward import Binary

SECTIONS = {name: EXAMPLES.settings(task="examples", of=name, ladder="programs") for name in LONGER}
TRAIN, EVAL = open_families(SECTIONS, "train", 0), open_families(SECTIONS, "eval", 0)
TERMS = Terms(Binary())
LONGEST = load_config(find_curriculum("python")).training.max_new_tokens


def one_of_each(rng: random.Random) -> list[CodeTask]:
    return [
        program_task(subject, fair(subject, shape, rng), rng, Bucket(name, rung), 0)
        for name, subject in LONGER.items()
        for rung, shapes in enumerate(subject.ladder, 1)
        for shape in shapes
    ]


def fair(subject: Subject, shape: Shape, rng: random.Random) -> Function:
    while not is_fair(subject, subject.behaviour(function := draw([[shape]], 1, rng, 1.0))):
        pass
    return function


TASKS = one_of_each(random.Random(0))


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    with open_sandbox("embedded", workers=2) as sandbox:
        yield sandbox


def passed(tasks: list[CodeTask], texts: list[str], box: Sandbox) -> list[bool]:
    return [outcome.passed for outcome in judge(tasks, texts, box, TERMS)]


def references(tasks: list[CodeTask]) -> list[str]:
    return [str(task.reference) for task in tasks]


def checks_of(task: CodeTask) -> tuple[Check, ...]:
    assert isinstance(task.tests, Checks)
    return task.tests.checks


def test_every_program_returns_in_a_sandbox_what_it_returns_here(box: Sandbox) -> None:
    tasks = [*TASKS, *one_of_each(random.Random(1))]
    right = zip(references(tasks), passed(tasks, references(tasks), box), strict=True)
    assert [text for text, holds in right if not holds] == []


def test_the_ladders_are_long_and_have_every_construct() -> None:
    programs = "".join(references(TASKS))
    for construct in (
        " if x>0 else ",
        "  if ",
        "for x in v for y in",
        ".join(",
        "sorted(",
        "key=",
        ".get(",
        "+=",
        "def g(",
    ):
        assert construct in programs, construct
    assert all(len(subject.ladder) >= 10 for subject in LONGER.values())
    assert {bucket.family for bucket in TRAIN.buckets()} == set(SUBJECTS)
    local = [t for t in TASKS if isinstance(ast.parse(str(t.reference)).body[0].body[0], ast.Assign)]  # type: ignore[attr-defined]
    assert len(local) > 10


def test_a_policy_can_read_and_write_all_of_it() -> None:
    for task in TASKS:
        assert str(task.reference).startswith(task.prefix)
        written = str(task.reference).removeprefix(task.prefix)
        assert len(written) < LONGEST, written  # a character is a token, and the end is one more
        assert len(task.asked.shortest) < 120
        assert (written + task.asked.text).replace("\n", "").isprintable()
        assert (written + task.asked.text).isascii()


def test_what_is_given_of_an_answer_does_not_tell_how_many_lines_it_has() -> None:
    assert {task.prefix for task in TASKS if task.bucket.family == "maps"} == {"def f(v):\n "}
    for task in TASKS:  # a model that answers with the function repeats it
        whole = f"```python\n{task.reference}\n```"
        assert judged_text(task, whole) == task.reference
        assert judged_text(task, str(task.reference).removeprefix(task.prefix)) == task.reference


def test_neither_constants_nor_the_argument_nor_a_table_of_what_is_shown_pass(box: Sandbox) -> None:
    def table(task: CodeTask) -> str:
        shown = checks_of(task)[: len(task.asked.text.splitlines())]
        pairs = {repr(list(check.call.arguments[0])): check.expected for check in shown}
        return f"return {pairs!r}.get(repr([{task.prefix.split('(')[1].split(')')[0]}]),{shown[0].expected!r})"

    for write in (table, lambda t: f"return {checks_of(t)[0].expected!r}", lambda t: f"return {t.prefix[6]}"):
        texts = [task.prefix + write(task) for task in TASKS]
        right = zip(texts, passed(TASKS, texts, box), strict=True)
        assert [text for text, holds in right if holds] == []


def test_inputs_that_are_kept_are_not_those_that_are_shown() -> None:
    for task in TASKS:
        shown = len(task.asked.text.splitlines())
        calls = [repr(check.call.arguments) for check in checks_of(task)]
        assert len(set(calls[shown:]) - set(calls[:shown])) >= 4


def behaviour_of(subject: Subject, task: CodeTask) -> str:
    kept = {repr(tuple(check.call.arguments[0])): check.expected for check in checks_of(task)}
    return repr([kept[repr(tuple(inputs))] for inputs in subject.landmarks])


def test_evaluation_has_other_functions_than_training() -> None:
    def some(source: Any) -> set[tuple[str, str]]:
        tasks = [source.task(bucket, index) for bucket in source.buckets() for index in range(8)]
        return {(t.bucket.family, behaviour_of(LONGER[t.bucket.family], t)) for t in tasks}

    assert not some(TRAIN) & some(EVAL)


def test_landmarks_tell_programs_apart_that_are_written_differently() -> None:
    rng = random.Random(0)
    for subject in LONGER.values():
        seen: dict[str, str] = {}
        for level in range(1, len(subject.ladder) + 1):
            for _ in range(20):
                function = draw(subject.ladder, level, rng, subject.spread)
                if is_fair(subject, behaviour := subject.behaviour(function)):
                    assert seen.setdefault(repr(behaviour), function.body) == function.body


def test_a_file_that_names_no_ladder_has_the_short_one() -> None:
    """Folders of older runs are resumed with what their config.yaml says."""
    short = EXAMPLES.settings(task="examples", of="numbers")
    assert (short.level_count, short.ladder) == (5, "expressions")
    assert SECTIONS["numbers"].level_count == len(LONGER["numbers"].ladder)


def test_in_words_a_program_is_asked_for_and_passes(box: Sandbox) -> None:
    sections = {name: EXAMPLES.settings(task="examples", of=name, ask="words", ladder="programs") for name in LONGER}
    source = open_families(sections, "train", 0)
    tasks: list[CodeTask] = [source.task(bucket, 0) for bucket in source.buckets()]  # type: ignore[misc]
    assert all(passed(tasks, references(tasks), box))
    assert any("\n    r=" in text for text in references(tasks))
