"""Evaluation in the middle of a run: greedy programs for the held-out tasks, compared with the first time."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from kolmocli.engine.base import Engine
from kolmocli.evaluation.heldout import attempt
from kolmocli.evaluation.intervals import paired_difference
from kolmocli.evaluation.metrics import is_masked, summarise
from kolmocli.evaluation.samples import best_of
from kolmocli.monitor.events import EvaluationEvent
from kolmocli.tasks.base import Task
from kolmocli.training.run import Run

BEFORE, AFTER = "before", "after"


class Evaluation:
    """Measures the policy on the held-out tasks: before REINFORCE, at intervals during it, and after it."""

    def __init__(self, run: Run, engine: Engine, held_out: list[Task], every: int) -> None:
        """`every`: REINFORCE steps between evaluations; 0: before and after only."""
        self._run, self._engine, self._held_out, self._every = run, engine, held_out, every

    def after_step(self, step: int) -> None:
        """Evaluate where it is due and was not done yet: a stop may have come in the middle of it."""
        due = self._every and step and step % self._every == 0 and step < self._run.last
        if due and (name := f"step {step}") not in self._run.state.evaluations:
            self.evaluate(name)

    def evaluate(self, name: str) -> None:
        """Evaluate, and keep the report under `name`. All but the first also say what was gained since, task by task."""
        run, recorder = self._run, self._run.recorder
        state, began = run.state, time.perf_counter()
        recorder.doing("evaluate")
        attempts = attempt(self._engine, self._held_out)
        pairs = [(task, best_of(outcomes)) for task, outcomes in attempts]
        report = summarise(pairs)
        passed = [None if is_masked(outcome) else int(outcome.passed) for _, outcome in pairs]
        if name == BEFORE:
            state.passed_before = passed
        else:
            report |= _gained(state.passed_before, passed)
        state.evaluations[name] = report
        recorder.spend("eval", time.perf_counter() - began)
        recorder.event(
            EvaluationEvent(
                step=state.step, name=name, n=report["n"], accuracy=report["accuracy"],
                accuracy_ci=report["accuracy_ci"], compression_rate=report["compression_rate"],
                text=f"held-out accuracy {name}: {_in_words(report)}",
            )
        )  # fmt: skip


def _gained(before: Sequence[int | None], after: Sequence[int | None]) -> dict[str, Any]:
    """Change in accuracy over the tasks that were judged both times, with its interval."""
    both = [(x, y) for x, y in zip(before, after, strict=True) if x is not None and y is not None]
    if not both:
        return {"gain": None, "gain_ci": None}
    return {
        "gain": sum(y - x for x, y in both) / len(both),
        "gain_ci": list(paired_difference([x for x, _ in both], [y for _, y in both])),
    }


def _in_words(report: Mapping[str, Any]) -> str:
    if report["accuracy"] is None:
        return "none judged"
    said = f"{report['accuracy']:.1%}"
    if "accuracy_lenient" in report:
        said += f", {report['accuracy_lenient']:.1%} in any form, {report['format_rate']:.1%} with an answer in place"
    return said
