"""Columns by their names, where a row is of no set that is known by name; and those that a user names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kolmocli.errors import UsageError, suggest
from kolmocli.tasks.answers.places import STATED
from kolmocli.tasks.files.layouts import Columns
from kolmocli.tasks.files.values import column, value_at

NATIVE = ("question", "prompt", "text")
PROMPTS = (
    *NATIVE, "problem", "instruction", "query", "question_content", "problem_statement", "problem_description", "description",
    "question_text", "instruct_prompt", "puzzle", "messages", "conversations", "content", "input", "task",
)  # fmt: skip
ANSWERS = (
    "answer", "final_answer", "answers", "gold", "gt", "ground_truth", "expected_answer", "golden_answer", "golden_answers",
    "gold_answer", "correct_answer", "correct", "answerKey", "answer_key", "golden", "gt_answer",
    "reference_answer", "possible_answers", "target", "final_ans", "ans", "label",
)  # fmt: skip
TESTS = (
    "test_list", "test", "test_cases", "input_output", "tests", "unit_tests", "public_test_cases", "public_tests",
    "official_tests", "verification_info", "reward_model.ground_truth", "challenge_test_list", "test_code", "testcase",
    "testcases", "asserts", "assertion",
)  # fmt: skip
CHOICES = ("choices", "options")
_LETTERED = ("option_a", "optiona", "option a", "choice_a", "choicea", "opt_a", "opa")
"""The first of the columns of choices, where each has one of its own."""
CONTEXTS = ("body", "passage", "context", "article", "support", "premise", "story")
"""Columns of text above a question."""
REFERENCES = (
    "canonical_solution", "code", "program", "solution", "solutions", "gold_standard_solution", "reference_solution",
    "reference", "completion", "rationale",
)  # fmt: skip
IDS = ("task_id", "id", "question_id", "problem_id", "unique_id", "uid", "uuid", "idx")
EVIDENCE = frozenset(
    {
        *(path.split(".")[0] for path in TESTS), *CHOICES, *CONTEXTS, "base_input", "plus_input", "inputs", "outputs",
        "private_test_cases", "private_tests", "generated_tests", "checker", "generated_checker", "image", "images", "table",
        "option1", "option_1", "choice1", "choice_1", "contexts", "passages", "paragraphs", "documents",
    }
)  # fmt: skip
"""Columns that would be a part of the task, where a row has them."""
_OWN = {"prompt", "answer", "tests", "choices", "reference", "starter", "entry_point", "fn_name", "level", "task_id"}
_SHORT = 80
"""Characters of a solution that is an answer, as TRL's examples have it."""
_OTHER = {"id": "task_id", "question": "prompt", "test": "tests", "solution": "reference"}


def guessed(row: Mapping[str, Any]) -> Columns:
    """The columns of a row, as far as their names say it."""
    columns = Columns(
        prompt=_first(row, PROMPTS), reference=_first(row, REFERENCES), starter=_first(row, ("starter_code",)),
        entry_point=_first(row, ("entry_point",)), fn_name=_first(row, ("fn_name", "func_name", "function_name")),
        level=_first(row, ("level",)), task_id=_first(row, IDS),
        time_limit=_first(row, ("time_limit",)), memory_limit=_first(row, ("memory_limit",)),
    )  # fmt: skip
    if value_at(row, "inputs") is not None and value_at(row, "outputs") is not None:
        first = next((key for key in TESTS[:2] if value_at(row, key) is not None), "")
        return replace(columns, tests=(first,) if first else ("inputs", "outputs"))
    if tests := _first(row, TESTS):
        also = {"public_test_cases": "private_test_cases", "public_tests": "private_tests"}.get(tests, "")
        return replace(columns, tests=(tests, also) if also and value_at(row, also) is not None else (tests,))
    answer = _first(row, ANSWERS)
    above = _first(row, CONTEXTS) if answer and columns.prompt else ""
    if above and isinstance(value_at(row, above), str) and above != columns.prompt:
        columns = replace(columns, prompt=f"{above} + {columns.prompt}")
    if columns.prompt.lower() == "instruction" and isinstance(value_at(row, "input"), str):
        columns = replace(columns, prompt=f"{columns.prompt} + {column(row, 'input')}")
    offered = _first(row, CHOICES) or _apart(row, answer)
    solution = "" if answer else value_at(row, columns.reference)
    text = str(solution) if isinstance(solution, str | list) else ""
    boxed = "\\boxed" in text or STATED.search(text) is not None
    short = isinstance(solution, str) and columns.reference.lower() == "solution" and 0 < len(solution) <= _SHORT
    if text.rstrip().endswith("</answer>") or (not boxed and short and "\n" not in text):
        return replace(columns, answer=columns.reference, reference="", choices=offered)
    return replace(columns, answer=columns.reference if boxed else answer, choices=offered, boxed=boxed)


def _apart(row: Mapping[str, Any], answer: str) -> str:
    """The first two of the columns of choices, where each has one of its own. `A` is one if the answer is such a letter."""
    first = _first(row, _LETTERED)
    if not first and isinstance(said := value_at(row, answer), str) and said in row and len(said) == 1:
        first = "A"
    second = first[:-1] + chr(ord(first[-1]) + 1) if first else ""
    return f"{first} + {second}" if first and value_at(row, second) is not None else ""


def named(text: str) -> Columns:
    """Columns that a user names: `prompt=problem,answer=solution`.

    Raises:
        UsageError: something else than names of what a row holds, each with a column.
    """
    found: dict[str, Any] = {}
    for each in text.split(","):
        what, equals, name = (part.strip() for part in each.partition("="))
        what = _OTHER.get(what, what)
        if not equals or not name:
            raise UsageError(f"columns: {each.strip()!r} names no column; write prompt=problem,answer=solution")
        if what not in _OWN:
            raise UsageError(f"columns: {what}: no such thing; {suggest(what, sorted(_OWN))}")
        found[what] = (*found.get(what, ()), name) if what == "tests" else name
    if "prompt" not in found or not found.keys() & {"answer", "tests"}:
        raise UsageError("columns: name the column of the prompt, and that of the answer or the tests")
    return Columns(**found)


def is_native(columns: Columns) -> bool:
    """Whether these are the names that this project's own files have."""
    own = {"answer": ("", "answer"), "choices": ("",), "level": ("", "level"), "task_id": ("", "task_id")}
    return (
        columns.prompt in NATIVE
        and all(getattr(columns, key) in names for key, names in own.items())
        and columns.tests in ((), ("test_list",), ("test",), ("inputs", "outputs"))
        and not columns.boxed
        and not columns.fn_name
    )


def _first(row: Mapping[str, Any], paths: tuple[str, ...]) -> str:
    """The first of these columns that is there and not empty, as the row spells it."""
    for path in paths:
        if value_at(row, path) is not None:
            top = column(row, path.split(".")[0]) or ""
            return ".".join([top, *path.split(".")[1:]])
    return ""
