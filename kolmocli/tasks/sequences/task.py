"""One sequence to write the shortest program for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kolmocli.curriculum.base import Bucket
from kolmocli.language.program import Program
from kolmocli.tasks.base import Attempt, Language, Task
from kolmocli.tasks.outcome import Terms
from kolmocli.tasks.sequences.judge import Draft, DslAttempt, PythonAttempt
from kolmocli.tasks.sequences.prompt import sequence_prompt
from kolmocli.tasks.sequences.python import python_text


@dataclass(frozen=True, slots=True, kw_only=True)
class SequenceTask(Task):
    """Make one with `sequence_task`, which writes the prompt."""

    target: tuple[int, ...]
    program: Program | None = None
    """The reference, parsed, where the policy writes the small language."""
    modality: str | None = None
    """Source of the sequence, where a file names it."""

    @property
    def length(self) -> int:
        return len(self.target)

    def attempt(self, text: str, terms: Terms) -> Attempt:
        if self.language == "dsl":
            return DslAttempt(self.target, Draft.read(text, terms.max_lines), terms.rule, 1 + self.index)
        return PythonAttempt(self.target, text, terms.rule, 1 + self.index)


def sequence_task(
    bucket: Bucket,
    index: int,
    target: Sequence[int],
    program: Program | None = None,
    *,
    language: Language = "dsl",
    modality: str | None = None,
) -> SequenceTask:
    """The task of reproducing `target`; `program` makes it, where one is known, and is the reference in either language."""
    reference = None
    if program is not None:
        reference = f"{program}\n" if language == "dsl" else python_text(program)
    return SequenceTask(
        bucket=bucket,
        index=index,
        prompt=sequence_prompt(target, language),
        reference=reference,
        language=language,
        target=tuple(target),
        program=program if language == "dsl" else None,
        modality=modality,
    )


def shown(task: SequenceTask, items: int) -> SequenceTask:
    """The same task with the first `items` items of its sequence alone, and without a reference."""
    target = task.target[:items]
    prompt = sequence_prompt(target, task.language)
    return replace(task, target=target, prompt=prompt, program=None, reference=None, prefix="")
