"""One function that is to be found from examples."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from kolmocli.curriculum.base import Bucket
from kolmocli.sandbox.base import Call
from kolmocli.tasks.base import Prompt, TaskSource
from kolmocli.tasks.code.checks import Check, Checks
from kolmocli.tasks.code.task import CodeTask
from kolmocli.tasks.examples.shapes import Function, SubjectName
from kolmocli.tasks.examples.subjects import SUBJECTS, Subject
from kolmocli.tasks.outcome import Outcome

_HELD_OUT = 5
"""One function in so many is for evaluation."""
_FEWEST, _HIDDEN = 2, 4
"""Inputs that are shown at least, and that are drawn to be kept."""
_NAME = "f"

_SYSTEM = """\
You are shown what a function of Python returns for some inputs. Write the expression that it returns, on one line and \
nothing else. It has to hold for other inputs too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleTask(CodeTask):
    """The first `shown` of the checks are in the prompt; the landmarks of its subject follow, and then more."""

    subject: SubjectName
    shown: int

    def relabelled(self, outcome: Outcome, source: TaskSource) -> ExampleTask | None:
        """The function that the program really is, at the same inputs, where it returns what functions of the subject do."""
        assert isinstance(self.tests, Checks)
        checks, results, subject = self.tests.checks, outcome.value, SUBJECTS[self.subject]
        if outcome.passed or results is None or len(results) != len(checks):
            return None
        if not all(_alike(result, check.expected) for result, check in zip(results, checks, strict=True)):
            return None
        behaviour = tuple(results[self.shown : self.shown + len(subject.landmarks)])
        if not is_fair(subject, behaviour) or is_held_out(subject, behaviour):
            return None
        made = tuple(replace(check, expected=result) for result, check in zip(results, checks, strict=True))
        return replace(self, prompt=_prompt(made[: self.shown]), tests=Checks(made), reference=outcome.text)


def example_task(name: SubjectName, function: Function, rng: random.Random, bucket: Bucket, index: int) -> ExampleTask:
    """The task of finding `function`, with inputs that are drawn for it."""
    subject = SUBJECTS[name]
    telling = [*subject.borders(function), *subject.probes]
    shown = [*(subject.draw(rng) for _ in range(max(1, _FEWEST - len(telling)))), *telling]
    hidden = [*subject.landmarks, *(subject.draw(rng) for _ in range(_HIDDEN))]
    checks = tuple(Check(Call.of(_NAME, *inputs), function(*inputs)) for inputs in [*shown, *hidden])
    prefix = f"def {_NAME}({subject.parameters}): return "
    return ExampleTask(
        prompt=_prompt(checks[: len(shown)]), tests=Checks(checks), entry_point=_NAME, prefix=prefix,
        reference=prefix + function.expression, bucket=bucket, index=index, subject=name, shown=len(shown),
    )  # fmt: skip


def is_fair(subject: Subject, behaviour: Sequence[Any]) -> bool:
    """Whether what a function returns at the landmarks is more than a constant, or a choice of two, or its argument."""
    same = all(value == arguments[0] for value, arguments in zip(behaviour, subject.landmarks, strict=True))
    return not same and len({repr(value) for value in behaviour}) > 2


def is_held_out(subject: Subject, behaviour: Sequence[Any]) -> bool:
    """Whether the functions that return this at the landmarks are for evaluation."""
    text = f"{subject.parameters}/{tuple(behaviour)!r}"
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest()) % _HELD_OUT == 0


def _alike(result: Any, expected: Any) -> bool:
    """Whether the values are of the same type, and so are their items."""
    if type(result) is not type(expected):
        return False
    return not isinstance(result, list) or {*map(type, result)} <= {int}


def _prompt(checks: Sequence[Check]) -> Prompt:
    """In words for a model that reads; bare for one that learns from nothing: `3 1>4 2`."""
    pairs = [(check.call.arguments[0], check.expected) for check in checks]
    text = "\n".join(f"{_NAME}({', '.join(map(repr, arguments))}) == {value!r}" for arguments, value in pairs)
    short = ";".join(f"{_bare(arguments)}>{_bare([value])}" for arguments, value in pairs)
    return Prompt(text, _SYSTEM, short)


def _bare(values: Sequence[Any]) -> str:
    return " ".join(_bare(value) if isinstance(value, list) else str(value) for value in values)
