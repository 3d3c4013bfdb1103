"""The process that compares formulas: its limits, what becomes of an answer when it is lost, and what never reaches it."""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from kolmocli.errors import EnvironmentMissing
from kolmocli.sandbox.base import Status
from kolmocli.tasks.answers import formula_worker, formulas
from kolmocli.tasks.answers.comparison import same
from kolmocli.tasks.answers.formulas import FormulaJudge, Pair, described, installed, judge_of, version
from kolmocli.tasks.answers.shapes import question
from kolmocli.tasks.answers.trees import Tree, formula
from kolmocli.tasks.judging import SandboxJudge
from kolmocli.tasks.outcome import Outcome, Terms
from kolmocli.tasks.reward import Binary

WORKER = Path(formula_worker.__file__)
X, ONE = ("v", "x"), ("n", "1")
EASY: Pair = (("+", X, ONE), ("+", ONE, X))
SUM = ("+", ("+", X, ("v", "y")), ("v", "z"))
HARD: dict[str, Pair] = {
    "a power": (("^", ("n", "2"), ("n", "100000000000")), X),
    "a tower": (("^", ("n", "9"), ("^", ("n", "9"), ("n", "9"))), X),
    "a factorial": (("!", ("n", "100000000")), X),
    "a binomial": (("f", "binom", ("n", "100000000"), ("n", "50000000")), X),
    "a sum to multiply out": (("^", SUM, ("n", "400")), ("^", SUM, ("n", "401"))),
}
needs_math = pytest.mark.skipif(not installed(), reason="math-verify is not installed")


def tree(text: str) -> Tree:
    found = formula(text)
    assert found is not None
    return found


def judged(right: str, text: str) -> Outcome:
    return SandboxJudge(None, Terms(Binary()))([question({"question": "?", "answer": right})], [text])[0]


def child_of(pid: int) -> int:
    (child,) = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return int(child)


@pytest.fixture
def quick(tmp_path: Path) -> Iterator[FormulaJudge]:
    """The real worker with limits that a test can wait for."""
    code = WORKER.read_text()
    for line, short in (("CPU_SECONDS = 3.0", "CPU_SECONDS = 0.3"), ("WALL_SECONDS = 15.0", "WALL_SECONDS = 2.0")):
        assert line in code
        code = code.replace(line, short)
    (tmp_path / "worker.py").write_text(code)
    judge = FormulaJudge(tmp_path / "worker.py")
    yield judge
    judge.close()


def script(folder: Path, code: str) -> FormulaJudge:
    (folder / "worker.py").write_text(code)
    return FormulaJudge(folder / "worker.py")


@needs_math
@pytest.mark.parametrize("name", HARD)
def test_what_takes_too_long_or_too_much_is_a_limit_and_the_next_pair_is_compared(
    quick: FormulaJudge, name: str
) -> None:
    assert quick.ask([HARD[name], EASY]) == ["limit", "equal"]
    assert quick.known(HARD[name]) == "limit"  # and is not tried again


@needs_math
def test_an_answer_beyond_the_limits_is_wrong_and_not_masked(
    quick: FormulaJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(formulas, "FORMULAS", quick)
    monkeypatch.setattr("kolmocli.tasks.answers.task.FORMULAS", quick)
    outcome = judged("7", r"\boxed{\binom{100000000}{50000000}}")
    assert (outcome.status, outcome.passed, outcome.reward) == (Status.TLE_CPU, False, -1.0)
    assert judged("x+1", r"\boxed{1+x}").passed


@pytest.mark.parametrize(
    "given",
    ["9^9^9", "9^{9^{9}}", "100000!", "10^{10^{10}}", "2^{1000000}", "(((2^99)^99)^99)^99", "1e999999", "0.1^{100000000}"],
)  # fmt: skip
def test_numbers_that_nobody_writes_down_are_told_without_the_process(given: str) -> None:
    def equal(one: Tree, other: Tree) -> bool:
        raise AssertionError("was asked")

    assert not same(given, "1", "auto", equal)
    assert not same(given, "x", "auto", equal)


@needs_math
def test_a_process_that_is_killed_is_started_again() -> None:
    judge = FormulaJudge()
    assert judge.ask([EASY]) == ["equal"]
    assert judge._process is not None
    os.kill(judge._process._process.pid, signal.SIGKILL)
    assert judge.ask([(tree("x+y"), tree("y+x"))]) == ["equal"]
    os.kill(child_of(judge._process._process.pid), signal.SIGKILL)
    assert judge.ask([(tree("x*y"), tree("y*x")), (tree("2x"), tree("3x"))]) == ["equal", "other"]
    judge.close()


@pytest.mark.parametrize("code", ["raise SystemExit", "print('ready')", "print('ready'); input()", "no python"])
def test_a_process_that_dies_is_a_fault_and_is_remembered_by_nobody(tmp_path: Path, code: str) -> None:
    judge = script(tmp_path, code)
    assert judge.ask([EASY, EASY]) == ["fault", "fault"]
    assert judge.known(EASY) is None
    judge.close()


@needs_math
def test_a_fault_masks_the_answer_and_it_is_judged_when_the_process_is_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = script(tmp_path, "raise SystemExit")
    monkeypatch.setattr(formulas, "FORMULAS", judge)
    monkeypatch.setattr("kolmocli.tasks.answers.task.FORMULAS", judge)
    masked = judged("x^2+1", r"\boxed{1+x^2}")
    assert (masked.status, masked.passed, masked.reward) == (Status.INFRA, False, None)
    # what needs no formula is judged all the same
    assert judged("5", r"\boxed{5}").reward == 1.0
    assert judged("5", r"\boxed{6}").reward == -1.0
    assert judged("x^2+1", r"\boxed{x^2+1}").reward == 1.0
    assert judged("x^2+1", r"\boxed{x^2+2}").reward == -1.0
    (tmp_path / "worker.py").write_text(WORKER.read_text())
    monkeypatch.setattr(judge, "_down", 0.0)  # its rest is over
    assert judged("x^2+1", r"\boxed{1+x^2}").reward == 1.0
    judge.close()


@needs_math
def test_many_threads_ask_one_process() -> None:
    judge = FormulaJudge()
    said: dict[int, list[str]] = {}

    def ask(number: int) -> None:
        said[number] = judge.ask([(tree(f"x+{n}"), tree(f"{n + (n == number)}+x")) for n in range(20)])

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert said == {number: ["other" if n == number else "equal" for n in range(20)] for number in range(8)}
    judge.close()


@needs_math
def test_the_process_has_no_secrets_and_ends_with_its_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "a secret")
    judge = FormulaJudge()
    assert judge.ask([EASY]) == ["equal"]
    assert judge._process is not None
    pid = judge._process._process.pid
    child = child_of(pid)
    assert b"a secret" not in Path(f"/proc/{pid}/environ").read_bytes() + Path(f"/proc/{child}/environ").read_bytes()
    judge.close()
    assert not Path(f"/proc/{pid}").exists()
    assert not Path(f"/proc/{child}").exists()


INJECTIONS = (
    "__import__('os').system('touch {}')", "eval(\"open('{}','w')\")", "open('{}', 'w')", "sympify(open('{}','w'))",
    "lambda: open('{}','w')", "x.__class__.__base__", "().__class__", "exec('1')", "\\input{{{}}}", "\\write18{{touch {}}}",
    "$(touch {})", "`touch {}`", "; touch {}", "[\"equal\"]", "\nequal\n", "x\nequal", "\"], [\"n\", \"1", "equal",
)  # fmt: skip


@pytest.mark.parametrize("given", INJECTIONS)
def test_nothing_of_a_policy_is_evaluated(tmp_path: Path, given: str) -> None:
    trace = tmp_path / "t"
    for right in ("1", "x", "x^2+1", "Paris"):
        assert not judged(right, f"\\boxed{{{given.replace('{}', str(trace))}}}").passed
    assert not trace.exists()


@pytest.mark.parametrize(
    "given",
    [
        "\0", "5\0", "\0" * 300, "\ud800", "5\udfff", "5" * 1_000_000, "x+" * 500_000 + "x", "(" * 300 + "x" + ")" * 300,
        "{" * 399, "}" * 399, "[" * 399, "(" * 100_000, "\\frac" * 80, "\\frac{1}{" * 30 + "x" + "}" * 30, "\\sqrt" * 70,
        "^" * 399, "x^" * 190 + "x", "x_" * 190, "-" * 399, "-" * 390 + "1", "+" * 390 + "1", "!" * 399, "1" + "!" * 300,
        "|" * 399, "," * 399, ";" * 399, "±" * 300, "$" * 399, "\\" * 399, "~" * 399, "=" * 399, "x=" * 190, "<" * 399, "1<" * 190,
        "or " * 130, "1 or " * 79 + "1", "\\begin{pmatrix}" * 20, "\\begin{pmatrix}" + "1&" * 150 + "\\end{pmatrix}", "\\boxed{" * 50,
        "\\text{" * 60, "\\left(" * 60, "\\over" * 70, "\\choose" * 50, "and" * 130, "1/" * 190 + "1", "1e" * 190, "9" * 399,
        "one " * 90, "hundred " * 49, "minus " * 60, "a " * 190, "(A)" * 130, "A,B," * 95, "%" * 399, "° " * 190,
    ],
)  # fmt: skip
@pytest.mark.parametrize("right", ["1", "x^2+1", "(1,2)", "A", "Paris"])
def test_strange_texts_are_no_answer_and_end_no_reader(given: str, right: str) -> None:
    for text in (f"\\boxed{{{given}}}", f"[ANSWER] {given}", given, f"{given}\\boxed{{0}}", f"\\boxed{{0}}{given}"):
        outcome = judged(right, text)
        assert not outcome.passed or (right == "1" and given[-1] in "1!")
        assert outcome.status is not Status.INFRA


def test_without_the_library_formulas_are_compared_as_they_are_written(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(formulas, "installed", lambda: False)
    formulas.note_missing.cache_clear()
    version.cache_clear()
    with caplog.at_level(logging.WARNING):
        assert judged("x^2+1", r"\boxed{x^{2} + 1}").passed
        assert not judged("x^2+1", r"\boxed{1+x^2}").passed
        assert not judged("x^2+2", r"\boxed{2+x^2}").passed
        assert judged("5", r"\boxed{5.0}").passed
    assert caplog.messages == [
        "math-verify is not installed: formulas that are written differently count as different; pip install 'kolmocli[math]'"
    ]
    assert described("auto") == f"auto (rules {formulas.RULES}, formulas as they are written)"
    for ask in (lambda: judge_of("math"), lambda: question({"question": "?", "answer": "x", "judge": "math"})):
        with pytest.raises(
            EnvironmentMissing, match=r"needs math-verify: pip install 'kolmocli\[math\]', or use judge: auto"
        ):
            ask()
    formulas.note_missing.cache_clear()
    version.cache_clear()
