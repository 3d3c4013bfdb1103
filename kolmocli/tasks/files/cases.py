"""Test cases in the forms in which data sets have them, as the keys that `code/shapes.py` reads.

| form | who has it |
|---|---|
| `{"inputs": […], "outputs": […], "fn_name": …}` | APPS, TACO, PRIME |
| `[{"input": …, "output": …, "type" or "testtype": …, "fn_name": …}]` | LiveCodeBench, PrimeIntellect, DeepCoder, open-r1 |
| `{"input": […], "output": […]}` | CodeContests |
| `["assert f(1) == 2", …]` | MBPP, AceCode |
| code | HumanEval, KodCode, BigCodeBench |

Each may be JSON within text, and may lie in an object under `test_cases`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kolmocli.plain import parsed
from kolmocli.tasks.files.values import is_empty, structured

_PYTHON = frozenset({"python", "python3", "py", "py3", "pypy3"})
_NAMES = ("fn_name", "func_name", "function_name", "entry_point")
_INPUTS = ("inputs", "input", "stdin", "args")
_OUTPUTS = ("outputs", "output", "expected_output", "expected_outputs", "expected", "stdout")


def read_cases(value: Any, fn_name: str | None = None) -> dict[str, Any]:
    """`test_list`, `test`, or `inputs` and `outputs` with perhaps `fn_name`; `answer` where there is one instead of tests;
    nothing for no tests. Raises ValueError for tests in another form."""
    if is_empty(value):
        return {}
    if isinstance(value, str):
        return _of_text(value, fn_name)
    if isinstance(value, Mapping):
        return _of_object(value, fn_name)
    if not isinstance(value, Sequence):
        raise ValueError("no tests that can be read")
    if all(isinstance(case, str) for case in value):
        if not any("assert" in case for case in value):
            raise ValueError("a list of tests that are no asserts")
        return {"test_list": list(value)}
    if all(isinstance(case, list) and len(case) == 2 for case in value):
        return _pairs([case[0] for case in value], [case[1] for case in value], fn_name)
    if all(isinstance(case, Mapping) for case in value):
        return _of_objects(value, fn_name)
    raise ValueError("no tests that can be read")


def joined_cases(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The tests of several columns as those of one."""
    parts = [part for part in parts if part]
    if len(parts) < 2:
        return parts[0] if parts else {}
    keys = {frozenset(part) for part in parts}
    if len(keys) > 1 or "test" in parts[0]:
        raise ValueError("tests in several columns that do not go together")
    lists = {key: [each for part in parts for each in part[key]] for key in parts[0] if key != "fn_name"}
    return lists | {key: parts[0][key] for key in parts[0] if key == "fn_name"}


def _of_text(text: str, fn_name: str | None) -> dict[str, Any]:
    found = structured(text)
    if found is not None:
        return read_cases(found, fn_name)
    if "assert" in text or "unittest" in text:
        return {"test": text}
    raise ValueError("text that is neither tests nor JSON")


def _of_object(value: Mapping[str, Any], fn_name: str | None) -> dict[str, Any]:
    language = value.get("language")
    if isinstance(language, str) and language.lower() not in _PYTHON:
        raise ValueError(f"tests of a program in {language}; only Python is judged")
    name = next((str(value[key]) for key in _NAMES if not is_empty(value.get(key))), fn_name)
    for key in ("test_cases", "tests", "functional", "test_code", "assert_case"):
        if not is_empty(value.get(key)):
            return read_cases(value[key], name)
    inputs = next((value[key] for key in _INPUTS if key in value), None)
    outputs = next((value[key] for key in _OUTPUTS if key in value), None)
    if inputs is not None and outputs is not None:
        return _pairs(_several(inputs), _several(outputs), name)
    for key in ("ground_truth", "answer"):
        if not is_empty(value.get(key)):
            return {"answer": value[key]}
    raise ValueError("no tests that can be read")


def _of_objects(cases: Sequence[Mapping[str, Any]], fn_name: str | None) -> dict[str, Any]:
    inputs = [next((case[key] for key in _INPUTS if key in case), None) for case in cases]
    outputs = [next((case[key] for key in _OUTPUTS if key in case), None) for case in cases]
    if any(each is None for each in outputs):
        raise ValueError("a test without `input` or `output`")
    first = cases[0]
    kind = str(first.get("testtype") or first.get("type") or "")
    metadata = first.get("metadata")
    places = [first, metadata if isinstance(metadata, Mapping) else {}]
    name = next((str(at[key]) for at in places for key in _NAMES if not is_empty(at.get(key))), fn_name)
    if "std" in kind.lower():
        name = None
    elif "func" in kind.lower() and name is None:
        raise ValueError("tests that call a function whose name is nowhere")
    return _pairs(["" if each is None else each for each in inputs], outputs, name, by_line="testtype" in first)


def _several(value: Any) -> list[Any]:
    """A list of inputs, or one that stands alone."""
    if isinstance(value, str):
        found = structured(value)
        return found if isinstance(found, list) and all(isinstance(each, str) for each in found) else [value]
    return list(value) if isinstance(value, list | tuple) else [value]


def _pairs(inputs: list[Any], outputs: list[Any], name: str | None, *, by_line: bool = False) -> dict[str, Any]:
    if not inputs and not outputs:
        return {}
    if any(isinstance(each, Mapping) for each in inputs):
        raise ValueError("an input that is an object; write text for a script, a list of arguments for a function")
    if name is None:
        if None in outputs:
            raise ValueError("a test without an output")
        read = [_printed("" if each is None else each) for each in inputs]
        return {"inputs": read, "outputs": [_printed(each) for each in outputs]}
    texts = [isinstance(each, str) for each in inputs]
    return {
        "fn_name": name.rpartition(".")[2],
        "inputs": [_arguments(each, by_line) for each in inputs],
        "outputs": [
            _result(each) if is_text else each for each, is_text in zip(outputs, texts, strict=False)
        ] + outputs[len(texts) :],
    }  # fmt: skip


def _printed(value: Any) -> str:
    """A line for each item of a list, as APPS has them; other values as they are printed."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(" ".join(map(str, each)) if isinstance(each, list) else str(each) for each in value)
    return str(value)


def _arguments(value: Any, by_line: bool) -> list[Any]:
    """The arguments of a call: a list of them, or JSON, one for each line as LiveCodeBench has it."""
    if not isinstance(value, str):
        return value if isinstance(value, list) else [value]
    if not by_line:
        whole = _result(value)
        if isinstance(whole, list):
            return whole
    return [_result(line) for line in value.split("\n") if line.strip()]


def _result(text: Any) -> Any:
    if not isinstance(text, str):
        return text
    try:
        return parsed(text)
    except ValueError:
        return text
