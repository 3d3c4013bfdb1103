"""Questions as data sets write them: `question` or `prompt`, and `answer`, or a list of accepted ones."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from kolmocli.errors import suggest
from kolmocli.tasks.answers.accepted import AcceptedTask
from kolmocli.tasks.answers.formulas import require
from kolmocli.tasks.answers.judges import NAMES
from kolmocli.tasks.answers.parsing import TAG
from kolmocli.tasks.answers.places import HASHES, right_answer
from kolmocli.tasks.answers.task import AnswerTask
from kolmocli.tasks.base import Prompt

_SYSTEM = f"""\
You answer questions. Think first, in as many lines as you need. Then write the line "{TAG} " with the answer alone, and \
nothing after it."""
_CALCULATOR = re.compile(r"<<[^<>\n]*>>")
"""GSM8K's notes of what a calculator was asked: no part of what is said."""


def _is_answer(value: Any) -> bool:
    """NaN is how tables write that there is none."""
    return isinstance(value, str | int | float) and not isinstance(value, bool) and value == value


def question(record: Mapping[str, Any]) -> AnswerTask:
    """The task of a line. The text before `####` in its answer, or in `solution`, is the working that a
    warm start imitates.

    Raises:
        ValueError: no question, no answer, or no such judge; one line.
        EnvironmentMissing: its judge is `math`, and math-verify is not installed.
    """
    key = next((key for key in ("question", "prompt") if record.get(key)), "question")
    asked = record.get(key)
    if not isinstance(asked, str) or not asked.strip():
        raise ValueError(f"`{key}` must be text that is not empty")
    given = record.get("answer")
    several = given if isinstance(given, list) and given else [given]
    if not all(map(_is_answer, several)):
        raise ValueError("`answer` must be text or a number")
    whole = str(several[0])
    right, *others = (right_answer(str(each)) for each in several)
    if not right:
        raise ValueError("`answer` is empty")
    judge = record.get("judge", "auto")
    if judge not in NAMES:
        raise ValueError(f"`judge` {judge!r} is none; {suggest(str(judge), NAMES)}")
    if judge == "math":
        require()
    told, solved = record.get("system"), record.get("solution")
    working = _CALCULATOR.sub("", solved if isinstance(solved, str) else whole.rpartition(HASHES)[0]).strip()
    reference = f"{working}\n{TAG} {right}" if working else f"{TAG} {right}"
    prompt = Prompt(asked.strip(), f"{told}\n\n{_SYSTEM}" if isinstance(told, str) else _SYSTEM, asked.strip())
    if more := tuple(filter(None, others)):
        return AcceptedTask(prompt=prompt, answer=right, others=more, judge=judge, reference=reference)
    return AnswerTask(prompt=prompt, answer=right, judge=judge, reference=reference)
