"""The parser, the printer and the canonical form."""

import pytest
from hypothesis import given

from kolmocli.language.interpreter import ExecutionError, evaluate, execute
from kolmocli.language.program import ProgramError, canonical, parse

from .strategies import programs, small


@given(programs())
def test_what_is_printed_parses_to_the_same_program(program):
    assert parse(str(program)) == program


@given(programs(ints=small))
def test_the_canonical_form_keeps_the_result_and_is_stable(program):
    short = canonical(program)
    assert canonical(short) == short
    assert len(short) <= len(program)
    try:
        result = evaluate(program)
    except ExecutionError:
        return  # a statement that the result does not need may be the one that fails
    assert evaluate(short) == result


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "empty"),
        ("x = range_func_up(1, 2)\ny = nothing(x)", 2, "unknown function"),
        ("x = reverse_list(y)", 1, "unknown variable"),
        ("x = range_func_up(1)", 1, "takes 2"),
        ("x = set_list([1, 2)", 1, "takes 1"),
        ("x = set_list(3)", 1, "literal list"),
        ("x = range_func_up(01, 2)", 1, "not how Python writes"),
        ("x = range_func_up(1, 1000000000000000000)", 1, "at most 18 digits"),
        ("filter = range_func_up(1, 2)", 1, "cannot be assigned"),
        ("x = set_list([1])\ny = filter(is_prime, x)", 2, "is_even"),
        ("import os", 1, "expected"),
        ("x = set_list([1]); y = x", 1, "expected"),
        ("x = repeat_num(n=2, v=3)", 1, "expected an integer"),
    ],
)
def test_text_that_is_no_program_is_named(text, line, message):
    with pytest.raises(ProgramError, match=message) as caught:
        parse(text)
    assert caught.value.line == line


def test_a_variable_may_be_assigned_again():
    program = parse("x = range_func_up(1, 3)\nx = reverse_list(x)\noutput = x")
    assert execute(program) == [[1, 2, 3], [3, 2, 1], [3, 2, 1]]
    assert str(canonical(program)) == "sequence_1 = range_func_up(1, 3)\nsequence_2 = reverse_list(sequence_1)"
