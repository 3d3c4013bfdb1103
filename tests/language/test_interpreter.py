"""The interpreter: total, bounded, and equal to Python running the same functions."""

import random

import pytest
from hypothesis import given

from kolmocli.language import functions
from kolmocli.language.interpreter import Bounds, ExecutionError, evaluate, execute
from kolmocli.language.program import PREDICATES, Alias, Call, Program, Ref, parse
from kolmocli.language.sampler import sample

from .strategies import programs


@given(programs())
def test_any_program_has_a_value_or_an_execution_error(program):
    bounds = Bounds(items=10_000)
    try:
        values = execute(program, bounds)
    except ExecutionError as error:
        assert len(error.values) == error.statement < len(program)
        values = error.values
    else:
        assert len(values) == len(program)
    made = sum(len(v) for v, s in zip(values, program.statements, strict=False) if isinstance(s, Call))
    assert made <= bounds.items
    assert all(abs(x) < bounds.magnitude for v in values for x in v)


def by_hand(program):
    """The values as Python gives them, statement by statement, without limits."""
    values = []
    for statement in program.statements:
        if isinstance(statement, Alias):
            values.append(values[statement.ref.index])
            continue
        arguments = [
            values[a.index] if isinstance(a, Ref) else getattr(functions, a) if a in PREDICATES else a
            for a in statement.arguments
        ]
        values.append(getattr(functions, statement.function)(*arguments))
    return values


def test_sampled_programs_have_the_values_of_python():
    for seed in range(2_000):
        pair = sample(random.Random(seed))
        assert execute(pair.program) == by_hand(pair.program), f"seed {seed}"
        assert tuple(evaluate(pair.program)) == pair.sequence, f"seed {seed}"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x = range_func_up(0, 999999999999)", "items"),
        ("x = range_func_interval(0, 999999999999, 1)", "items"),
        ("x = range_func_interval(999999999999, 0, -1)", "items"),
        ("x = range_func_interval(0, 5, 0)", "must not be zero"),
        ("x = repeat_num(999999999999, 1)", "items"),
        ("x = set_list([1, 2])\nx = repeat_list(999999999999, x)", "items"),
        ("x = set_list([1, 2])\nx = get_subsequence_with_jumps(x, 0)", "zero"),
        ("x = set_list([1, 2])\nx = modulo_item_list(x, 0)", "zero"),
        ("x = repeat_num(30, 1)\n" + "x = concatenate(x, x)\n" * 40, "items"),
        ("x = repeat_num(99, 99999999999999999)\nx = scan_add(x)", "too large"),
        ("x = repeat_num(1, 1)\n" * 300, "statements"),
    ],
)
def test_bombs_meet_a_limit(text, reason):
    with pytest.raises(ExecutionError, match=reason):
        execute(parse(text))


def test_integers_beyond_a_machine_word_meet_a_limit():
    huge = 1 << 200
    for arguments in [
        ("range_func_interval", (0, huge, 1)),
        ("range_func_up", (-huge, huge)),
        ("repeat_num", (2, huge)),
    ]:
        with pytest.raises(ExecutionError):
            execute(Program((Call(*arguments),)))
