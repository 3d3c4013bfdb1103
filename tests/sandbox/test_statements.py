"""The short ways to run a program decide nothing: they give what the compiler gives."""

import builtins
from typing import Any

import pytest
from hypothesis import given, strategies as st

from kolmocli.language import functions
from kolmocli.sandbox.wire import statements

NAMES = frozenset(name for name, value in vars(functions).items() if callable(value) and name[0] != "_")
PIECES = ["x", "y", "sequence_1", "reverse_list", "repeat_list", "range_func_up", "if", "None", "__x", "é", "3", "-2"]
PIECES += [
    "03",
    "1_0",
    "[1, 2]",
    "(",
    ")",
    "((",
    ", ",
    ",",
    " ",
    " = ",
    "=",
    "\n",
    "\n",
    "+",
    "'a'",
    "#",
    ";",
    "\\",
    ":",
]
PROGRAMS = [
    "x = range_func_up(0, 4)\ny = reverse_list(x)",
    "x = range_func_up(0, 4)\noutput = x\nx",
    "x = range_func_up(0, 4)\nx = reverse_list(x)\nx = repeat_list(2, x)",
    "reverse_list = range_func_up(0, 4)\nx = repeat_list(2, reverse_list)",
    "if = range_func_up(0, 4)",
    "None = range_func_up(0, 4)",
    "x = range_func_up(0, 4)\ny = reverse_list(z)",
    "x = range_func_up(0)",
    "x = range_func_up(00, 1)",
    "x = range_func_up(0, 1) ",
    "x = range_func_up(0, 1)\r\ny = 3",
    "x = [n for n in range_func_up(0, 4)]\nx",
    "x = y = 3",
    "x = 3 if 4 else 5\nx += 1",
    "x = '''a\ny = 3\n'''",
    "x = [1,\n2]",
    "pass\nx = 3",
    "",
    "\n",
]


def trace(steps: list[statements.Step]) -> list[object]:
    """What each statement leaves; the last entry tells how the program ended."""
    space: dict[str, Any] = {**vars(functions), "__builtins__": {"range": range, "None": None}}
    seen: list[object] = []
    try:
        for step in steps:
            seen.append(repr(step(space)))
    except Exception as error:
        seen.append(type(error))
    return seen


def agree(program: str) -> None:
    try:
        long_way = [statements._statement(each) for each in statements.parse(program)]
    except (SyntaxError, ValueError, RecursionError) as error:
        with pytest.raises(type(error)):
            statements.steps(program, NAMES)
        return
    assert trace(statements.steps(program, NAMES)) == trace(long_way)


@pytest.mark.parametrize("program", PROGRAMS)
def test_known_edges(program: str) -> None:
    agree(program)


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_any_text(program: str) -> None:
    agree(program)


@given(
    st.lists(
        st.tuples(
            st.sampled_from("xyz"),
            st.sampled_from(sorted(NAMES)),
            st.lists(st.sampled_from(["x", "y", "z", "0", "2", "-1"]), max_size=3),
        ),
        min_size=1,
        max_size=5,
    )
)
def test_calls(calls: list[tuple[str, str, list[str]]]) -> None:
    agree("\n".join(f"{name} = {function}({', '.join(arguments)})" for name, function, arguments in calls))


def test_the_short_ways_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_tree(_: str) -> None:
        raise AssertionError("a tree was made")

    monkeypatch.setattr(statements, "parse", no_tree)
    assert len(statements.steps("x = [1, 2]\nx")) == 2
    monkeypatch.setattr(builtins, "compile", no_tree)
    assert len(statements.steps("x = range_func_up(0, 4)\ny = reverse_list(x)", NAMES)) == 2
