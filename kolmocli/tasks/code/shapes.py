"""Records of files as tasks with tests: HumanEval's, MBPP's, and scripts with what they read and print.

Each builder raises ValueError for a record that is no task, with one line that names what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from kolmocli.tasks.code import prompt
from kolmocli.tasks.code.asserts import Asserts
from kolmocli.tasks.code.calls import called_functions, defined, given_to_check, is_used
from kolmocli.tasks.code.limits import allowance
from kolmocli.tasks.code.outputs import COMPARISONS, Compare
from kolmocli.tasks.code.rewriting import parse_tests
from kolmocli.tasks.code.scripts import Scripts
from kolmocli.tasks.code.task import CodeTask

_REFERENCES = ("canonical_solution", "code", "program")


def human_eval(record: Mapping[str, Any]) -> CodeTask:
    """A function whose beginning is the prompt (`prompt`, `entry_point`), and `test`: asserts of it, or of the `candidate`
    that a function `check` is given. A prompt in words is taken too; then the answer is the whole program."""
    asked, function = _text(record, "prompt"), _text(record, "entry_point")
    test = _text(record, "test")
    if not function.isidentifier():
        raise ValueError(f"`entry_point` {function!r} is no name of a function")
    opening = _opening(asked, function)
    tree = parse_tests(test)
    given = given_to_check(tree)
    if not is_used(given or function, tree) and not is_used(function, tree):
        raise ValueError(f"the tests never call `entry_point` {function}")
    code = test if given is None else f"{test}\n\ncheck({function})\n"
    task_id = _task_id(record)
    return CodeTask(
        prompt=prompt.function_to_complete(asked) if opening else prompt.function_in_words(asked, function),
        tests=Asserts(code, [function], prompt.closed(opening) if opening else "", task_id or function),
        entry_point=function, opening=opening, reference=_reference(record), task_id=task_id, allowance=allowance(record),
    )  # fmt: skip


def mbpp(record: Mapping[str, Any]) -> CodeTask:
    """A function in words (`text` or `prompt`), and `test_list`: asserts, which run after `test_imports` and
    `test_setup_code`. The tests say what the function is called; how it is called is shown, what it returns is not."""
    asked = _text(record, "text", "prompt")
    setup = "\n".join([*_texts(record, "test_imports"), *_texts(record, "test_setup_code")])
    tests = "\n".join(_texts(record, "test_list"))
    tree = parse_tests(tests)
    reference = _reference(record)
    functions = called_functions(tree, setup, reference or "")
    function = _text(record, "entry_point") if record.get("entry_point") is not None else next(iter(functions), None)
    if function is None:
        raise ValueError("the tests call no function of the program's")
    if function not in functions:
        raise ValueError(f"the tests never call `entry_point` {function}")
    task_id = _task_id(record)
    return CodeTask(
        prompt=prompt.function_in_words(asked, functions[function]), tests=Asserts(tests, list(functions), setup, task_id or function),
        entry_point=function, reference=reference, task_id=task_id, allowance=allowance(record),
    )  # fmt: skip


def script(record: Mapping[str, Any]) -> CodeTask:
    """A program in words (`question` or `prompt`) that reads each of `inputs` and prints what is in `outputs`,
    compared as `compare` says: by `lines`, `tokens` or `numbers`."""
    asked = _text(record, "question", "prompt")
    tests = Scripts(tuple(_texts(record, "inputs")), tuple(_texts(record, "outputs")), _compare(record))
    return CodeTask(
        prompt=prompt.script(asked), tests=tests, reference=_reference(record), task_id=_task_id(record),
        allowance=allowance(record),
    )  # fmt: skip


def _compare(record: Mapping[str, Any]) -> Compare | None:
    """How its outputs are compared, where it says so."""
    given = record.get("compare")
    if given is not None and given not in COMPARISONS:
        raise ValueError(f"`compare` {given!r}: there are {', '.join(COMPARISONS)}")
    return given


def _opening(asked: str, function: str) -> str:
    """The prompt where it is code, else nothing."""
    if re.search(rf"^(?:async )?def {function}\b", asked, re.MULTILINE):
        prompt.closed(asked)
        return asked
    others = defined(asked)
    if others:
        raise ValueError(f"`entry_point` {function} does not exist; the prompt defines {', '.join(others)}")
    return ""


def _text(record: Mapping[str, Any], *keys: str) -> str:
    """What stands under the first of these keys that is there."""
    key = next((key for key in keys if record.get(key) is not None), None)
    if key is None:
        raise ValueError(f"no `{'` and no `'.join(keys)}`")
    if not isinstance(record[key], str) or not record[key].strip():
        raise ValueError(f"`{key}` is {'empty' if isinstance(record[key], str) else 'no text'}")
    return str(record[key])


def _texts(record: Mapping[str, Any], key: str) -> list[str]:
    """Texts, or one alone; none where the key is not there."""
    found = record.get(key)
    if found is None:
        return []
    texts = [found] if isinstance(found, str) else found
    if not isinstance(texts, Sequence) or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"`{key}` is no list of texts")
    return list(texts)


def _reference(record: Mapping[str, Any]) -> str | None:
    key = next((key for key in _REFERENCES if record.get(key) is not None), None)
    if key is not None and not isinstance(record[key], str):
        raise ValueError(f"`{key}` is no text")
    return None if key is None else record[key]


def _task_id(record: Mapping[str, Any]) -> str | None:
    return None if record.get("task_id") is None else str(record["task_id"])
