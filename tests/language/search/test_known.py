"""Programs that somebody else wrote: checked, put in order, shortened; and how long sequences are written."""

from __future__ import annotations

import json
import math
import random
import runpy
import sys
from pathlib import Path

import pytest

from kolmocli.language.coder import coded_bits
from kolmocli.language.interpreter import evaluate
from kolmocli.language.program import canonical, parse
from kolmocli.language.sampler import sample
from kolmocli.language.search import solver
from kolmocli.language.search.known import node_of, reaching, values_of, weave_of
from kolmocli.language.search.long import program_of_runs, unit_of
from kolmocli.language.search.nodes import needed, program_of
from kolmocli.language.search.solver import solve

TWICE = "sequence_1 = set_list([3, 4, 5])\nsequence_2 = repeat_list(2, sequence_1)"
VALUE = (3, 4, 5, 3, 4, 5)


def test_a_known_program_counts_without_any_search() -> None:
    solution = solve(VALUE, seconds=0.0, known=[parse(TWICE)])
    assert str(solution) == TWICE
    assert (solution.source, solution.value) == ("policy", VALUE)


def test_it_is_cut_where_the_sequence_is_reached_and_a_wrong_one_is_left_out() -> None:
    longer = parse(f"{TWICE}\nsequence_3 = reverse_list(sequence_2)")
    assert reaching(longer, VALUE) == parse(TWICE)
    failing = parse(f"{TWICE}\nsequence_3 = modulo_item_list(sequence_2, 0)")
    assert reaching(failing, VALUE) == parse(TWICE)
    wrong = parse("sequence_1 = set_list([1])")
    assert reaching(wrong, VALUE) is None
    assert solve(VALUE, seconds=0.0, known=[wrong]).source == "literal"


def test_a_search_takes_no_program_that_makes_something_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solver, "program_of", lambda order: parse("sequence_1 = set_list([1])"))
    solution = solve(VALUE * 9, seconds=math.inf, steps=50_000)
    assert (solution.source, solution.value) == ("literal", VALUE * 9)


@pytest.mark.parametrize("seed", range(6))
def test_the_search_never_loses_a_known_program_and_takes_it_apart_as_it_was_built(seed: int) -> None:
    pair = sample(random.Random(seed))
    program = canonical(pair.program)
    weave = weave_of(program)
    assert sum(len(strand.items) for strand in weave) == len(pair.sequence)
    assert pair.sequence in values_of(program)
    assert evaluate(program_of(needed(node_of(program)))) == list(pair.sequence)
    solution = solve(pair.sequence, seconds=math.inf, steps=5_000, known=[pair.program])
    assert solution.value == pair.sequence
    assert solution.bits <= coded_bits(program)
    assert solution.source != "literal"


def test_long_sequences_are_ramps_and_literals() -> None:
    value = (*range(5000), 5, 3, *([7] * 1000))
    program = program_of_runs(value)
    assert tuple(evaluate(program)) == value
    assert len(program) == 5
    assert solve(value, seconds=60.0).bits == coded_bits(canonical(program)) < 120
    assert solve(range(100_000), seconds=60.0).value == tuple(range(100_000))


@pytest.mark.parametrize(
    ("value", "unit"), [((1, 2, 1, 2), (1, 2)), ((1, 2, 1), (1, 2, 1)), ((4,), (4,)), ((5, 5, 5), (5,))]
)
def test_the_unit_of_a_repetition(value: tuple[int, ...], unit: tuple[int, ...]) -> None:
    assert unit_of(value) == unit


def test_the_benchmark_of_a_guide_gives_the_answer_away(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With hardly a step of its own a search takes the program that it is given, and is far below the search alone."""
    script = Path(__file__).parents[3] / "benchmarks" / "guide.py"
    monkeypatch.syspath_prepend(str(script.parent))
    monkeypatch.setattr(sys, "argv", [str(script), "--pairs", "8", "--steps", "500", "--bounds", "--json"])
    runpy.run_path(str(script), run_name="__main__")
    rows = json.loads(capsys.readouterr().out)
    assert len(rows) == 8
    assert all(row["known"] <= row["alone"] >= row["longer"] for row in rows)
    assert sum(row["known"] for row in rows) < 0.9 * sum(row["alone"] for row in rows)
