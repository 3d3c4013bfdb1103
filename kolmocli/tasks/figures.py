"""Figures of an answer by name, beside its pass: a family's own metrics, and what of them is paid."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from kolmocli.errors import UsageError, suggest
from kolmocli.tasks.border import at_work, shown
from kolmocli.tasks.outcome import Outcome

Metric = Callable[[Any], float]
"""From what a check sees, the value of a program or the text of an answer, to a number."""
_log = logging.getLogger(__name__)


def measured(
    outcome: Outcome, seen: Any, metrics: Mapping[str, Metric], weights: Mapping[str, float], whose: str
) -> Outcome:
    """The outcome with its figures, and with the weighted ones added to its reward.

    A metric that raises has no figure, as a check that raises is False: it was handed what a stranger's program made.

    Raises:
        UsageError: a figure is no finite number, or a weight is that of no metric.
    """
    if unknown := [name for name in weights if name not in metrics]:
        raise UsageError(
            f"{whose}: a weight for {unknown[0]}, which is no metric of it; {suggest(unknown[0], metrics)}"
        )
    found = {
        name: figure for name, metric in metrics.items() if (figure := _figure(name, metric, seen, whose)) is not None
    }
    if outcome.reward is None or not found:
        return outcome
    more = math.fsum(weight * found[name] for name, weight in weights.items() if name in found)
    return replace(outcome, reward=outcome.reward + more, metrics=found)


def _figure(name: str, metric: Metric, seen: Any, whose: str) -> float | None:
    try:
        with at_work(f"family {whose}", f"its metric {name}"):
            value: Any = metric(seen)
    except Exception as error:
        _log.debug("%s: the metric %s raised %r on %.80r", whose, name, error, seen)
        return None
    try:
        figure = float(value)
    except (TypeError, ValueError, OverflowError):
        figure = math.nan
    if not math.isfinite(figure) or isinstance(value, str):
        raise UsageError(f"{whose}: its metric {name} returned {shown(value)}; a metric is a finite number")
    return figure


def means(outcomes: Iterable[Outcome]) -> dict[str, float] | None:
    """The mean of each figure over the answers that have it, by name; None where there is none."""
    figures: dict[str, list[float]] = {}
    for outcome in outcomes:
        for name, figure in outcome.metrics.items():
            figures.setdefault(name, []).append(figure)
    return {name: math.fsum(values) / len(values) for name, values in sorted(figures.items())} or None
