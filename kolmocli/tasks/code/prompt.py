"""Prompts for programming problems, and the program in an answer."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from functools import lru_cache

from kolmocli.tasks.base import Prompt
from kolmocli.tasks.code.languages import Written

_INDENT = "    "
_ANNOTATIONS = re.compile(r"\b(?:Dict|List|Optional|Set|Tuple|Union)(?=\[)")
_RULES = """\
Only the modules of Python's standard library that compute are there: no files, no network, no other processes. Answer \
with the code alone, in one code block."""
_WITH_FILES = """\
Python's standard library is there, for files too: no network, no other processes. Answer with the code alone, in one code block."""
_TO_COMPLETE = "Complete a Python {0}. Give the whole {0}, with what it imports. {1}"
_IN_WORDS = "Write a Python {}. {}"
_SCRIPT = "Write a {} program that reads its input from standard input and prints its output. {}"
_ELSEWHERE = """\
Its standard library is there: no other packages, no files, no network, no other processes. Answer with the code alone, in one \
code block."""
_LANGUAGES: dict[Written, tuple[str, str]] = {
    "python": ("Python", _RULES), "cpp": ("C++17", _ELSEWHERE), "javascript": ("JavaScript (Node.js)", _ELSEWHERE),
}  # fmt: skip


def function_to_complete(code: str, what: str = "function", files: bool = False) -> Prompt:
    """For a function, or a class, whose beginning is given; `files` says whether it has files."""
    return Prompt(code, _TO_COMPLETE.format(what, _WITH_FILES if files else _RULES))


def function_in_words(
    words: str, *called: str, what: str = "function", used: Sequence[str] = (), files: bool = False
) -> Prompt:
    """For a function, or a class, that is described. `called` is its name, or a call of it: never what that returns. `used` are names of
    values that the tests read."""
    tests = f"The tests call {_listed(called)}."
    if used:
        tests += f" They use {_listed(used)}."
    return Prompt(f"{words.rstrip()}\n{tests}", _IN_WORDS.format(what, _WITH_FILES if files else _RULES))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def script(words: str, language: Written = "python") -> Prompt:
    return Prompt(words, _SCRIPT.format(*_LANGUAGES[language]))


def program_of_completion(prompt_code: str, entry_point: str | None, text: str) -> str:
    """The program that an answer stands for, where its prompt is code: the prompt's, and then the answer.

    An answer goes on from the prompt, with a body, or brings the whole function, which then replaces the prompt's. Nothing
    of it is parsed here, for it is a stranger's. A body that lost the indentation of its first line, as answers do that are
    stripped of white space, gets it back.
    """
    if not prompt_code:
        return text
    if entry_point is not None and _defines(entry_point).search(text):
        return f"{closed(prompt_code)}\n\n{text}"
    body = text.lstrip("\n")
    if body and not body[0].isspace():
        body = _INDENT + body
    opening = prompt_code.rstrip(" ")
    return opening + ("" if opening.endswith("\n") else "\n") + body


@lru_cache(1024)
def _defines(entry_point: str) -> re.Pattern[str]:
    name = re.escape(entry_point)
    return re.compile(rf"^(?:(?:async )?def|class) {name}\b|^{name}\s*[:=]", re.MULTILINE)


def annotated(asked: str) -> str:
    """The import of what a prompt's code has in its annotations; the sites that such code is from have it above each program."""
    names = sorted(set(_ANNOTATIONS.findall(asked)))
    return f"from typing import {', '.join(names)}\n" if names else ""


@lru_cache(1024)
def closed(prompt_code: str) -> str:
    """The code of a prompt as a program of its own, whose last function does nothing. Raises ValueError."""
    for code in (prompt_code.rstrip() + "\n", f"{prompt_code.rstrip()}\n{_INDENT}pass\n"):
        try:
            compile(code, "<prompt>", "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as error:
            problem = error
        else:
            return code
    raise ValueError(f"the prompt is no beginning of a program: {problem}")


@lru_cache(1024)
def is_code(text: str) -> bool:
    """Whether a prompt is code, and not words: the beginning of a program that defines, imports or assigns something."""
    try:
        body = ast.parse(closed(text)).body
    except ValueError:
        return False
    return any(not isinstance(node, ast.Expr) for node in body)
