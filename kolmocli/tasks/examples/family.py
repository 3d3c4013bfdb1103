"""Write the Python expression from its examples: some pairs of input and output are shown, more are kept.

Random-access by (bucket, index). Evaluation has other functions than training: a fifth of them, by a hash of what they come to
at the landmarks of their subject.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from typing import Any

from kolmocli.curriculum.base import Bucket
from kolmocli.language.program import Program
from kolmocli.sandbox.base import Job
from kolmocli.tasks.base import Attempt, Checked, Language, Prompt, Split, Task
from kolmocli.tasks.examples.settings import Examples
from kolmocli.tasks.examples.shapes import LEVELS, Arguments, Function, draw
from kolmocli.tasks.examples.subjects import SUBJECTS, Subject
from kolmocli.tasks.family import families
from kolmocli.tasks.files.separation import Taken
from kolmocli.tasks.outcome import Terms
from dataclasses import dataclass

_HELD_OUT = 5
"""One function in so many is for evaluation."""
_DRAWN, _HIDDEN = 1, 4
"""Inputs that are drawn to be shown, and to be kept."""
_ATTEMPTS = 1_000

_SYSTEM = """\
You are shown what a function of Python returns for some inputs. Write the expression that it returns, on one line and \
nothing else. It has to hold for other inputs too."""


@dataclass(frozen=True, slots=True)
class Hack(Checked):
    calls: tuple = ()

    @property
    def job(self):
        return Job(self.text + "\nrepr([" + ",".join(f"f({','.join(map(repr, c))})" for c in self.calls) + "])", group=1 + self.task.index)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleTask(Task):
    calls: tuple = ()
    wanted: tuple = ()

    def attempt(self, text: str, terms: Terms) -> Attempt:
        want = [ord(c) for c in repr(list(self.wanted))]
        return Hack(self, text, lambda value: list(value) == want, terms, self.calls)


class ExampleTasks:
    """The tasks of one section."""

    def __init__(self, name: str, subject: Subject, split: Split, seed: int) -> None:
        self._name, self._subject, self._split, self._seed = name, subject, split, seed

    def task(self, level: int, index: int) -> Task:
        bucket = Bucket(self._name, level)
        rng = random.Random(f"{self._seed}/{self._split}/{bucket}/{index}")
        for _ in range(_ATTEMPTS):
            function = draw(self._subject.shapes, LEVELS[level - 1], rng)
            if is_fair(self._subject, function) and is_held_out(self._subject, function) == (self._split == "eval"):
                return ask(self._subject, function, rng, bucket, index)
        raise AssertionError(f"{bucket}: no function in {_ATTEMPTS}")

    def taught(self) -> bool:
        return True

    def admits(self, program: Program, sequence: tuple[int, ...]) -> bool:
        return True


def is_fair(subject: Subject, function: Function) -> bool:
    """Whether the function is neither a constant nor its own argument, and its examples say so."""
    made = subject.behaviour(function)
    same = all(value == arguments[0] for value, arguments in zip(made, subject.landmarks, strict=True))
    return not same and len({repr(value) for value in made}) > 2


def is_held_out(subject: Subject, function: Function) -> bool:
    """Whether this function, and all that behave like it, are for evaluation."""
    text = f"{subject.parameters}/{subject.behaviour(function)!r}"
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest()) % _HELD_OUT == 0


def ask(subject: Subject, function: Function, rng: random.Random, bucket: Bucket, index: int) -> Task:
    shown = [*(subject.draw(rng) for _ in range(_DRAWN)), *subject.borders(function), *subject.probes]
    kept = [*subject.landmarks, *(subject.draw(rng) for _ in range(_HIDDEN)), *subject.borders(function)]
    calls = [*shown, *kept]
    prefix = f"def f({subject.parameters}): return "
    return ExampleTask(
        prompt=prompt(function, shown), reference=prefix + function.expression, prefix=prefix, bucket=bucket, index=index,
        calls=tuple(calls), wanted=tuple(function(*c) for c in calls),
    )


def prompt(function: Function, shown: Sequence[Arguments]) -> Prompt:
    """In words for a model that reads; bare for one that learns from nothing: `3 1>4 2`."""
    pairs = [(arguments, function(*arguments)) for arguments in shown]
    text = "\n".join(f"f({', '.join(map(repr, arguments))}) == {value!r}" for arguments, value in pairs)
    short = ";".join(f"{_bare(arguments)}>{_bare((value,))}" for arguments, value in pairs)
    return Prompt(text, _SYSTEM, short)


def _bare(values: Sequence[Any]) -> str:
    return " ".join(_bare(value) if isinstance(value, list) else str(value) for value in values)


class ExampleKind:
    name = "examples"
    settings = Examples
    language: Language = "python"

    def open(self, bucket_family: str, settings: Examples, split: Split, seed: int, taken: Taken) -> ExampleTasks:
        return ExampleTasks(bucket_family, SUBJECTS[settings.of], split, seed)


EXAMPLES = families.add("examples", ExampleKind(), builtin=True)
