"""One function that is to be found from examples."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from kolmocli.curriculum.base import Bucket
from kolmocli.sandbox.base import Call
from kolmocli.seeds import content_key
from kolmocli.tasks.base import Prompt
from kolmocli.tasks.code.checks import Check, Checks
from kolmocli.tasks.code.task import CodeTask
from kolmocli.tasks.examples.shapes import Arguments, Function
from kolmocli.tasks.examples.subjects import Subject

_HELD_OUT = 5
"""One function in this many is for evaluation."""
_FEWEST, _HIDDEN = 2, 4
"""Inputs that are shown at least, and that are drawn to be kept."""
_NAME = "f"

_SYSTEM = """\
You are shown what a function of Python returns for some inputs. Write the expression that it returns, on one line and \
nothing else. It has to hold for other inputs too."""
_SYSTEM_PROGRAM = """\
You are shown what a function of Python returns for some inputs. Write the function and nothing else. It has to hold for \
other inputs too."""
_SYSTEM_WORDS = "You write short Python functions. Answer with the code alone."


def example_task(subject: Subject, function: Function, rng: random.Random, bucket: Bucket, index: int) -> CodeTask:
    """The task of finding the expression `function`, with inputs that are drawn for it: some are shown, more are kept."""
    prefix = f"def {_NAME}({subject.parameters}): return "
    return _by_example(subject, function, rng, bucket, index, prefix, prefix + function.expression, _SYSTEM)


def program_task(subject: Subject, function: Function, rng: random.Random, bucket: Bucket, index: int) -> CodeTask:
    """As `example_task`, where the function may have several statements: what is given of it does not tell how many."""
    prefix = f"def {_NAME}({subject.parameters}):\n "
    return _by_example(subject, function, rng, bucket, index, prefix, prefix + function.body, _SYSTEM_PROGRAM)


def _by_example(
    subject: Subject, function: Function, rng: random.Random, bucket: Bucket, index: int, prefix: str, reference: str,
    system: str,
) -> CodeTask:  # fmt: skip
    shown = _shown(subject, function, rng)
    checks = _checks(subject, function, shown, rng)
    return CodeTask(
        prompt=_prompt(checks[: len(shown)], system), tests=Checks(checks), entry_point=_NAME, prefix=prefix,
        reference=reference, bucket=bucket, index=index,
    )  # fmt: skip


def function_task(subject: Subject, function: Function, rng: random.Random, bucket: Bucket, index: int) -> CodeTask:
    """The task of writing `function` as it is said in words, for a model that reads. Nothing of its tests is shown."""
    checks = _checks(subject, function, _shown(subject, function, rng), rng)
    head = f"def {_NAME}({subject.parameters.replace(',', ', ')}):"
    body = function.body.replace("\n ", "\n    ")
    return CodeTask(
        prompt=Prompt(f"Write the Python function `{head[4:-1]}` that returns {function.words}.", _SYSTEM_WORDS),
        tests=Checks(checks), entry_point=_NAME, reference=f"{head}\n    {body}", bucket=bucket,
        index=index,
    )  # fmt: skip


def _shown(subject: Subject, function: Function, rng: random.Random) -> list[Arguments]:
    """The inputs of the examples: those that tell most, and a few that are drawn."""
    telling = [*subject.borders(function), *subject.probes]
    return [*(subject.draw(rng) for _ in range(max(1, _FEWEST - len(telling)))), *telling]


def _checks(subject: Subject, function: Function, shown: Sequence[Arguments], rng: random.Random) -> tuple[Check, ...]:
    """These inputs, then the landmarks and some that are drawn, each with what the function returns."""
    hidden = [*subject.landmarks, *(subject.draw(rng) for _ in range(_HIDDEN))]
    return tuple(Check(Call.of(_NAME, *inputs), function(*inputs)) for inputs in [*shown, *hidden])


def is_fair(subject: Subject, behaviour: Sequence[Any]) -> bool:
    """Whether what a function returns at the landmarks is more than a constant, or a choice of two, or its argument."""
    same = all(value == arguments[0] for value, arguments in zip(behaviour, subject.landmarks, strict=True))
    return not same and len({repr(value) for value in behaviour}) > 2


def is_held_out(subject: Subject, behaviour: Sequence[Any]) -> bool:
    """Whether the functions that return this at the landmarks are for evaluation."""
    return content_key(f"{subject.parameters}/{tuple(behaviour)!r}") % _HELD_OUT == 0


def _prompt(checks: Sequence[Check], system: str) -> Prompt:
    """In words for a model that reads; bare for one that learns from nothing: `3 1>4 2`."""
    pairs = [(check.call.arguments[0], check.expected) for check in checks]
    text = "\n".join(f"{_NAME}({', '.join(map(repr, arguments))}) == {value!r}" for arguments, value in pairs)
    short = ";".join(f"{_bare(arguments)}>{_bare([value])}" for arguments, value in pairs)
    return Prompt(text, system, short)


def _bare(values: Sequence[Any]) -> str:
    return " ".join(_bare(value) if isinstance(value, list) else str(value) for value in values)
