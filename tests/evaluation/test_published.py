"""The published formulas, computed by hand from their description, with the flaws that they have."""

from __future__ import annotations

import gzip
import math

import pytest

from kolmocli.curriculum.base import Bucket
from kolmocli.errors import UsageError
from kolmocli.evaluation.published import published_cut, published_report
from kolmocli.language.program import parse
from kolmocli.language.uniform_prior import uniform_prior_bits
from kolmocli.sandbox import Status
from kolmocli.tasks.outcome import Outcome
from kolmocli.tasks.sequences.task import SequenceTask, sequence_task

SEPARATOR = "#_#_#_#_#_#_#"
RIGHT, WRONG, LONG, BROKEN = (200, 201, 202), (9, 9), (7, 7, 7, 7), (1, 128)


def task(target: tuple[int, ...]) -> SequenceTask:
    return sequence_task(Bucket("a", 1), 0, target)


def bits(text: str) -> int:
    return 8 * len(gzip.compress(text.encode("utf-8")))


def pairs(of_language: bool) -> list[tuple[SequenceTask, Outcome]]:
    program = parse("range_func_up(200, 202)") if of_language else None
    return [
        (task(RIGHT), Outcome("P1", 1, True, Status.OK, 1.0, True, program, 20)),
        (task(WRONG), Outcome("P2", 1, False, Status.OK, 0.0, True, value=(9,))),
        (task(LONG), Outcome("P3", 1, False, Status.OK, 0.0, True, value=(7,) * 257)),
        (task(BROKEN), Outcome("P4", 1, False, Status.RUNTIME, 0.0, True)),
        (task((3,)), Outcome("P5", 1, False, Status.INFRA, None)),
    ]


def test_natural() -> None:
    found = published_report(pairs(False))
    left = SEPARATOR.join(["\x07\x07\x07\x07", "\x01\x80"])
    total = bits(f"P1{SEPARATOR}P2") + bits(left) + bits("[1, 1, 0, 0]") + 2
    assert found["natural"] == {
        "accuracy": 1 / 4,
        "accuracy_of_executable": 1 / 2,
        "executable": 2 / 4,
        "precision": bits("P1") / bits("\xc8\xc9\xca"),
        "compression_rate": total / (8 * 11),
    }


def test_synthetic() -> None:
    found = published_report(pairs(True))["synthetic"]
    prior = uniform_prior_bits(parse("range_func_up(200, 202)"))
    total = math.ceil(prior + bits("\x09\x09\n\x07\x07\x07\x07\n\x01\x80") + 4)
    assert found["compression_rate"] == total / (8 * 11)
    assert found["compression_rate_of_published_size"] == total / (1_000_105 * 8)
    # What is too short agrees with nothing, and beyond its end a sequence agrees as a whole; 257 sevens do not.
    assert found["prefix_accuracy"] == {"16": 1 / 4, "32": 1 / 4, "64": 1 / 4, "128": 1 / 4}


def test_free_python_has_no_uniform_prior() -> None:
    assert published_report(pairs(False))["synthetic"] is None


def test_nothing_left_over_is_no_division_by_zero() -> None:
    found = published_report(pairs(True)[:1])
    assert found["natural"]["compression_rate"] == (bits("P1") + bits("") + bits("[1]")) / 24
    assert published_report([])["natural"]["accuracy"] is None


@pytest.mark.parametrize("value", [-1, 256])
def test_values_that_the_formulas_cannot_see(value: int) -> None:
    with pytest.raises(UsageError, match=f"--kt-compatible: the value {value}"):
        published_report([(task((1, value)), Outcome("P", 1, False, Status.OK, 0.0))])


def test_precision_has_line_breaks_between_programs_and_between_sequences() -> None:
    found = published_report(pairs(True)[:1] * 2)
    assert found["natural"]["precision"] == bits("P1\nP1") / bits("\xc8\xc9\xca\n\xc8\xc9\xca")


@pytest.mark.parametrize(
    ("answer", "program"),
    [
        ("```python\nx = 1\n```", "\nx = 1\n"),
        ("x = 1\n### end", "x = 1\n"),
        ("A python program that generates the sequence is:\nx = 1\n###\npython", "\nx = 1\n"),
        ("x = 1<|end_of_text|>x = 2", "x = 1"),
        ("output = list(b'python ### 1')", " "),
    ],
)
def test_the_cut(answer: str, program: str) -> None:
    assert published_cut(answer) == program
