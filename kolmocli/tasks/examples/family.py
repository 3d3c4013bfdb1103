"""Write the Python expression or program from its examples: some pairs of input and output are shown, more are kept. Or write
the whole function, asked for in words.

Random-access by (bucket, index). Evaluation has other functions than training: a fifth of them, by a hash of what they
return at the landmarks of their subject.
"""

from __future__ import annotations

import random

from kolmocli.curriculum.base import Bucket
from kolmocli.tasks.base import Language, Split
from kolmocli.tasks.code.task import CodeTask
from kolmocli.tasks.examples.settings import Examples
from kolmocli.tasks.examples.shapes import draw
from kolmocli.tasks.examples.subjects import LADDERS
from kolmocli.tasks.examples.task import example_task, function_task, is_fair, is_held_out, program_task
from kolmocli.tasks.family import Family, families
from kolmocli.tasks.files.separation import Taken


class ExampleTasks(Family):
    """The tasks of one section."""

    def __init__(self, name: str, settings: Examples, split: Split, seed: int) -> None:
        self._name, self._split, self._seed = name, split, seed
        self._subject = LADDERS[settings.ladder][settings.of]
        by_example = example_task if settings.ladder == "expressions" else program_task
        self._make = function_task if settings.ask == "words" else by_example

    def task(self, level: int, index: int) -> CodeTask:
        bucket, subject = Bucket(self._name, level), self._subject
        rng = random.Random(f"{self._seed}/{self._split}/{bucket}/{index}")
        while True:  # every level of every subject has hundreds of functions for either split
            function = draw(subject.ladder, level, rng, subject.spread)
            behaviour = subject.behaviour(function)
            if is_fair(subject, behaviour) and is_held_out(subject, behaviour) == (self._split == "eval"):
                return self._make(subject, function, rng, bucket, index)


class ExampleKind:
    name = "examples"
    settings = Examples
    language: Language = "python"

    def open(self, bucket_family: str, settings: Examples, split: Split, seed: int, taken: Taken) -> ExampleTasks:
        return ExampleTasks(bucket_family, settings, split, seed)


EXAMPLES = families.add("examples", ExampleKind(), builtin=True)
