"""Tests that look at what a program prints."""

from __future__ import annotations

import pytest

from kolmocli.sandbox import Sandbox
from kolmocli.tasks.code.shapes import human_eval, mbpp
from kolmocli.tasks.judging import judge
from kolmocli.tasks.outcome import Terms
from kolmocli.tasks.reward import Relative

PROGRAM = """\
import sys
print("loaded")
def show(n):
    for i in range(n):
        print(i, end=" ")
    print()
def warn(text):
    sys.stderr.write(text)
    sys.stdout.write("told\\n")
    return len(text)
class Box:
    def show(self): print("box")
"""
WRONG = PROGRAM.replace("range(n)", "range(n + 1)").replace("told", "said").replace('"box"', '"bag"')
TESTS = {
    "capsys": "def test_a(capsys):\n    show(2)\n    captured = capsys.readouterr()\n    assert captured.out == '0 1 \\n' and captured.err == ''\n",
    "capsys twice": "def test_a(capsys):\n    show(9)\n    capsys.readouterr()\n    show(1)\n    out, err = capsys.readouterr()\n    assert out.strip().split() == ['0']\n",
    "both streams": "def test_a(capsys):\n    assert warn('no') == 2\n    assert capsys.readouterr() == ('told\\n', 'no')\n",
    "two tests": "def test_a(capsys):\n    show(1)\ndef test_b(capsys):\n    show(2)\n    assert capsys.readouterr().out == '0 1 \\n'\n",
    "parameters": "import pytest\n@pytest.mark.parametrize('n, said', [(1, '0'), (3, '0 1 2')])\ndef test_a(capsys, n, said):\n    show(n)\n    assert capsys.readouterr().out.strip() == said\n",
    "an object": "def test_a(capsys):\n    Box().show()\n    box = Box()\n    box.show()\n    assert capsys.readouterr().out == 'box\\nbox\\n'\n",
    "redirect_stdout": "import io\nfrom contextlib import redirect_stdout\ndef test_a():\n    f = io.StringIO()\n    with redirect_stdout(f):\n        show(2)\n        assert f.getvalue() == '0 1 \\n'\n        show(1)\n    show(5)\n    assert f.getvalue() == '0 1 \\n0 \\n'\n",
    "an exception": "import io, pytest\nfrom contextlib import redirect_stdout\ndef test_a():\n    f = io.StringIO()\n    with pytest.raises(TypeError):\n        with redirect_stdout(f):\n            show(2)\n            show(None)\n    show(3)\n    assert f.getvalue() == '0 1 \\n'\n",
    "a stream of its own": "from contextlib import redirect_stdout\nclass Stream:\n    text = ''\n    def write(self, text):\n        self.text += text\ndef test_a():\n    stream = Stream()\n    with redirect_stdout(stream):\n        show(2)\n    assert stream.text == '0 1 \\n'\n",
    "named": "import contextlib, io\ndef test_a():\n    with contextlib.redirect_stdout(io.StringIO()) as said:\n        show(1)\n    assert said.getvalue().strip() == '0'\n",
    "sys.stdout": "import io, sys\ndef test_a():\n    said = io.StringIO()\n    sys.stdout = said\n    show(2)\n    sys.stdout = sys.__stdout__\n    show(3)\n    assert said.getvalue() == '0 1 \\n'\n",
    "sys.stdout at once": "import sys\nfrom io import StringIO\ndef test_a():\n    old = sys.stdout\n    sys.stdout = said = StringIO()\n    try:\n        show(1)\n        text = said.getvalue()\n    finally:\n        sys.stdout = old\n    assert text == '0 \\n'\n",
    "unittest": "import io, sys, unittest\nclass T(unittest.TestCase):\n    def setUp(self):\n        self.said = io.StringIO()\n        sys.stdout = self.said\n    def tearDown(self):\n        sys.stdout = sys.__stdout__\n    def test_a(self):\n        show(2)\n        self.assertEqual(self.said.getvalue(), '0 1 \\n')\n",
}  # fmt: skip


@pytest.mark.docker
@pytest.mark.parametrize("name", TESTS)
def test_what_is_printed_is_seen(docker_box: Sandbox, name: str) -> None:
    names = [each for each in ("show", "warn", "Box") if f"{each}(" in TESTS[name].replace(".show", "")]
    tests = f"from solution import {', '.join(names)}\n{TESTS[name]}"
    task = human_eval({"prompt": "Write it.", "test": tests, "canonical_solution": PROGRAM})
    outcomes = judge([task] * 2, [PROGRAM, WRONG], docker_box, Terms(Relative(0.25)))
    assert [(outcome.passed, outcome.reward is None) for outcome in outcomes] == [(True, False), (False, False)]


@pytest.mark.docker
def test_a_program_that_prints_without_end_is_stopped(docker_box: Sandbox) -> None:
    tests = "def test_a(capsys):\n    show(2)\n    assert capsys.readouterr().out == '0 1 \\n'\n"
    task = human_eval({"prompt": "Write it.", "test": f"from solution import show\n{tests}"})
    endless = "def show(n):\n    while True: print('x' * 1000)\n"
    [outcome] = judge([task], [endless], docker_box, Terms(Relative(0.25)))
    assert not outcome.passed and outcome.reward is not None


@pytest.mark.docker
def test_asserts_alone_may_look_too(docker_box: Sandbox) -> None:
    setup = "import io\nfrom contextlib import redirect_stdout\ndef said(n):\n    with redirect_stdout(io.StringIO()) as text:\n        show(n)\n    return text.getvalue()"
    task = mbpp({"text": "Print.", "test_list": [f"{setup}\nassert said(1) == '0 \\n'"], "code": PROGRAM})
    outcomes = judge([task] * 2, [PROGRAM, WRONG], docker_box, Terms(Relative(0.25)))
    assert [outcome.passed for outcome in outcomes] == [True, False]
