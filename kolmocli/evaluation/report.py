"""The report of `kolmo eval`: the metrics of every evaluation, and what only a command takes the time for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kolmocli.evaluation.archived import archive_rate
from kolmocli.evaluation.baselines import Baselines
from kolmocli.evaluation.coding import CODED, TEXT
from kolmocli.evaluation.metrics import families, is_masked, modalities, of_sequences, summarise
from kolmocli.evaluation.published import published_report
from kolmocli.evaluation.rates import uniform_prior
from kolmocli.evaluation.rescoring import Language
from kolmocli.evaluation.samples import Attempts, best_of, pass_rates
from kolmocli.evaluation.searched import search_baseline


@dataclass(frozen=True, slots=True)
class Reporting:
    """Options of the report, in addition to the metrics of every evaluation."""

    kt_compatible: bool = False
    hold_out: int = 0
    """Items at the end of a sequence that are kept back."""
    search: float = 0.0
    """Seconds of search for each sequence, as a baseline; 0: none."""


PLAIN = Reporting()


def full_report(
    attempts: Attempts, samples: int, language: Language, reporting: Reporting, baselines: Baselines | None = None
) -> dict[str, Any]:
    """The report of `summarise` on the best sample of each task, and more; docs/metrics.md explains each key."""
    coding = CODED if language == "dsl" else TEXT
    pairs = [(task, best_of(outcomes)) for task, outcomes in attempts]
    judged = of_sequences([(task, outcome) for task, outcome in pairs if not is_masked(outcome)])
    report = {**pass_rates(attempts, samples), **summarise(pairs, coding, baselines)}
    if reporting.search:
        found = search_baseline([task for task, _ in judged], reporting.search)
        report["baselines"]["search"] = found
        report["search_seconds"] = reporting.search
    report |= {"modalities": modalities(pairs, coding), "families": families(pairs)}
    if language == "dsl":
        judged = [(task, outcome) for task, outcome in judged if task.language == "dsl"]
        report |= {"rate_uniform_prior": uniform_prior(judged), "rate_archive": archive_rate(judged)}
    if reporting.kt_compatible:
        report["published"] = published_report(of_sequences(pairs))
    return report
