"""Questions as data sets write them: `question` or `prompt`, and `answer`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from kolmocli.errors import suggest
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


def question(record: Mapping[str, Any]) -> AnswerTask:
    """The task of a line. What stands before `####` in its answer is the working that a warm start imitates.

    Raises:
        ValueError: no question, no answer, or no such judge; one line.
        EnvironmentMissing: its judge is `math`, and math-verify is not installed.
    """
    asked = record.get("question") or record.get("prompt")
    if not isinstance(asked, str) or not asked.strip():
        raise ValueError("`question` must be text that is not empty")
    given = record.get("answer")
    if isinstance(given, bool) or not isinstance(given, str | int | float):
        raise ValueError("`answer` must be text or a number")
    whole = str(given)
    right = right_answer(whole)
    if not right:
        raise ValueError("`answer` is empty")
    judge = record.get("judge", "auto")
    if judge not in NAMES:
        raise ValueError(f"`judge` {judge!r} is none; {suggest(str(judge), NAMES)}")
    if judge == "math":
        require()
    working = _CALCULATOR.sub("", whole.rpartition(HASHES)[0]).strip()
    reference = f"{working}\n{TAG} {right}" if working else f"{TAG} {right}"
    return AnswerTask(
        prompt=Prompt(asked.strip(), _SYSTEM, asked.strip()), answer=right, judge=judge, reference=reference
    )
