"""A family: a kind of task. It owns its levels, its tasks, its prompt and its judge.

A kind is registered under the name by which curriculum files call it (`task: sum_digits`). It reads its own section of
the file, and opens it as tasks. A kind of your own is one function:

    @family("primes", levels=5)
    def primes(level: int, rng: random.Random) -> Task: ...
"""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from pydantic import Field, create_model

from kolmocli.curriculum.base import Bucket
from kolmocli.errors import UsageError
from kolmocli.language.program import Program
from kolmocli.registry import Registry
from kolmocli.seeds import content_key
from kolmocli.tasks.base import Language, Prompt, Split, Task
from kolmocli.tasks.border import MOST_LEVELS, at_work, failed, shown, text
from kolmocli.tasks.files.separation import Taken
from kolmocli.tasks.settings import FamilySettings

_ATTEMPTS = 2_000
_HELD_OUT = 10
"""One prompt in this many is for evaluation."""


class Family(Protocol):
    """The tasks of one section of a curriculum file, for one split of one seed; levels count from 1. A family that inherits
    has only to make tasks."""

    def task(self, level: int, index: int) -> Task:
        """Always the same for the same level and index, on every machine. `bucket` and `index` are filled in."""
        ...

    def taught(self) -> bool:
        """Whether tasks may carry references."""
        return self.task(1, 0).reference is not None

    def admits(self, program: Program, sequence: tuple[int, ...]) -> bool:
        """Whether what a program makes may be learned from: False when it belongs to the other split."""
        return True


class Kind(Protocol):
    """A kind of family, as it is registered under a name."""

    @property
    def name(self) -> str: ...

    @property
    def settings(self) -> type[FamilySettings]:
        """Its section of a curriculum file."""
        ...

    @property
    def language(self) -> Language:
        """The language in which a policy answers its tasks."""
        ...

    def open(self, bucket_family: str, settings: Any, split: Split, seed: int, taken: Taken) -> Family:
        """The tasks of a section that is called `bucket_family`. `taken` is what the other split has from a file.

        Raises:
            UsageError: nothing is left for the split, when a task is asked for.
        """
        ...


families: Registry[Kind] = Registry("family", "kolmocli.families")

Generator = Callable[..., Task]


def family(
    name: str, *, levels: int, language: Language = "python", held_out: bool = True
) -> Callable[[Generator], FunctionKind]:
    """Register `generator(level, rng, **options) -> Task` as a kind of task called `name`.

    The same `rng` must give the same task. Keyword-only parameters with defaults become keys of the family's section
    in a curriculum file. `language` is what the policy writes: a program in "python" or "dsl", whose value the task's
    `check` sees, or "text", which it sees itself. Training and evaluation share no seed and, with `held_out`, no prompt:
    a tenth of the prompts, chosen by a hash, is asked in evaluation only.

    Raises:
        UsageError: the name is taken by another family, or `levels` is no number of levels.
    """
    if not isinstance(levels, int) or isinstance(levels, bool) or not 1 <= levels <= MOST_LEVELS:
        raise UsageError(f"family {name}: levels is {shown(levels)}; a family has a whole number, 1 to {MOST_LEVELS:,}")

    def register(generator: Generator) -> FunctionKind:
        kind = FunctionKind(name, generator, levels, language, held_out)
        families.add(name, kind, module=generator.__module__)
        return kind

    return register


class FunctionKind:
    """A kind of task that one function makes."""

    def __init__(self, name: str, generator: Generator, levels: int, language: Language, held_out: bool) -> None:
        self.name, self.language, self.levels, self.held_out = name, language, levels, held_out
        self.generator = generator
        self.settings = _settings(name, generator, levels)
        self.__doc__ = generator.__doc__

    def __call__(self, level: int, rng: random.Random, **options: Any) -> Task:
        """As the function was before it was registered."""
        return self.generator(level, rng, **options)

    def open(self, bucket_family: str, settings: Any, split: Split, seed: int, taken: Taken) -> FunctionFamily:
        fixed = {*FamilySettings.model_fields, "task"}
        options = {key: getattr(settings, key) for key in type(settings).model_fields if key not in fixed}
        return FunctionFamily(self, bucket_family, options, split, seed)


def _settings(name: str, generator: Generator, levels: int) -> type[FamilySettings]:
    """A section of the keys that every family has and those of the function."""
    keys: dict[str, Any] = {"task": (Literal[name], Field(name, description="the kind of task"))}
    parameters = list(inspect.signature(generator, eval_str=True).parameters.values())
    if len(parameters) < 2 or any(p.kind not in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters[:2]):
        raise UsageError(f"family {name}: the function takes (level, rng), and its options after a *")
    for parameter in parameters[2:]:
        if parameter.kind is not parameter.KEYWORD_ONLY or parameter.default is parameter.empty:
            raise UsageError(f"family {name}: the parameter {parameter.name} needs a default, and a * before it")
        if parameter.name in {*FamilySettings.model_fields, *keys, _LEVELS}:
            raise UsageError(f"family {name}: families have a key {parameter.name}; call the parameter otherwise")
        annotation = Any if parameter.annotation is parameter.empty else parameter.annotation
        keys[parameter.name] = (annotation, parameter.default)
    count = property(lambda self: levels)
    base = type(f"{name}_settings", (FamilySettings,), {"level_count": count, "__module__": __name__})
    return create_model(f"{name}_settings", __base__=base, **keys)


@dataclass(frozen=True)
class FunctionFamily(Family):
    kind: FunctionKind
    name: str
    options: dict[str, Any]
    split: Split
    seed: int

    def task(self, level: int, index: int) -> Task:
        bucket = Bucket(self.name, level)
        rng = random.Random(f"{self.seed}/{self.split}/{bucket}/{index}")
        for _ in range(_ATTEMPTS if self.kind.held_out else 1):
            task = self._made(level, index, rng)
            if not self.kind.held_out or is_held_out(task.content) == (self.split == "eval"):
                return replace(task, bucket=bucket, index=index, language=self.kind.language)
        raise UsageError(
            f"families.{self.name}: level {level}: {self.split}: no prompt is left in {_ATTEMPTS:,} tries; a tenth of them is "
            "held out for evaluation, so make more different ones, or register the family with held_out=False"
        )

    def _made(self, level: int, index: int, rng: random.Random) -> Task:
        """The function's task, checked: the function is a user's own."""
        whose = f"family {self.kind.name}"
        try:
            with at_work(f"{whose}: level {level}, task {index}", "its function"):
                task = self.kind.generator(level, rng, **self.options)
        except (Exception, SystemExit) as error:
            raise failed(error, f"{whose}: level {level}, task {index}") from error
        if not isinstance(task, Task):
            raise UsageError(f"{whose}: made {type(task).__name__} and not a Task")
        if task.check is None and type(task).attempt is Task.attempt:
            raise UsageError(f"{whose}: made a task without a judge; it needs `check`")
        if task.check is not None and not callable(task.check):
            raise UsageError(f"{whose}: its check is {shown(task.check)} and not a function")
        if (task.metrics or task.weights) and type(task).attempt is not Task.attempt:
            raise UsageError(
                f"{whose}: made a task with metrics and a judge of its own, which does not take them; use `check`"
            )
        if isinstance(task.prompt, Prompt):
            asked = {"prompt": task.prompt.text, "prompt.system": task.prompt.system, "prompt.short": task.prompt.short}
        else:
            asked = {"prompt": task.prompt}
        for what, value in {**asked, "reference": task.reference, "prefix": task.prefix}.items():
            if value is not None or what == "prompt":
                text(value, what, f"{whose}: level {level}, task {index}")
        return task


def is_held_out(text: str) -> bool:
    """Whether what is asked with this text is for evaluation alone."""
    return content_key(text) % _HELD_OUT == 0


class FamilyTasks:
    """The families of a curriculum file as one source of tasks, whatever their kinds."""

    def __init__(self, opened: dict[str, tuple[Family, int]], split: Split) -> None:
        """Each family by name, with its number of levels."""
        self.split: Split = split
        self._opened = opened

    def buckets(self) -> list[Bucket]:
        return [Bucket(name, level + 1) for name, (_, count) in self._opened.items() for level in range(count)]

    def task(self, bucket: Bucket, index: int) -> Task:
        return self._opened[bucket.family][0].task(bucket.level, index)

    def size(self, bucket: Bucket) -> int | None:
        return None

    def taught(self, bucket: Bucket) -> bool:
        return self._opened[bucket.family][0].taught()

    def admits(self, program: Program, sequence: tuple[int, ...]) -> bool:
        return all(family.admits(program, sequence) for family, _ in self._opened.values())


def open_families(
    sections: Mapping[str, FamilySettings], split: Split, seed: int, taken: Taken | None = None
) -> FamilyTasks:
    """The tasks of all sections; what they may not share with the other split's file is `taken`."""
    known = taken or Taken()
    opened: dict[str, tuple[Family, int]] = {}
    for name, section in sections.items():
        opened[name] = kind_of(name, section).open(name, section, split, seed, known), section.level_count
    return FamilyTasks(opened, split)


SEQUENCES = "programs"
"""The kind of a section that names none, and whose own name is none or that has levels."""
_LEVELS = "levels"
"""The key that a family has whose levels stand in the file."""


def kind_name(name: str, section: Any) -> str:
    """Kind of a section: its `task`; else the section's own name, where a kind has that name."""
    named = section.get("task") if isinstance(section, dict) else getattr(section, "task", None)
    if named is not None:
        return str(named)
    own = name and name != SEQUENCES and not _has_levels(section) and name in families
    return name if own else SEQUENCES


def _has_levels(section: Any) -> bool:
    return _LEVELS in section if isinstance(section, dict) else hasattr(section, _LEVELS)


def kind_of(name: str, section: FamilySettings) -> Kind:
    return families.get(kind_name(name, section))


def language_of(name: str, section: FamilySettings) -> Language:
    """Language of the answers to a section's tasks: its own choice, where its kind leaves one."""
    written: Language = getattr(section, "language", kind_of(name, section).language)
    return written


def register_kinds(kinds: Sequence[Kind]) -> None:
    """Make these kinds of task known, where they are not. Raises UsageError when a name is another's."""
    for kind in kinds:
        if families.loaded().get(kind.name) is not kind:
            families.add(kind.name, kind)
