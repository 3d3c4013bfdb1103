"""The source of each statement, as the embedded interpreter is fed it."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest

from kolmocli.sandbox.embedded.source import is_straight, texts

SOURCES = [
    "x = 1",
    "x = 1; y = [2]; 'é'; z",
    "x = 1;\n\ny = 2 # words\n",
    "x = '''a\nb'''; y = [1,\n 2]; z = 3",
    "@first\n@second(1)\ndef f(x):\n    return x\nf(1); g",
    "if x: y = 1; z = 2\nelse: pass\nfor a in b:\n    c\nd",
]


@pytest.mark.parametrize("source", SOURCES)
def test_each_text_is_the_statement_alone(source: str) -> None:
    body = ast.parse(source).body
    assert [ast.dump(ast.parse(text)) for text in texts(source, body)] == [
        ast.dump(ast.Module([statement], [])) for statement in body
    ]


def test_many_statements_of_one_line_take_no_longer_than_it_is_long() -> None:
    """To copy the line for each of them would take minutes."""
    script = (
        "import ast\n"
        "from kolmocli.sandbox.embedded.source import texts\n"
        "[statement] = ast.parse('x').body\n"
        "size = 1 << 23\n"
        "statement.col_offset, statement.end_col_offset = size - 1, size\n"
        "assert texts('x' * size + ';', [statement] * (1 << 20)) == ['x'] * (1 << 20)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


@pytest.mark.parametrize(
    ("source", "straight"),
    [
        ("a = repeat_num(3, 7)\nrepeat_list(2, a)", True),
        ("a = [1, 2]\nrepeat_list(-2, a)", True),
        ("", True),
        ("repeat_num = 3", False),
        ("_x = repeat_num(3, 7)", False),
        ("a = repeat_num(3, 'x')", False),
        ("a = repeat_num(3, 1.5)", False),
        ("a = repeat_num(3, True)", False),
        ("a = sorted([2, 1])", False),
        ("a = [1]\na.append(2)", False),
        ("a = b = [1]", True),
        ("a = [1]\nfor x in a: x", False),
    ],
)
def test_what_is_calls_of_the_language_alone_is_straight(source: str, straight: bool) -> None:
    """Values of anything else may change after their statement, and are written down one by one."""
    assert is_straight(ast.parse(source).body, {"repeat_num", "repeat_list"}) == straight
