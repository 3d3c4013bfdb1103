"""Records of files as tasks with tests: HumanEval's, MBPP's, EvalPlus's, calls of a function, and scripts with what they read and print.

Each builder raises ValueError for a record that is no task, with one line that names what is wrong.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from kolmocli.errors import UsageError
from kolmocli.sandbox.base import Call
from kolmocli.tasks.code import prompt
from kolmocli.tasks.code.asserts import Asserts
from kolmocli.tasks.code.calls import (
    assigned,
    bound,
    called_by_name,
    called_functions,
    defined,
    free,
    given_to_check,
    is_used,
    parsed,
)
from kolmocli.tasks.code.checks import Check, Checks, Relation
from kolmocli.tasks.code.classes import defined_classes
from kolmocli.tasks.code.compared import Compared
from kolmocli.tasks.code.frameworks import plain_tests
from kolmocli.tasks.code.imports import imported, lacking
from kolmocli.tasks.code.languages import written_in
from kolmocli.tasks.code.limits import allowance
from kolmocli.tasks.code.objects import Method, Objects, without_objects
from kolmocli.tasks.code.outputs import COMPARISONS, Compare
from kolmocli.tasks.code.prompt import program_of_completion
from kolmocli.tasks.code.rewriting import parse_tests
from kolmocli.tasks.code.scripts import Scripts
from kolmocli.tasks.code.task import CodeTask

_REFERENCES = ("canonical_solution", "code", "program")


def human_eval(record: Mapping[str, Any]) -> CodeTask:
    """A function whose beginning is the prompt (`prompt`, `entry_point`), and `test`: asserts of it, or of the `candidate`
    that a function `check` is given, or tests of pytest or unittest. A prompt in words is taken too; then the answer is the
    whole program. Without `entry_point` it is what the tests import, or call, or what the prompt defines last.

    `entry_point` may be a method, `Solution().twice`, as LeetCode has it; `opening` is the code that stands above an answer
    then, and elsewhere where the prompt is words.
    """
    asked, reference = _text(record, "prompt"), _reference(record)
    begun = prompt.closed(asked) if prompt.is_code(asked) else ""
    known = [text for text in (reference, begun) if text]
    names, given_test = [name for text in known for name in (*defined(text), *assigned(text))], _text(record, "test")
    test = plain_tests(given_test, names)
    tree, named = parse_tests(test), record.get("entry_point")
    if any(named in defined_classes(text) for text in known):
        tree = called_by_name(tree, str(named))
    tree, objects = without_objects(tree, assigned(begun), known, assigned(reference or ""))
    not_asked = objects.errors + objects.constants
    taken = [name for name in imported(given_test, names) if is_used(name, tree)]
    here = bound(tree)
    own = [name for name in defined(reference or "") if name not in here and is_used(name, tree)]
    entry = _entry(record, tree, asked, [*taken, *objects.classes], own, not_asked)
    method = Method.of(entry)
    if method is not None:
        objects = replace(objects, methods=(method, *(each for each in objects.methods if each != method)))
    whole = program_of_completion(asked if prompt.is_code(asked) else "", None, reference or "")
    methods, objects = objects.methods, replace(objects, imports=lacking(whole, given_test))
    function = entry if method is None else method.function
    if not function.isidentifier():
        raise ValueError(f"`entry_point` {entry!r} is no name of a function")
    if methods:
        above = asked if record.get("opening") is None else _text(record, "opening")
        opening = above if prompt.is_code(above) else ""
    else:
        opening = _opening(asked, function)
    given = given_to_check(tree)
    called = [each.function for each in methods]
    if not any(is_used(name, tree) for name in {given or function, function, *called, *objects.classes}):
        raise ValueError(f"the tests never call `entry_point` {entry}")
    code = ast.unparse(tree) + ("" if given is None else f"\n\ncheck({function})\n")
    task_id = _task_id(record)
    handed = [name for name in (*taken, *own) if name not in not_asked and not name.isupper()]  # `NORTH` is no function
    stubs = dict.fromkeys([*called, function, *_others(tree, opening, function, handed)])
    functions = [name for name in stubs if name not in objects.classes + objects.errors]
    what = "class" if function in objects.classes else "function"
    asked_for = dict.fromkeys([entry, *objects.classes])
    words = prompt.function_in_words(asked, *asked_for, what=what, used=objects.constants, files=objects.files)
    return CodeTask(
        prompt=prompt.function_to_complete(asked, what, objects.files) if opening and not methods else words,
        tests=Asserts(code, functions, prompt.closed(opening) if opening else "", task_id or function, objects),
        entry_point=function, opening=opening, reference=reference, task_id=task_id, objects=objects,
        allowance=allowance(record),
    )  # fmt: skip


def mbpp(record: Mapping[str, Any]) -> CodeTask:
    """A function in words (`text` or `prompt`), and `test_list`: asserts, which run after `test_imports` and
    `test_setup_code`. The tests say what the function is called; how it is called is shown, what it returns is not."""
    asked = _text(record, "text", "prompt", "question")
    setup = "\n".join([*_texts(record, "test_imports"), *_texts(record, "test_setup_code")])
    tests = "\n".join(_texts(record, "test_list"))
    reference = _reference(record)
    if any(name[:1].isupper() for name in free(parsed(setup))):  # it makes objects of the program
        setup, tests = "", f"{setup}\n{tests}"
    code = [reference] if reference else []
    tree, objects = without_objects(parse_tests(tests), bound(parsed(setup)), code, assigned(reference or ""))
    tests = ast.unparse(tree)
    entry = _text(record, "entry_point") if record.get("entry_point") is not None else None
    method = None if entry is None else Method.of(entry)
    entry = entry if method is None else method.function
    functions = called_functions(tree, setup, reference or "", entry)
    function = entry or next(iter(functions), None)
    if function is None:
        raise ValueError("the tests call no function of the program's")
    if function not in functions:
        raise ValueError(f"the tests never call `entry_point` {function}")
    shown = next(
        (f"{m.owner}().{functions[function]}" for m in objects.methods if m.function == function), functions[function]
    )
    task_id = _task_id(record)
    names = [name for name in functions if name not in objects.classes + objects.errors]
    return CodeTask(
        prompt=prompt.function_in_words(asked, shown, what="class" if function in objects.classes else "function", used=objects.constants, files=objects.files),
        tests=Asserts(tests, names, setup, task_id or function, objects),
        entry_point=function, reference=reference, task_id=task_id, objects=objects, allowance=allowance(record),
    )  # fmt: skip


def script(record: Mapping[str, Any]) -> CodeTask:
    """A program in words (`question` or `prompt`) that reads each of `inputs` and prints what is in `outputs`,
    compared as `compare` says: by `lines`, `tokens` or `numbers`. It is written in `language`: python, cpp or javascript."""
    asked, language = _text(record, "question", "prompt"), written_in(record)
    # Windows' line ends would reach a program in C++ or JavaScript as a part of its lines.
    inputs = tuple(text.replace("\r\n", "\n") for text in _texts(record, "inputs"))
    outputs = tuple(_texts(record, "outputs"))
    return CodeTask(
        prompt=prompt.script(asked, language), tests=Scripts(inputs, outputs, _compare(record), language=language),
        language=language, reference=_reference(record), task_id=_task_id(record),
        allowance=allowance(record),
    )  # fmt: skip


def _compare(record: Mapping[str, Any]) -> Compare | None:
    """Comparison of its outputs, where it names one."""
    given = record.get("compare")
    if given is not None and given not in COMPARISONS:
        raise ValueError(f"`compare` {given!r}: there are {', '.join(COMPARISONS)}")
    return given


def calls(record: Mapping[str, Any]) -> CodeTask:
    """A function in words (`question` or `prompt`), called `fn_name`: each of `inputs` is a list of its arguments, and each
    of `outputs` what it returns, as JSON has it. It may be a method of a class `Solution`."""
    asked, function = _text(record, "question", "prompt"), _text(record, "fn_name")
    inputs, outputs = record.get("inputs"), record.get("outputs")
    if not function.isidentifier():
        raise ValueError(f"`fn_name` {function!r} is no name of a function")
    if not isinstance(inputs, list) or not isinstance(outputs, list) or len(inputs) != len(outputs) or not inputs:
        raise ValueError("`inputs` and `outputs` are no lists of equal length")
    if not all(isinstance(given, list) for given in inputs):
        raise ValueError("`inputs` of a function are no lists of arguments")
    wrapped = all(isinstance(wanted, list) and len(wanted) == 1 for wanted in outputs)
    relation: Relation = "wrapped" if wrapped else "json"
    try:
        checks = tuple(
            Check(Call.of(function, *given), wanted, relation) for given, wanted in zip(inputs, outputs, strict=True)
        )
    except UsageError as error:
        raise ValueError(str(error)) from None
    return CodeTask(
        prompt=prompt.function_in_words(asked, function), tests=Checks(checks), entry_point=function, opening=prompt.annotated(asked),
        reference=_reference(record), task_id=_task_id(record), allowance=allowance(record),
        objects=Objects(methods=(Method("Solution", function, function),)), either=True,
    )  # fmt: skip


def compared(record: Mapping[str, Any]) -> CodeTask:
    """A function as EvalPlus has it (`prompt`, `entry_point`, `canonical_solution`): what it returns for `base_input` and
    `plus_input` is compared with what the reference returns, within `atol`."""
    asked, function, reference = (
        _text(record, "prompt"),
        _text(record, "entry_point"),
        _text(record, "canonical_solution"),
    )
    if not function.isidentifier():
        raise ValueError(f"`entry_point` {function!r} is no name of a function")
    inputs = [given for key in ("base_input", "plus_input") for given in _listed(record, key)]
    opening = _opening(asked, function) if prompt.is_code(asked) else ""
    try:
        made = [Call.of(function, *given) for given in inputs]
    except UsageError as error:
        raise ValueError(str(error)) from None
    relation: Relation = "members" if function in _UNORDERED else "root" if function == "find_zero" else "near"
    task_id = _task_id(record)
    program = program_of_completion(opening, function, reference)
    tests = Compared(program, made, task_id or function, relation, float(record.get("atol") or 0))
    return CodeTask(
        prompt=prompt.function_to_complete(asked) if opening else prompt.function_in_words(asked, function), tests=tests,
        entry_point=function, opening=opening, reference=reference, task_id=task_id, allowance=allowance(record),
    )  # fmt: skip


_UNORDERED = frozenset(
    ("similar_elements", "find_char_long", "common_in_nested_lists", "extract_singly", "larg_nnum", "intersection_array",
     "find_dissimilar", "Diff")
)  # fmt: skip
"""Functions of MBPP whose results EvalPlus compares as sets."""


def _listed(record: Mapping[str, Any], key: str) -> list[list[Any]]:
    found = record.get(key) or []
    if not isinstance(found, list) or not all(isinstance(given, list) for given in found):
        raise ValueError(f"`{key}` is no list of lists of arguments")
    return found


def _entry(
    record: Mapping[str, Any],
    tree: ast.Module,
    asked: str,
    taken: Sequence[str],
    used: Sequence[str],
    others: Sequence[str],
) -> str:
    """The function or class that is asked for; `taken` is what the tests take from the program, `used` what else of it they name,
    `others` what is none of them."""
    if record.get("entry_point") is not None:
        return _text(record, "entry_point")
    handed = next(filter(None, map(_checked, ast.walk(tree))), None)
    found = [*taken, *([handed] if handed else []), *called_functions(tree, "", ""), *used]
    found = [name for name in found if name not in others]
    named = found or defined(prompt.closed(asked) if prompt.is_code(asked) else "")[-1:]
    if not named:
        raise ValueError("no `entry_point`, and the tests call no function of the program's")
    return named[0]


def _checked(node: ast.AST) -> str | None:
    """The function that `check` is called with, where it is here."""
    match node:
        case ast.Call(func=ast.Name(id="check"), args=[ast.Name(id=name)]):
            return name
    return None


def _others(tree: ast.Module, opening: str, function: str, taken: Sequence[str]) -> list[str]:
    """Functions that the tests call or hand on besides the one that is asked for, where the prompt does not define them."""
    own = bound(parsed(prompt.closed(opening))) if opening else set()
    found = dict.fromkeys([*called_functions(tree, "", ""), *taken])
    return [name for name in found if name != function and name not in own]


def _opening(asked: str, function: str) -> str:
    """The prompt where it is code, else nothing."""
    if re.search(rf"^(?:(?:async )?def|class) {function}\b", asked, re.MULTILINE):
        prompt.closed(asked)
        return asked
    others = defined(asked)
    if others:
        raise ValueError(f"`entry_point` {function} does not exist; the prompt defines {', '.join(others)}")
    return ""


def _text(record: Mapping[str, Any], *keys: str) -> str:
    """Text under the first of these keys that is there."""
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
