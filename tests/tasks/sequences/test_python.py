"""Sequences whose policy writes Python: references say the same as the program they come from, and copying earns nothing."""

from __future__ import annotations

import random

import pytest

from kolmocli.config.file import read_curriculum
from kolmocli.curriculum.base import Bucket
from kolmocli.language.sampler import sample
from kolmocli.language.sampler_settings import SamplerConfig
from kolmocli.sandbox import Job, Sandbox, Status, open_sandbox
from kolmocli.tasks.base import text_bits
from kolmocli.tasks.judging import judge
from kolmocli.tasks.outcome import Terms
from kolmocli.tasks.reward import Relative
from kolmocli.tasks.sequences.python import python_literal_bits, python_text
from kolmocli.tasks.sequences.task import sequence_task
from kolmocli.tasks.sources import family_tasks

TERMS = Terms(Relative(0.25))
FILE = {"families": {"ramps": {"language": "python", "levels": [{"calls": [1, 2]}]}}}


@pytest.fixture(scope="module", params=[pytest.param("docker", marks=pytest.mark.docker), "embedded"])
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    with open_sandbox(request.param, workers=2) as opened:
        yield opened


def test_references_in_python_make_what_the_program_makes(sandbox: Sandbox) -> None:
    pairs = [sample(random.Random(seed), SamplerConfig()) for seed in range(200)]
    used = {statement.function for p in pairs for statement in p.program.statements if hasattr(statement, "function")}
    assert len(used) >= 18
    verdicts = sandbox.run([Job(python_text(pair.program)) for pair in pairs])
    assert [v.value for v in verdicts] == [pair.sequence for pair in pairs]


@pytest.mark.parametrize("target", [(7, 7, 7), (5,), (300, -2), tuple(b"hello, world"), (0, 255, 39, 34)])
def test_no_spelling_of_the_target_earns_more_than_a_plain_pass(sandbox: Sandbox, target: tuple[int, ...]) -> None:
    task = sequence_task(Bucket("f", 1), 0, target, language="python")
    texts = [f"{list(target)}", ",".join(map(str, target)), f"output={list(target)}"]
    if all(0 <= item < 256 for item in target):
        texts += [repr(bytes(target)), repr(bytes(target).decode("latin-1"))]
    outcomes = judge([task] * len(texts), texts, sandbox, TERMS)
    assert [o.reward or 0 for o in outcomes if o.passed] and all((o.reward or 0) <= 1 for o in outcomes)
    assert all(o.copied for o in outcomes if o.passed)


def test_the_literal_is_the_shortest_spelling() -> None:
    assert python_literal_bits((7, 7, 7)) == text_bits("7,7,7")
    assert python_literal_bits(tuple(b"hello")) == text_bits("'hello'")


def test_the_result_is_the_last_value_or_output(sandbox: Sandbox) -> None:
    task = sequence_task(Bucket("f", 1), 0, (3, 4, 5), language="python")
    texts = [
        "[*range(3,6)]",
        "x=[*range(3,6)]",
        "output=[3,4,5]\nprint(output)",
        "output=[3]\n[3,4,5]",
        "print([3,4,5])",
    ]
    outcomes = judge([task] * 5, texts, sandbox, TERMS)
    assert [o.passed for o in outcomes] == [True, True, True, False, False]
    assert outcomes[4].status is Status.RUNTIME


def test_a_section_of_a_curriculum_says_so() -> None:
    config = read_curriculum(FILE)
    assert (config.languages, config.runs_programs, config.alphabet) == ({"python"}, True, "characters")
    source = family_tasks(config, "train")
    task = source.task(Bucket("ramps", 1), 0)
    assert task.language == "python"
    assert task.reference is not None and "=" not in task.reference.split("\n")[-1].split("for")[0].replace("==", "")
