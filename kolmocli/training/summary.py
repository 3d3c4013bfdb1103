"""The summary of a run, for summary.json."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path

from kolmocli.curriculum.information import per_gflop
from kolmocli.curriculum.room import Room
from kolmocli.monitor.records import RoomRecord
from kolmocli.monitor.summary import (
    Summary,
    SummaryBits,
    SummaryEval,
    SummaryPassRate,
    SummarySandbox,
    SummarySeconds,
)
from kolmocli.sandbox.base import Health
from kolmocli.training.evaluation import AFTER, BEFORE
from kolmocli.training.standing import in_band
from kolmocli.training.state import RunState, Totals


def summarise(
    folder: Path,
    state: RunState,
    totals: Totals,
    health: Health,
    *,
    target: float,
    epochs: float | None,
    checkpoint: Path | None,
    room: Room | None = None,
    ends: Mapping[str, str] | None = None,
) -> Summary:
    """`target` is the pass rate to hold; `epochs` how often the data files were gone through."""
    rates = totals.pass_rates
    return Summary(
        schema_version=1,
        run=str(folder),
        steps=state.step,
        warmup_steps=state.warm_steps,
        rollouts=totals.rollouts,
        epochs=epochs,
        seconds=SummarySeconds(**{of.name: totals.seconds.get(of.name, 0.0) for of in fields(SummarySeconds)}),
        pass_rate=SummaryPassRate(
            target=target,
            mean=sum(rates) / len(rates) if rates else None,
            in_band=in_band(rates, target),
            controlled=_mean(sum(rate is not None for rate in totals.controlled), len(totals.controlled)),
            in_band_controlled=in_band(totals.controlled, target),
        ),
        room=RoomRecord() if room is None else RoomRecord(**asdict(room)),
        ends=ends,
        bits=SummaryBits(
            per_rollout=_mean(totals.bits, totals.rollouts),
            total=totals.bits,
            per_gflop=per_gflop(totals.bits, totals.flops),
            per_rl_gflop=per_gflop(totals.bits, totals.flops - totals.warm_flops),
            supervised_per_answer=_mean(totals.answer_bits, totals.answers),
            supervised_total=totals.answer_bits,
            supervised_per_gflop=per_gflop(totals.answer_bits, totals.warm_flops),
            hindsight_per_answer=_mean(totals.hindsight_bits, totals.hindsight_answers),
            hindsight_total=totals.hindsight_bits,
        ),
        eval=SummaryEval(before=state.evaluations.get(BEFORE), after=state.evaluations.get(AFTER)),
        sandbox=SummarySandbox(
            backend=health.backend,
            executed=totals.executed,
            infra=totals.infra,
            programs_per_second=health.programs_per_second,
        ),
        checkpoint=str(checkpoint) if checkpoint else None,
    )


def _mean(total: float, count: int) -> float | None:
    return total / count if count else None
