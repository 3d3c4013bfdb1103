"""`kolmo eval --predictions`: programs that some other model has written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from kolmocli.console import warn
from kolmocli.errors import UsageError
from kolmocli.evaluation.baselines import Baselines
from kolmocli.evaluation.predictions import Cut, read_predictions
from kolmocli.evaluation.published import published_cut
from kolmocli.evaluation.report import PLAIN, Reporting, full_report
from kolmocli.evaluation.rescoring import Candidate, Language, limits_of, rescore
from kolmocli.evaluation.samples import Attempts
from kolmocli.language.answers import program_of
from kolmocli.pace import Pace
from kolmocli.sandbox import Sandbox, open_sandbox
from kolmocli.sandbox.base import packages_for
from kolmocli.sandbox.opening import Backend
from kolmocli.tasks.base import Task
from kolmocli.tasks.code.limits import limits_for
from kolmocli.tasks.outcome import Outcome
from kolmocli.tasks.sequences.task import SequenceTask


@dataclass(frozen=True, slots=True)
class Programs:
    """Settings for running programs from elsewhere."""

    language: Language = "python"
    seconds: float | None = None
    """Processor time of one program, where its task says nothing; None: 2 s for a sequence, as the benchmark has it, and
    4 s for tests."""
    sandbox: Backend = "auto"
    memory_mb: int | None = None
    """Memory of one program, where its task says nothing; None: 128 MiB for a sequence, and 256 MiB for tests."""
    packages: tuple[str, ...] = ()

    def open(self, warn: Callable[[str], None], tasks: Sequence[Task] = ()) -> Sandbox:
        """A sandbox for programs for these tasks, or for sequences."""
        tested = bool(tasks)
        limits = limits_of(self.seconds or (4.0 if tested else 2.0), self.memory_mb or (256 if tested else 128))
        return open_sandbox(
            self.sandbox,
            limits=limits,
            most=limits_for(tasks, limits),
            warn=warn,
            packages=packages_for((task.language for task in tasks), self.packages),
        )


def evaluate_predictions(
    name: str, programs: Programs, *, strict: bool, reporting: Reporting = PLAIN, pace: Pace | None = None
) -> dict[str, Any]:
    """The report of the programs in a file of any author.

    Raises:
        UsageError: the file cannot be read, or holds no prediction.
    """
    found = read_predictions(name, warn, language=programs.language, strict=strict, cut=cut_of(reporting))
    with Baselines() as baselines:
        attempts = rescored(counting(found, baselines), programs, warn, pace or Pace())
        samples = max(len(outcomes) for _, outcomes in attempts)
        facts = {"model": name, "samples": samples, "language": programs.language}
        return {**facts, **full_report(attempts, samples, programs.language, reporting, baselines)}


def cut_of(reporting: Reporting) -> Cut:
    return published_cut if reporting.kt_compatible else program_of


def counting(candidates: Iterable[Candidate], baselines: Baselines) -> Iterator[Candidate]:
    """The candidates; on the way the codecs begin with their sequences, which a report needs whatever comes of them.

    The one stream of all sequences is of use unless the sandbox loses a task, which is rare.
    """
    targets: dict[int, tuple[int, ...]] = {}
    for candidate in candidates:
        task = candidate.task
        if isinstance(task, SequenceTask) and task.index not in targets:
            targets[task.index] = task.target
            baselines.begin(task.target)
        yield candidate
    baselines.begin_stream(targets.values())


def rescored(candidates: Iterable[Candidate], programs: Programs, warn: Callable[[str], None], pace: Pace) -> Attempts:
    """Tasks with the outcomes of their samples. The first candidate is looked at before a sandbox is opened."""
    source = iter(candidates)
    first = next(source, None)
    if first is None:
        raise UsageError("no task to evaluate on")
    with programs.open(warn) as sandbox, pace.counting(None, "programs") as done:
        return all_judged(rescore(chain([first], source), sandbox, done))


def all_judged(judged: Iterable[tuple[Task, Outcome]]) -> Attempts:
    """Tasks, by their index, with the outcomes of all that was written for them."""
    found: dict[int, tuple[Task, list[Outcome]]] = {}
    for task, outcome in judged:
        found.setdefault(task.index, (task, []))[1].append(outcome)
    return list(found.values())
