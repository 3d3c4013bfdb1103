"""Evaluation in the middle of a run: greedy programs for the held-out tasks, compared with the first time."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from kolmocli.evaluation.heldout import attempt
from kolmocli.evaluation.intervals import paired_difference
from kolmocli.evaluation.metrics import summarise
from kolmocli.evaluation.samples import best_of
from kolmocli.training.session import Session

BEFORE, AFTER = "before", "after"


def assess(session: Session, name: str) -> None:
    """Evaluate, and keep the report under `name`. All but the first also say what was gained since, task by task."""
    session.show("evaluate")
    state, began = session.state, time.perf_counter()
    attempts = attempt(session.engine, session.held_out, between=session.check_stop)
    pairs = [(task, best_of(outcomes)) for task, outcomes in attempts]
    report = summarise(pairs)
    passed = [int(outcome.passed) for _, outcome in pairs]
    if name == BEFORE:
        state.passed_before = passed
    else:
        report["gain"] = (sum(passed) - sum(state.passed_before)) / len(passed)
        report["gain_ci"] = list(paired_difference(state.passed_before, passed))
    state.evaluations[name] = report
    state.spend("eval", time.perf_counter() - began)
    session.event(
        "eval", name=name, accuracy=report["accuracy"], accuracy_ci=report["accuracy_ci"], n=report["n"],
        compression_rate=report["compression_rate"],
        text=f"held-out accuracy {name}: {_words(report)}",
    )  # fmt: skip


def _words(report: Mapping[str, Any]) -> str:
    if report["accuracy"] is None:
        return "none judged"
    said = f"{report['accuracy']:.1%}"
    if "accuracy_lenient" in report:
        said += f", {report['accuracy_lenient']:.1%} in any form, {report['format_rate']:.1%} with the tag"
    return said
