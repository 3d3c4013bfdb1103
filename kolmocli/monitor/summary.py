"""summary.json, the result of a run, as a typed record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kolmocli.monitor.record import Record, key
from kolmocli.monitor.records import RoomRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class SummarySeconds(Record):
    """Wall time of the run by what it was spent on."""

    warmup: float | None = key("s", "warm start", digits=3)
    rollout: float | None = key("s", "sampling", digits=3)
    execute: float | None = key("s", "waiting for the sandbox", digits=3)
    learn: float | None = key("s", "learning", digits=3)
    eval: float | None = key("s", "evaluations", digits=3)
    total: float | None = key("s", "everything", digits=3)


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryPassRate(Record):
    """Pass rate of the run, compared with its target."""

    target: float | None = key("share", "pass rate to hold")
    mean: float | None = key("share", "mean over REINFORCE steps")
    in_band: float | None = key(
        "share",
        "the last `in_band`",
    )
    controlled: float | None = key("share", "REINFORCE steps with a family that was not at an end of its ladder")
    in_band_controlled: float | None = key("share", "the last `in_band_controlled`")


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryBits(Record):
    """Bits that the run learned from."""

    per_rollout: float | None = key("bits", "mean over all rollouts")
    total: float | None = key("bits", "the last `bits_total`")
    per_gflop: float | None = key("bits/GFLOP", "`bits.total` ÷ (10⁻⁹ Σ flops) of the run, with the warm start")
    per_rl_gflop: float | None = key("bits/GFLOP", "the same without the warm start")
    supervised_per_answer: float | None = key(
        "bits",
        "mean −log₂ p of the warm start's answers, each before it was learned",
    )
    supervised_total: float | None = key("bits", "their sum")
    supervised_per_gflop: float | None = key("bits/GFLOP", "their sum ÷ (10⁻⁹ Σ flops) of the warm start")
    hindsight_per_answer: float | None = key(
        "bits", "mean −log₂ p of the answers taught in REINFORCE (hindsight and replay)"
    )
    hindsight_total: float | None = key("bits", "their sum")


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryEval(Record):
    """The evaluation reports."""

    before: Mapping[str, Any] | None = key("object", "[report](#evaluation-report) after the warm start")
    after: Mapping[str, Any] | None = key("object", "report at the end")


@dataclass(frozen=True, slots=True, kw_only=True)
class SummarySandbox(Record):
    """Work and faults of the sandbox."""

    backend: str | None = key("word", "`docker`, `embedded`, or `none` if nothing is run")
    executed: int | None = key("count", "programs run")
    infra: int | None = key("count", "runs lost")
    programs_per_second: float | None = key("1/s", "programs ÷ busy time")


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary(Record):
    """summary.json, written when the run ends or is stopped."""

    schema_version: int | None = key("count", "changes when a key changes its meaning")
    run: str | None = key("path", "run folder")
    steps: int | None = key("count", "REINFORCE steps")
    warmup_steps: int | None = key("count", "supervised steps")
    rollouts: int | None = key("count", "unmasked rollouts of all REINFORCE steps")
    epochs: float | None = key(
        "count",
        "tasks drawn from the data files, warm start included, ÷ their training tasks; `null` without a file",
    )
    seconds: SummarySeconds = SummarySeconds()
    pass_rate: SummaryPassRate = SummaryPassRate()
    room: RoomRecord = RoomRecord()
    ends: Mapping[str, str] | None = key("object", "families at an end of their ladder: `mastered` or `out of reach`")
    bits: SummaryBits = SummaryBits()
    eval: SummaryEval = SummaryEval()
    sandbox: SummarySandbox = SummarySandbox()
    checkpoint: str | None = key("path", "last checkpoint")
