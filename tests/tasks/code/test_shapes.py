"""Records of HumanEval's, MBPP's and a script's shape as tasks, and what is said of those that are none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from kolmocli.sandbox.base import Call
from kolmocli.tasks.code.asserts import Asserts
from kolmocli.tasks.code.checks import Check, Checks
from kolmocli.tasks.code.scripts import Scripts
from kolmocli.tasks.code.shapes import calls, human_eval, mbpp, script
from kolmocli.tasks.code.task import CodeTask

FUNCTION = {
    "task_id": "HumanEval/7",
    "prompt": 'from typing import List\n\ndef add(a: int) -> int:\n    """One more."""\n',
    "entry_point": "add",
    "canonical_solution": "    return a + 1\n",
    "test": "def check(candidate):\n    assert candidate(1) == 2\n",
}
LISTED = {
    "task_id": 11,
    "text": "Write a function to add one. ",
    "code": "def add(a):\n    return a + 1",
    "test_list": ["assert add(1) == 2", "assert add(a=2) == 3"],
    "test_setup_code": "",
}
SCRIPT = {"question": "Add one.", "inputs": ["1\n", "2"], "outputs": ["2\n", "3"], "program": "print(int(input()) + 1)"}


def plan(task: CodeTask) -> object:
    assert isinstance(task.tests, Asserts)
    return task.tests.plan


def test_a_function_to_complete() -> None:
    task = human_eval(FUNCTION)
    assert (task.entry_point, task.task_id, task.reference) == ("add", "HumanEval/7", "    return a + 1\n")
    assert task.asked.text == task.asked.shortest == task.opening == FUNCTION["prompt"]
    assert "whole function" in task.asked.system
    assert (task.language, task.credit) == ("python", "all")
    assert plan(task) == Checks((Check(Call.of("add", 1), 2),))
    assert "candidate" not in task.asked.system + task.asked.text


def test_a_function_in_words() -> None:
    task = mbpp(LISTED)
    assert (task.entry_point, task.task_id, task.reference, task.opening) == ("add", "11", LISTED["code"], "")
    assert task.asked.text == "Write a function to add one.\nThe tests call `add(1)`."
    assert plan(task) == Checks((Check(Call.of("add", 1), 2), Check(Call.of("add", a=2), 3)))


def test_a_script() -> None:
    task = script(SCRIPT)
    assert task.tests == Scripts(("1\n", "2"), ("2\n", "3"))
    assert (task.asked.text, task.entry_point, task.reference) == ("Add one.", None, SCRIPT["program"])
    assert "standard input" in task.asked.system
    assert script(SCRIPT | {"inputs": ["1\r\n2\r\n", "2"]}).tests.inputs == ("1\n2\n", "2")  # type: ignore[attr-defined]
    one = script({"prompt": "Add one.", "inputs": "1", "outputs": "2"})
    assert one.tests == Scripts(("1",), ("2",)) and one.reference is None


def test_names_in_the_annotations_of_a_method_are_there() -> None:
    code = "class Solution:\n    def f(self, v: List[int]) -> Optional[int]:\n"
    task = calls({"question": code, "fn_name": "f", "inputs": [[[1]]], "outputs": [1]})
    exec(compile(task.program(code + "        return v[0]"), "answer", "exec", dont_inherit=True), {})
    assert calls({"question": "First.", "fn_name": "f", "inputs": [[[1]]], "outputs": [1]}).opening == ""


def test_tests_may_call_check_themselves_or_have_none() -> None:
    for test in (FUNCTION["test"] + "\ncheck(add)\n", "assert add(1) == 2", "def check(c):\n    assert c(1) == 2\n"):
        assert plan(human_eval(FUNCTION | {"test": test})) == Checks((Check(Call.of("add", 1), 2),))


def test_a_prompt_in_words_for_tests_of_a_function() -> None:
    task = human_eval(FUNCTION | {"prompt": "Write a function that adds one."})
    assert (task.opening, task.entry_point) == ("", "add")
    assert task.asked.text == "Write a function that adds one.\nThe tests call `add`."


def test_functions_of_the_program_are_those_that_nobody_else_defines() -> None:
    record = LISTED | {
        "test_imports": ["import math"],
        "test_setup_code": "def near(a, b):\n    return abs(a - b) < 1",
        "test_list": ["x = 3", "assert near(add(x), math.floor(double(x)))", "assert set(add(x)) == {1}"],
    }
    task = mbpp(record)
    assert isinstance(task.tests, Asserts)
    assert (task.tests.functions, task.entry_point) == (("add", "double"), "add")
    assert task.asked.text.endswith("`add(x)`.")


def test_a_function_may_be_called_as_a_builtin_is() -> None:
    record = {"text": "Add.", "code": "def sum(a, b):\n    return a + b", "test_list": ["assert sum(1, 2) == 3"]}
    assert mbpp(record).entry_point == "sum"
    with pytest.raises(ValueError, match="call no function"):
        mbpp({key: value for key, value in record.items() if key != "code"})


def test_references_go_by_several_names() -> None:
    for key in ("canonical_solution", "code", "program"):
        record = {k: v for k, v in FUNCTION.items() if k != "canonical_solution"} | {key: "    return 1"}
        assert human_eval(record).reference == "    return 1"


def without(record: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key not in keys}


@pytest.mark.parametrize(
    ("build", "record", "problem"),
    [
        (human_eval, without(FUNCTION, "test"), "no `test`"),
        (human_eval, without(FUNCTION, "prompt"), "no `prompt`"),
        (human_eval, without(FUNCTION, "entry_point") | {"prompt": "?"}, "no `entry_point`, and the tests call no"),
        (human_eval, FUNCTION | {"test": "  "}, "`test` is empty"),
        (human_eval, FUNCTION | {"test": 3}, "`test` is no text"),
        (human_eval, FUNCTION | {"test": "def check(candidate)\n"}, "the tests do not compile: line 1: expected ':'"),
        (human_eval, FUNCTION | {"test": "def check(candidate):\n    candidate(1)\n"}, "the tests assert nothing"),
        (human_eval, FUNCTION | {"test": "assert 1 + 1 == 2"}, "the tests never call `entry_point` add"),
        (human_eval, FUNCTION | {"test": "def check(c):\n    assert 1"}, "the tests never call `entry_point` add"),
        (human_eval, FUNCTION | {"entry_point": "sub"}, "`entry_point` sub does not exist; the prompt defines add"),
        (human_eval, FUNCTION | {"entry_point": "a b"}, "`entry_point` 'a b' is no name of a function"),
        (human_eval, FUNCTION | {"prompt": "def add(a:\n"}, "the prompt is no beginning of a program: "),
        (human_eval, FUNCTION | {"canonical_solution": ["x"]}, "`canonical_solution` is no text"),
        (mbpp, without(LISTED, "text"), "no `text` and no `prompt`"),
        (mbpp, without(LISTED, "test_list"), "the tests assert nothing"),
        (mbpp, LISTED | {"test_list": []}, "the tests assert nothing"),
        (mbpp, LISTED | {"test_list": [1]}, "`test_list` is no list of texts"),
        (mbpp, LISTED | {"test_list": ["assert add(1) = 2"]}, "the tests do not compile: line 1: "),
        (mbpp, LISTED | {"test_list": ["assert len('a') == 1"]}, "the tests call no function of the program's"),
        (mbpp, LISTED | {"entry_point": "sub"}, "the tests never call `entry_point` sub"),
        (mbpp, LISTED | {"test_setup_code": "class"}, "`test_setup_code` does not compile: line 1: "),
        (script, without(SCRIPT, "question"), "no `question` and no `prompt`"),
        (script, without(SCRIPT, "outputs"), "2 inputs and 0 outputs"),
        (script, SCRIPT | {"inputs": [], "outputs": []}, "0 inputs and 0 outputs"),
        (script, SCRIPT | {"outputs": ["", "\n"]}, "outputs that are all empty"),
        (script, SCRIPT | {"inputs": [1, 2]}, "`inputs` is no list of texts"),
    ],
)
def test_a_record_that_is_no_task(build: Callable[[Any], CodeTask], record: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError) as raised:
        build(record)
    assert str(raised.value).startswith(problem)
    assert "\n" not in str(raised.value)
