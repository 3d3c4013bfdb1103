"""A row of each well-known set, as its authors write it: what is right passes, what is wrong does not, and it is named."""

from __future__ import annotations

import base64
import contextlib
import io
import json
import pickle
import re
import zlib
from pathlib import Path
from typing import Any

import pytest

from kolmocli.errors import UsageError
from kolmocli.tasks.base import Task
from kolmocli.tasks.code.asserts import Asserts
from kolmocli.tasks.code.checks import Checks
from kolmocli.tasks.code.objects import method_glue
from kolmocli.tasks.code.scripts import Scripts
from kolmocli.tasks.code.task import CodeTask
from kolmocli.tasks.files.foreign import read_row
from kolmocli.tasks.files.layouts import LAYOUTS
from kolmocli.tasks.files.listing import Listed, item
from kolmocli.tasks.files.taskfile import read_tasks
from kolmocli.tasks.outcome import Terms
from kolmocli.tasks.reward import Relative

TWICE = "def twice(n):\n    return 2 * n"
THRICE = "def twice(n):\n    return 3 * n"
METHOD = "class Solution:\n    def twice(self, n):\n        return 2 * n"
ECHO, SHOUT = "print(input())", "print(input() + '!')"
ASSERTS = ["assert twice(1) == 2", "assert twice(3) == 6"]
CHECK = "def check(candidate):\n    assert candidate(1) == 2\n    assert candidate(3) == 6\n"
TABLED = """import numpy as np

def is_floats(x) -> bool:
    return isinstance(x, float)

def assertion(out, exp, atol):
    if atol == 0 and is_floats(exp):
        atol = 1e-6
    assert out == exp or np.allclose(out, exp, rtol=1e-07, atol=atol)
"""
LOOP = "inputs = {}\nresults = {}\nfor i, (inp, exp) in enumerate(zip(inputs, results)):\n    assertion({}(*inp), exp, 0)\n"
PACKED = base64.b64encode(
    zlib.compress(pickle.dumps(json.dumps([{"input": "7\n", "output": "7\n", "testtype": "stdin"}])))
).decode()
CHAT = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "1+1?"}]
UNIT = """import unittest

class TestCases(unittest.TestCase):
    def setUp(self):
        self.three = 3

    def test_a(self):
        self.assertEqual(twice(self.three), 6)

    def test_b(self):
        self.assertTrue(twice(1) == 2)
"""
PYTEST = """import pytest
from solution import twice

@pytest.mark.parametrize("n,wanted", [(1, 2), (3, 6)])
def test_some(n, wanted):
    assert twice(n) == wanted
"""

BOX = "class Twice:\n    def __init__(self, n):\n        self.n = n\n    def get(self):\n        return 2 * self.n\n"
ROWS: dict[str, tuple[dict[str, Any], str, str]] = {
    # Formulas
    "MATH-500": ({"problem": "1+1?", "solution": "So $\\boxed{2}$.", "answer": "2", "subject": "Algebra", "level": 2, "unique_id": "a"}, "[ANSWER] 2", "[ANSWER] 3"),
    "MATH": ({"problem": "1+1?", "level": "Level 1", "type": "Algebra", "solution": "$\\boxed{2}$"}, "[ANSWER] 2", "[ANSWER] 3"),
    "AIME": ({"ID": "2024-I-1", "Problem": "1+1?", "Solution": "Two.", "Answer": 2}, "[ANSWER] 2", "[ANSWER] 3"),
    "NuminaMath": ({"source": "x", "problem": "1+1?", "solution": "\\boxed{2}", "messages": CHAT}, "\\boxed{2}", "\\boxed{3}"),
    "NuminaMath-1.5": ({"problem": "1+1?", "solution": "s", "answer": "2", "problem_type": "Algebra", "question_type": "MCQ"}, "[ANSWER] 2", "[ANSWER] 3"),
    "DeepScaleR": ({"problem": "1+1?", "answer": "2", "solution": "It is 2."}, "[ANSWER] 2", "[ANSWER] 3"),
    "OlympiadBench": ({"id": 1, "question": "1+1?", "solution": ["s"], "final_answer": ["2"], "is_multiple_answer": False}, "[ANSWER] 2", "[ANSWER] 3"),
    "DeepMath": ({"question": "1+1?", "final_answer": "2", "difficulty": 4.5, "r1_solution_1": "s"}, "[ANSWER] 2", "[ANSWER] 3"),
    "Omni-MATH": ({"domain": ["A"], "difficulty": 3.0, "problem": "1+1?", "solution": "s", "answer": "2", "source": "x"}, "[ANSWER] 2", "[ANSWER] 3"),
    "OpenMathInstruct": ({"problem": "1+1?", "generated_solution": "s", "expected_answer": "2", "problem_source": "x"}, "[ANSWER] 2", "[ANSWER] 3"),
    "SVAMP": ({"ID": "c-1", "Body": "One and one.", "Question": "How many?", "Equation": "( 1 + 1 )", "Answer": 2.0, "Type": "Sum"}, "[ANSWER] 2", "[ANSWER] 1"),
    "ASDiv": ({"body": "One and one.", "question": "How many?", "answer": "2 (fruits)"}, "[ANSWER] 2", "[ANSWER] 3"),
    "MGSM": ({"question": "1+1?", "answer": None, "answer_number": 2}, "[ANSWER] 2", "[ANSWER] 3"),
    "MultiArith": ({"question": "1+1?", "final_ans": "2"}, "[ANSWER] 2", "[ANSWER] 3"),
    "AddSub, SingleEq": ({"iIndex": 1, "sQuestion": "1+1?", "lEquations": ["X=1+1"], "lSolutions": [2.0]}, "[ANSWER] 2", "[ANSWER] 3"),
    "verl": ({"data_source": "m", "prompt": CHAT, "reward_model": {"ground_truth": "[\"2\"]", "style": "rule"}}, "[ANSWER] 2", "[ANSWER] 3"),
    "SYNTHETIC-1": ({"prompt": "1+1?", "problem_id": "x", "verification_info": "{'ground_truth': '2'}"}, "[ANSWER] 2", "[ANSWER] 3"),
    "BIG-Bench Hard": ({"input": "True and False?", "target": "False"}, "[ANSWER] False", "[ANSWER] True"),
    "BoolQ": ({"passage": "It is so.", "question": "Is it so?", "answer": True}, "[ANSWER] yes", "[ANSWER] no"),
    "countdown": ({"target": 98, "nums": [44, 19, 35]}, "[ANSWER] 44 + (19 + 35)", "[ANSWER] 98"),
    "OpenR1-Math": ({"problem": "1+1?", "solution": "s", "answer": "2", "problem_type": "A", "generations": ["g"], "correctness_math_verify": [True]}, "[ANSWER] 2", "[ANSWER] 3"),
    "Big-Math": ({"problem": "1+1?", "answer": "2", "source": "x", "domain": ["A"], "llama8b_solve_rate": 0.5}, "[ANSWER] 2", "[ANSWER] 3"),
    "OpenThoughts": ({"problem": "1+1?", "deepseek_solution": "s", "ground_truth_solution": "So \\boxed{2}."}, "[ANSWER] 2", "[ANSWER] 3"),
    "MetaMath": ({"query": "1+1?", "response": "One and one.\nThe answer is: 2", "original_question": "?", "type": "x"}, "[ANSWER] 2", "[ANSWER] 3"),
    "Open-Reasoner-Zero": ({"0": {"from": "human", "value": "1+1?"}, "1": {"from": "assistant", "ground_truth": {"value": "2"}}}, "[ANSWER] 2", "[ANSWER] 3"),
    "Math23K": ({"id": "1", "original_text": "1+1?", "equation": "x=1+1", "ans": "2"}, "[ANSWER] 2", "[ANSWER] 3"),
    "TabMWP": ({"question": "How many?", "choices": None, "answer": "2", "table_title": "t", "table": "apples | 2"}, "[ANSWER] 2", "[ANSWER] 3"),
    "CRUXEval": ({"code": "def f(n):\n    return [n, 'a']", "input": "1", "output": "[1, 'a']", "id": "sample_0"}, "[ANSWER] [1, 'a']", "[ANSWER] [1, 'b']"),
    "DROP": ({"query_id": "q", "passage": "Two.", "question": "How many?", "answers_spans": {"spans": ["2"], "types": ["number"]}}, "[ANSWER] 2", "[ANSWER] 3"),
    "countdown, numbers": ({"target": 98, "numbers": [44, 19, 35]}, "[ANSWER] 44 + 19 + 35", "[ANSWER] 44 + 35"),
    "verl countdown": ({"prompt": CHAT, "reward_model": {"ground_truth": {"target": 98, "numbers": [44, 19, 35]}, "style": "rule"}}, "[ANSWER] 44 + 19 + 35", "[ANSWER] 98"),
    "verl accepted": ({"prompt": CHAT, "reward_model": {"ground_truth": {"target": ["2", "two"]}, "style": "rule"}}, "[ANSWER] two", "[ANSWER] 3"),
    # Choices
    "MMLU, C-Eval": ({"id": 0, "question": "1+1?", "A": "1", "B": "2", "C": "3", "D": "4", "answer": "B"}, "[ANSWER] B", "[ANSWER] C"),
    "MedMCQA": ({"id": "x", "question": "1+1?", "opa": "1", "opb": "2", "opc": "3", "opd": "4", "cop": 1}, "[ANSWER] B", "[ANSWER] A"),
    "Social IQa": ({"context": "One.", "question": "And one?", "answerA": "1", "answerB": "2", "answerC": "3", "label": "2"}, "[ANSWER] B", "[ANSWER] C"),
    "WinoGrande": ({"sentence": "The _ is more.", "option1": "1", "option2": "2", "answer": "2"}, "[ANSWER] B", "[ANSWER] A"),
    "PIQA": ({"goal": "1+1", "sol1": "1", "sol2": "2", "label": 1}, "[ANSWER] B", "[ANSWER] A"),
    "COPA": ({"premise": "It rained.", "choice1": "dry", "choice2": "wet", "question": "effect", "label": 1}, "[ANSWER] wet", "[ANSWER] dry"),
    "LogiQA": ({"context": "One.", "query": "And one?", "options": ["1", "2", "3"], "correct_option": 1}, "[ANSWER] B", "[ANSWER] C"),
    "ReClor": ({"context": "One.", "question": "And one?", "answers": ["1", "2", "3"], "label": 1}, "[ANSWER] B", "[ANSWER] C"),
    "AQuA": ({"question": "1+1?", "options": ["A)1", "B)2"], "rationale": "r", "correct": "B"}, "[ANSWER] B", "[ANSWER] A"),
    "MathQA": ({"Problem": "1+1?", "Rationale": "r", "options": "a ) 1 , b ) 2 , c ) 3", "correct": "b"}, "[ANSWER] B", "[ANSWER] C"),
    "MMLU": ({"question": "1+1?", "subject": "m", "choices": ["1", "2", "3", "4"], "answer": 1}, "[ANSWER] B", "[ANSWER] D"),
    "MMLU-Pro": ({"question_id": 70, "question": "1+1?", "options": ["1", "2", "3"], "answer": "B", "answer_index": 1}, "[ANSWER] 2", "[ANSWER] A"),
    "ARC, CommonsenseQA": ({"id": "q", "question": "1+1?", "choices": {"text": ["1", "2"], "label": ["A", "B"]}, "answerKey": "B"}, "[ANSWER] B", "[ANSWER] A"),
    "OpenBookQA": ({"id": "q", "question_stem": "1+1?", "choices": {"text": ["one", "two"], "label": ["A", "B"]}, "answerKey": "B"}, "[ANSWER] two", "[ANSWER] one"),
    "AGIEval": ({"passage": None, "question": "1+1?", "options": ["(A)1", "(B)2"], "label": "B", "answer": None}, "[ANSWER] B", "[ANSWER] A"),
    "RACE": ({"article": "It is two.", "question": "What?", "options": ["one", "two"], "answer": "B"}, "[ANSWER] B", "[ANSWER] A"),
    "HellaSwag": ({"ctx": "One and one", "endings": ["is one", "is two"], "label": "1"}, "[ANSWER] is two", "[ANSWER] is one"),
    "GPQA": ({"Record ID": "r", "Question": "1+1?", "Correct Answer": "two", "Incorrect Answer 1": "one", "Incorrect Answer 2": "three", "Incorrect Answer 3": "four"}, "[ANSWER] two", "[ANSWER] four"),
    "SciQ": ({"question": "1+1?", "distractor1": "one", "distractor2": "three", "distractor3": "four", "correct_answer": "two", "support": ""}, "[ANSWER] two", "[ANSWER] one"),
    # Functions
    "EvalPlus": ({"task_id": "H/0", "prompt": "def twice(n):\n", "entry_point": "twice", "canonical_solution": "    return 2 * n\n", "test": CHECK, "base_input": [[1]], "plus_input": [[3]], "atol": 0}, TWICE, THRICE),
    "LeetCodeDataset": ({"task_id": "two", "prompt": "from typing import *\n", "query": "Twice.", "entry_point": "Solution().twice", "test": CHECK, "completion": METHOD, "difficulty": "Easy"}, METHOD, METHOD.replace("2", "3")),
    "BigCodeBench": ({"task_id": "B/0", "complete_prompt": "def twice(n):\n    \"\"\"Twice.\"\"\"\n", "canonical_solution": "    return 2 * n\n", "test": UNIT, "entry_point": "twice"}, TWICE, THRICE),
    "MBPP+": ({"task_id": 2, "prompt": "Twice.", "code": TWICE, "source_file": "x", "test_imports": [], "test_list": ASSERTS[:1], "test": TABLED + LOOP.format([[1], [2.5]], [2, 5.0], "twice")}, TWICE, THRICE),
    "HumanEval-X": ({"task_id": "Python/0", "prompt": "def twice(n):\n    \"\"\"Twice.\"\"\"\n", "declaration": "def twice(n):\n", "canonical_solution": "    return 2 * n\n", "test": CHECK.replace("candidate", "twice") + "\ncheck(twice)\n"}, TWICE, THRICE),
    "MultiPL-E": ({"name": "H_0_twice", "language": "py", "prompt": "def twice(n):\n    \"\"\"Twice.\"\"\"\n", "tests": CHECK + "\ndef test_check():\n    check(twice)\n\ntest_check()\n"}, TWICE, THRICE),
    "KodCode": ({"question": "Twice.", "solution": TWICE, "test": PYTEST, "test_info": [{"function_name": "twice"}], "gpt_difficulty": "easy"}, TWICE, THRICE),
    "ClassEval": ({"task_id": "c", "skeleton": "import math\nclass Twice:\n    \"\"\"Twice.\"\"\"\n", "class_name": "Twice", "import_statement": ["import math", "import re"], "solution_code": BOX, "test": "class T(unittest.TestCase):\n    def test_a(self):\n        t = Twice(3)\n        self.assertEqual(t.get(), 6 * math.cos(0))\n"}, BOX, BOX.replace("2", "3")),
    "APPS calls": ({"problem_id": 1, "question": "Twice.", "input_output": json.dumps({"fn_name": "twice", "inputs": [[1], [3]], "outputs": [[2], [6]]}), "starter_code": "class Solution:\n    def twice(self, n):\n", "difficulty": "interview"}, METHOD, THRICE),
    "LiveCodeBench calls": ({"question_content": "Twice.", "starter_code": "class Solution:\n    def twice(self, n: int) -> int:\n", "public_test_cases": "[{\"input\": \"3\", \"output\": \"6\", \"testtype\": \"functional\"}]", "metadata": "{\"func_name\": \"twice\"}"}, METHOD, METHOD.replace("2", "3")),
    "verl calls": ({"prompt": CHAT, "reward_model": {"ground_truth": json.dumps({"fn_name": "twice", "inputs": [[3]], "outputs": [6]})}}, TWICE, THRICE),
    # Scripts
    "APPS": ({"problem_id": 1, "question": "Echo.", "solutions": json.dumps([ECHO]), "input_output": json.dumps({"inputs": ["1\n"], "outputs": ["1\n"]}), "difficulty": "interview", "starter_code": ""}, ECHO, SHOUT),
    "TACO": ({"question": "Echo.", "solutions": json.dumps([ECHO]), "starter_code": "", "input_output": json.dumps({"inputs": [["1"]], "outputs": [["1"]]}), "difficulty": "MEDIUM_HARD", "time_limit": "2.0 seconds", "memory_limit": "256.0 megabytes"}, ECHO, SHOUT),
    "LiveCodeBench": ({"question_content": "Echo.", "question_id": "x", "starter_code": "", "difficulty": "hard", "public_test_cases": "[{\"input\": \"1\\n\", \"output\": \"1\\n\", \"testtype\": \"stdin\"}]", "private_test_cases": PACKED, "metadata": "{}"}, ECHO, SHOUT),
    "CodeContests": ({"name": "n", "description": "Echo.", "public_tests": {"input": ["1\n"], "output": ["1\n"]}, "private_tests": {"input": ["2\n"], "output": ["2\n"]}, "generated_tests": {"input": [], "output": []}, "solutions": {"language": [2, 3], "solution": ["int main(){}", ECHO]}, "difficulty": 7, "time_limit": {"seconds": 1, "nanos": 500000000}, "memory_limit_bytes": 268435456}, ECHO, SHOUT),
    "Codeforces of open-r1": ({"id": "1/A", "description": "Echo.", "input_format": "A word.", "output_format": "It.", "official_tests": [{"input": "1\n", "output": "1\n"}], "time_limit": 2.0, "memory_limit": 256.0, "rating": 800}, ECHO, SHOUT),
    "open-r1 code": ({"problem": "Echo.", "verification_info": {"language": "python", "test_cases": [{"fn_name": None, "input": "1\n", "output": "1\n", "type": "stdin_stdout"}]}}, ECHO, SHOUT),
    "verifiable coding problems": ({"problem_statement": "Echo.", "gold_standard_solution": ECHO, "problem_id": "p", "verification_info": {"language": "python", "test_cases": [{"fn_name": None, "input": "1\n", "output": "1\n", "type": "stdin_stdout"}]}, "metadata": {"time_limit": "1 second", "memory_limit": "64 megabytes"}}, ECHO, SHOUT),
    "DeepCoder": ({"problem": "Echo.", "tests": "[{\"input\": \"1\\n\", \"output\": \"1\\n\", \"type\": \"stdin_stdout\"}]", "solutions": [ECHO]}, ECHO, SHOUT),
    "verl scripts": ({"prompt": CHAT, "reward_model": {"ground_truth": json.dumps({"inputs": ["1\n"], "outputs": ["1\n"]})}}, ECHO, SHOUT),
}  # fmt: skip


def task_of(row: dict[str, Any]) -> Task:
    found, _ = item(row)
    assert isinstance(found, Listed)
    return found.task


def passes(task: Task, text: str) -> bool:
    """The judge, with a program of this file run right here."""
    if not isinstance(task, CodeTask):
        outcome = task.attempt(text, Terms(Relative(0.0))).outcome(None)
        assert not hasattr(outcome, "job")
        return bool(outcome.passed)  # type: ignore[union-attr]
    program = task.program(text) + method_glue(task.objects.methods, perhaps=task.either)
    if isinstance(task.tests, Scripts):
        return all(
            printed(program, given).split() == wanted.split()
            for given, wanted in zip(task.tests.inputs, task.tests.outputs, strict=True)
        )
    space: dict[str, Any] = {"__name__": "tested"}
    exec(program, space)
    if isinstance(task.tests, Checks | Asserts):
        plan = task.tests if isinstance(task.tests, Checks) else task.tests.plan
        if isinstance(plan, Checks):
            return all(check.holds(called(space, check.call)) for check in plan.checks)
        assert isinstance(task.tests, Asserts)
        scope = {**space, "__name__": "tests"}
        try:
            exec(task.tests.code, scope)
        except AssertionError:
            return False
        return True
    reference: dict[str, Any] = {}
    exec(task.tests.reference, reference)  # type: ignore[attr-defined]
    return all(called(space, call) == called(reference, call) for call in task.tests.calls)  # type: ignore[attr-defined]


def called(space: dict[str, Any], call: Any) -> Any:
    by_position, by_name = call.arguments
    return space[call.function](*by_position, **by_name)


def printed(program: str, given: str) -> str:
    lines, out = iter(given.split("\n")), io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(program, {"input": lambda: next(lines)})
    return out.getvalue()


@pytest.mark.parametrize("name", ROWS)
def test_a_set_loads_as_it_is(name: str) -> None:
    row, right, wrong = ROWS[name]
    task = task_of(row)
    assert passes(task, right) and not passes(task, wrong)
    said = read_row(row).said
    known = re.sub(r",? (calls|scripts|numbers|countdown|accepted)\Z", "", name)
    assert said.startswith(f"read as {known}: `")
    if task.reference is not None and isinstance(task, CodeTask):
        assert passes(task, task.reference)


def test_every_set_has_a_row_here() -> None:
    assert {layout.name for layout in LAYOUTS} <= {name.removesuffix(" calls") for name in ROWS}


def test_what_is_said_names_the_columns() -> None:
    lettered = {"question": "1+1?", "option_a": "1", "option_b": "2", "answer": "B"}
    assert read_row(lettered).said.endswith(": `question`, `option_a`, `option_b`, `answer`")
    assert read_row(ROWS["MATH-500"][0]).said == (
        "read as MATH-500: `problem`, `answer`, reference from `solution`, level from `level`, task_id from `unique_id`"
    )


def test_limits_of_a_set_are_seconds_and_megabytes() -> None:
    for name, seconds, megabytes in (
        ("TACO", 2.0, 256.0), ("CodeContests", 1.5, 256.0), ("Codeforces of open-r1", 2.0, 256.0),
        ("verifiable coding problems", 1.0, 64.0),
    ):  # fmt: skip
        row = read_row(ROWS[name][0]).row
        assert (row["time_limit"], row["memory_limit"]) == (seconds, megabytes)


@pytest.mark.parametrize(
    ("name", "level"),
    [("APPS", 2), ("TACO", 2.5), ("LiveCodeBench", 3), ("MATH", 1), ("KodCode", 1), ("CodeContests", 7)],
)
def test_levels_of_a_set(name: str, level: float) -> None:
    found, _ = item(ROWS[name][0])
    assert isinstance(found, Listed) and found.level == level


def test_private_tests_count_too_and_a_pickle_runs_nothing() -> None:
    task = task_of(ROWS["LiveCodeBench"][0])
    assert isinstance(task, CodeTask) and isinstance(task.tests, Scripts)
    assert task.tests.inputs == ("1\n", "7\n")
    evil = base64.b64encode(zlib.compress(b"cos\nsystem\n(S'exit 1'\ntR.")).decode()
    with pytest.raises(ValueError, match=r"`private_test_cases`: text that is neither tests nor JSON"):
        item({**ROWS["LiveCodeBench"][0], "private_test_cases": evil})


@pytest.mark.parametrize(
    ("row", "right", "wrong"),
    [
        ({"prompt": CHAT, "answer": "2"}, "[ANSWER] 2", "[ANSWER] 3"),
        ({"question": "1+1?", "answer": ["2", "two"]}, "[ANSWER] two", "[ANSWER] 3"),
        ({"question": "1+1?", "answer": {"value": "two", "aliases": ["2"]}}, "[ANSWER] 2", "[ANSWER] 3"),
        ({"Question": "1+1?", "ANSWER": 2}, "[ANSWER] 2", "[ANSWER] 3"),
        ({"question": "2^64?", "answer": 2**64}, f"[ANSWER] {2**64}", f"[ANSWER] {2**64 + 1}"),
        ({"question": "10^20?", "answer": 1e20}, f"[ANSWER] {10**20}", f"[ANSWER] {10**20 + 1}"),
        ({"question": "1+1?", "gold": float("nan"), "ans": 2}, "[ANSWER] 2", "[ANSWER] nan"),
        ({"question": "1/8?", "answer": 0.125}, "[ANSWER] 0.125", "[ANSWER] 0.12"),
        ({"instruction": "1+1?", "input": "", "gold": "2"}, "[ANSWER] 2", "[ANSWER] 3"),
        ({"messages": CHAT, "ground_truth": "2", "dataset": "gsm8k"}, "[ANSWER] 2", "[ANSWER] 3"),
        ({"question": "Echo.", "tests": [{"stdin": "1\n", "stdout": "1\n"}]}, ECHO, SHOUT),
        ({"question": "Twice.", "fn_name": "twice", "tests": [{"args": [3], "expected": 6}]}, TWICE, THRICE),
        ({"question": "Twice.", "function_name": "twice", "test_cases": [{"input": [3], "output": 6}]}, TWICE, THRICE),
        ({"id": "a", "question": "Twice.", "test_cases": ASSERTS}, TWICE, THRICE),
        ({"question": "Seven.", "inputs": [None], "outputs": ["7"]}, "print(input() + '7')", "print(input())"),
        ({"prompt": CHAT, "solution": "$2$"}, "[ANSWER] 2", "[ANSWER] 3"),
        ({"prompt": CHAT, "solution": "The answer is 2."}, "[ANSWER] 2", "[ANSWER] 3"),
        ({"question": "1+1?", "answer": "One and one make two.\nThe answer is $2$."}, "[ANSWER] 2", "[ANSWER] 3"),
        ({"question": "1+1?", "answer": "The answer is 2"}, "[ANSWER] 2", "[ANSWER] 12"),
        ({"prompt": CHAT, "solution": "<think>One and one.\nTwo.</think> <answer>2</answer>"}, "<answer>2</answer>", "<answer>3</answer>"),
        ({"question": "1+1?", "possible_answers": '["2", "two"]'}, "[ANSWER] two", "[ANSWER] 3"),
        ({"question": "1+1?", "answers": "['2' 'two'\n 'II']"}, "[ANSWER] II", "[ANSWER] 2two"),
        ({"question": "1+1?", "choices": "['1' '2']", "answer": "B"}, "[ANSWER] 2", "[ANSWER] A"),
        ({"question": "1+1?", "choices": ["1", "2", None], "answer": 1.0}, "[ANSWER] 2", "[ANSWER] A"),
        ({"question": "1+1?", "options": [{"key": "A", "value": "1"}, {"key": "B", "value": "2"}], "answer": "2"}, "[ANSWER] B", "[ANSWER] A"),
        ({"problem": "1+1?", "verification_info": "{'answer': '2'}"}, "[ANSWER] 2", "[ANSWER] 3"),
        ({"input": "1+1?", "A": "1", "B": "2", "C": "3", "D": "4", "target": "B"}, "[ANSWER] 2", "[ANSWER] A"),
        ({"Question": "1+1?", "Correct Answer": "2", "Incorrect Answer 1": "1", "Incorrect Answer 2": "3"}, "[ANSWER] 2", "[ANSWER] 3"),
        ({"question": "1+1?", "options": {"A": "1", "B": "2", "C": "0"}, "answer": "2"}, "[ANSWER] B", "[ANSWER] C"),
        ({"prompt": CHAT, "reward_model": {"ground_truth": "[-1, 5]"}}, "[ANSWER] [-1, 5]", "[ANSWER] 5"),
        ({"prompt": CHAT, "reward_model": {"ground_truth": "[\"2\"]"}}, "[ANSWER] 2", "[ANSWER] [2, 3]"),
        ({"question": "?", "answers": "[1, 2]"}, "[ANSWER] [1, 2]", "[ANSWER] 1"),
        ({"problem": "?", "solution": "$x=\\boxed{2}$ or $x=\\boxed{3}$."}, "[ANSWER] 2, 3", "[ANSWER] 3"),
        ({"problem": "?", "solution": "Up by $\\boxed{28}\\%$."}, "[ANSWER] 28%", "[ANSWER] 2800%"),
        ({"original_text": "?", "ans": "3(1/2)"}, "[ANSWER] 3.5", "[ANSWER] 1.5"),
        ({"question": "1+1?", "A": "1", "B": "0", "C": "3", "D": "4", "E": "2", "answer": "E"}, "[ANSWER] 2", "[ANSWER] A"),
        ({"question": "1+1?", "A": "1", "B": "2", "C": "3", "answer": "B"}, "[ANSWER] 2", "[ANSWER] A"),
        ({"question": "1+1?", "option_a": "1", "option_b": "2", "answer": "B"}, "[ANSWER] 2", "[ANSWER] A"),
        ({"question": "1+1?", "Option A": "1", "Option B": "3", "Option C": "2", "answer": 2}, "[ANSWER] C", "[ANSWER] A"),
        ({"question": "A+B?", "A": "1", "B": "1", "answer": "2"}, "[ANSWER] 2", "[ANSWER] B"),
        ({"question": "1+1?", "options": {"A": "1", "B": "2", "C": None}, "answer": "B"}, "[ANSWER] 2", "[ANSWER] C"),
        ({"question": "1+1?", "choices": ["1", "2"], "answer": "(B)"}, "[ANSWER] 2", "[ANSWER] A"),
        ({"question": "1+1?", "choices": ["1", "2"], "answer": "B. 2"}, "[ANSWER] 2", "[ANSWER] A"),
        ({"question": "?", "choices": ["5 m", "5 km", "6 m"], "answer": 0}, "[ANSWER] A. 5 m", "[ANSWER] 5"),
        ({"question": "?", "choices": ["50%", "50", "0.5"], "answer": 0}, "[ANSWER] A", "[ANSWER] 50"),
        ({"instruct_prompt": "Twice.", "entry_point": "twice", "test": UNIT}, TWICE, THRICE),
        ({"text": "Twice.", "test_list": str(ASSERTS)}, TWICE, THRICE),
        ({"text": "Twice.", "test_list": [], "challenge_test_list": ASSERTS}, TWICE, THRICE),
        ({"question": "Twice.", "fn_name": "twice", "inputs": [[1], [3]], "outputs": [2, 6]}, TWICE, THRICE),
        ({"question": "Copies.", "fn_name": "f", "inputs": [[1], [2]], "outputs": [[1], [2, 2]]}, "def f(n):\n    return [n] * n",
         "def f(n):\n    return [n] * n if n > 1 else n"),
        ({"question": "Echo.", "inputs": "[\"1\\n\"]", "outputs": "[\"1\\n\"]"}, ECHO, SHOUT),
        ({"question": "Echo.", "inputs": [["1"]], "outputs": [["1"]]}, ECHO, SHOUT),
        ({"prompt": "Sum.", "entry_point": "sum", "test_list": ["assert sum(1, 2) == 3"]},
         "def sum(a, b):\n    return a + b", "def sum(a, b):\n    return a"),
        ({"prompt": "Twice.", "test_list": ["assert Solution().twice(n=3) == 6"]}, METHOD, METHOD.replace("2", "3")),
        ({"prompt": "Twice.", "test_list": ["s = Solution()", "assert s.twice(3) == 6"]}, METHOD, METHOD.replace("2", "3")),
        ({"prompt": "def twice(n):\n", "entry_point": "twice", "test": TABLED + "def check(candidate):\n    inputs = [[1.5]]\n"
          "    results = [3.0]\n    for i, (inp, exp) in enumerate(zip(inputs, results)):\n"
          "        assertion(candidate(*inp), exp, 0)\n"}, TWICE + " + 1e-9", TWICE + " + 1e-3"),
    ],
)  # fmt: skip
def test_forms_of_any_file(row: dict[str, Any], right: str, wrong: str) -> None:
    task = task_of(row)
    assert passes(task, right) and not passes(task, wrong)


def test_a_choice_passes_by_its_letter_or_its_text_alone() -> None:
    task = task_of(ROWS["MMLU"][0])
    assert task.asked.text == "1+1?\n\nA. 1\nB. 2\nC. 3\nD. 4"
    numbers = {"question": "?", "choices": {"text": ["2", "1"], "label": ["1", "2"]}, "answerKey": "1"}
    assert passes(task_of(numbers), "[ANSWER] 1") and not passes(task_of(numbers), "[ANSWER] 2")


def test_an_instruction_has_its_input_below_it() -> None:
    assert task_of({"instruction": "Add.", "input": "1, 1", "answer": "2"}).asked.text == "Add.\n\n1, 1"


def test_a_conversation_is_its_question_and_what_the_system_is_told() -> None:
    asked = task_of({"prompt": CHAT, "answer": "2"}).asked
    assert asked.text == "1+1?" and asked.system.startswith("Be brief.\n\n")
    developed = task_of({"prompt": [{"role": "developer", "content": "Be brief."}, CHAT[1]], "answer": "2"}).asked
    assert (developed.text, developed.system) == (asked.text, asked.system)
    turns = [*CHAT, {"role": "assistant", "content": "2"}, {"role": "user", "content": "And 2+2?"}]
    assert task_of({"prompt": turns, "answer": "4"}).asked.text == "User: 1+1?\n\nAssistant: 2\n\nUser: And 2+2?"
    assert task_of({"prompt": [{"from": "human", "value": "1+1?"}], "answer": "2"}).asked.text == "1+1?"


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"question": "1+1?", "answer": None}, "`answer` is empty"),
        ({"question": "1+1?", "answer": float("nan")}, "`answer` must be text or a number"),
        ({"problem": "1+1?", "input_output": ""}, "`input_output` is empty"),
        ({"premise": "It rains.", "hypothesis": "It is wet.", "label": 0}, "no task in it"),
        ({"question": "1+1?", "answer": [[1, 2]]}, "`answer` is a list of lists"),
        ({"problem": "?", "answer": "proof", "problem_type": "Algebra"}, "`answer` is 'proof'"),
        (ROWS["CodeContests"][0] | {"input_file": "in.txt"}, "its programs read a file"),
        (ROWS["Codeforces of open-r1"][0] | {"input_mode": "file"}, "its programs read a file"),
        (ROWS["Codeforces of open-r1"][0] | {"interaction_format": "Ask."}, "its programs talk with a judge"),
        ({"prompt": "?", "reference_code": "df", "code_context": "import pandas"}, "a row of DS-1000"),
        ({"problem": "1+1?", "solution": "Two.", "type": "A", "level": "Level 1"}, "`solution` has no"),
        ({"question": "?", "choices": ["1", "2"], "answer": "B. 1"}, "the answer 'B. 1' is none of the choices"),
        ({"question": "?", "choices": ["1", "2"], "answer": "7"}, "the answer '7' is none of the choices"),
        (
            {"question": "?", "choices": ["1", None, "3"], "answer": 0},
            "`choices` is a list with a choice that has no text",
        ),
        (
            {"question": "?", "choices": [{"name": "1"}, {"name": "2"}], "answer": "A"},
            "`choices` is a list with a choice",
        ),
        ({"question": "?", "choices": [*map(str, range(27))], "answer": 1}, "`choices` is no list of 2 to 26"),
        (
            {"problem": "?", "verification_info": {"language": "cpp", "test_cases": [{"input": "", "output": ""}]}},
            "in cpp; only Python",
        ),
        ({"question": "Echo.", "inputs": ["1", "2"], "outputs": ["1", None]}, "`inputs`: a test without an output"),
        ({"question": "Sum.", "test_cases": [{"input": {"a": 1}, "output": 1}]}, "an input that is an object"),
        (
            {"question": "Sum.", "fn_name": "f", "tests": [{"input": {"a": 1}, "output": 1}]},
            "an input that is an object",
        ),
        ({"prompt": [{"role": "tool", "content": "x"}], "answer": "2"}, "`prompt` is neither text nor messages"),
        (
            {"prompt": "?", "test_list": ["class Mine(Bank):\n    pass", "assert Bank(3).get() == 3"]},
            "inherits from the program's `Bank`",
        ),
        (
            {"prompt": "?", "entry_point": "f", "test": "def test_a(request):\n    assert f(request)"},
            "`request` of test_a",
        ),
    ],
)
def test_what_cannot_be_read_is_named(row: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError) as raised:
        item(row)
    assert said in str(raised.value)


def write(path: Path, text: str) -> str:
    path.write_text(text)
    return str(path)


def test_rows_under_several_keys_are_no_file_of_tasks(tmp_path: Path) -> None:
    text = json.dumps({split: [{"question": "1+1?", "answer": "2"}] for split in ("test", "train")})
    with pytest.raises(UsageError, match=r"d\.json: rows under several keys, test, train; keep one of them"):
        read_tasks(write(tmp_path / "d.json", text), print)


def test_a_part_of_a_task_that_is_not_used_is_counted(tmp_path: Path) -> None:
    row = {"text": "Twice.", "test_list": ASSERTS, "challenge_test_list": ASSERTS}
    name, said = write(tmp_path / "d.jsonl", f"{json.dumps(row)}\n{json.dumps(row)}\n"), list[str]()
    assert len(read_tasks(name, said.append)) == 2
    assert said == [f"{name}: `challenge_test_list` of 2 rows is not used"]
    with pytest.raises(UsageError, match=r"d\.jsonl:1: `challenge_test_list` is not used; leave out --strict"):
        read_tasks(name, said.append, strict=True)


def test_how_a_file_was_read_is_said_once(tmp_path: Path) -> None:
    row = json.dumps({"problem": "1+1?", "answer": "2", "solution": "s"})
    said = list[str]()
    read_tasks(write(tmp_path / "d.jsonl", f"{row}\n{row}\n"), said.append, strict=True)
    assert [line.partition(": ")[2] for line in said] == [
        "read as DeepScaleR: `problem`, `answer`, reference from `solution`"
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("d.json", '[\n {"question": "1+1?", "answer": "2"},\n {"question": "2+2?", "answer": "4"}\n]'),
        ("d.json", '{"canary": "x", "examples": [{"input": "1+1?", "target": "2"}, {"input": "2+2?", "target": "4"}]}'),
        ("d.json", '{\n "a": {"question": "1+1?", "answer": "2"},\n "b": {"question": "2+2?", "answer": "4"}\n}'),
        ("d.json", '{"question": ["1+1?", "2+2?"], "answer": ["2", "4"]}'),
        ("d.json", '{"question": {"0": "1+1?", "1": "2+2?"}, "answer": {"0": "2", "1": "4"}}'),
        ("d.json", '{"features": [], "rows": [{"row_idx": 0, "row": {"question": "1+1?", "answer": "2"}}, '
         '{"row_idx": 1, "row": {"question": "2+2?", "answer": "4"}}]}'),
        ("d.csv", "Answer,Question\n2,1+1?\n4,2+2?\n"), ("d.tsv", "Question\tAnswer\n1+1?\t2\n2+2?\t4\n"),
        ("d.csv", "question;answer\n1+1?;2\n2+2?;4\n"), ("d.csv", "\ufeffid,PROBLEM,ANSWER\n1,1+1?,2\n2,2+2?,4\n"),
        ("d.csv", "1+1?,1,2,3,4,B\n2+2?,1,2,3,4,D\n"), ("d.csv", ",Question,A,B,C,D,Answer\n0,1+1?,1,2,3,4,B\n1,2+2?,1,2,3,4,D\n"),
    ],
)  # fmt: skip
def test_files_of_other_formats(tmp_path: Path, name: str, text: str) -> None:
    found = read_tasks(write(tmp_path / name, text), lambda said: None, strict=True)
    assert [passes(each.task, answer) for each in found.listed for answer in ("[ANSWER] 2", "[ANSWER] 4")] == [
        True, False, False, True,
    ]  # fmt: skip


def test_columns_that_a_user_names(tmp_path: Path) -> None:
    name = write(tmp_path / "d.csv", "frage,antwort,nummer\n1+1?,2,a\n")
    with pytest.raises(UsageError, match=r"the header names frage, antwort, nummer.*--columns prompt=frage"):
        read_tasks(name, pytest.fail)
    said = list[str]()
    (found,) = read_tasks(name, said.append, columns="prompt=frage,answer=antwort,id=nummer", strict=True).listed
    assert (found.task.asked.text, found.task_id) == ("1+1?", "a") and passes(found.task, "[ANSWER] 2")
    assert said == [f"{name}: read by the names of its columns: `frage`, `antwort`, task_id from `nummer`"]
    for wrong, what in (
        ("prompt", "names no column"), ("promt=a,answer=b", "did you mean prompt"), ("prompt=frage", "of the answer"),
    ):  # fmt: skip
        with pytest.raises(UsageError, match=what):
            read_tasks(name, pytest.fail, columns=wrong)
    with pytest.raises(UsageError, match="no good line in it"):
        read_tasks(name, said.append, columns="prompt=frage,answer=andere")
    assert "no `andere` in it" in said[-2]
