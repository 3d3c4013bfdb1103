"""The keys of a run's files: metrics.jsonl, events.jsonl and summary.json.

docs/metrics.md explains each of them with unit and formula; a test holds the page to these types.
None stands for a number that was not measured or is not finite.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict


class StepSeconds(TypedDict, total=False):
    """Wall time of one step by what it was spent on."""

    rollout: float
    execute: float
    learn: float


class BucketRecord(TypedDict, total=False):
    """One family in one step."""

    level: float | None
    top: int
    pass_rate: float | None
    ci: list[float] | tuple[float, float] | None
    signal: float | None
    weight: float | None
    n: int
    dead: float | None
    shortest: float | None
    state: str


class StepRecord(TypedDict, total=False):
    """One line of metrics.jsonl."""

    step: int
    phase: Literal["warmup", "rl"]
    rollouts: int
    pass_rate: float | None
    reward: float | None
    loss: float | None
    grad_norm: float | None
    entropy: float | None
    bits_per_rollout: float | None
    bits_total: float | None
    dead_groups: int
    dead_fail: int
    dead_pass: int
    infra: int
    tokens: int
    flops: float
    compression_rate: float | None
    in_band: float | None
    seconds: StepSeconds
    buckets: dict[str, BucketRecord]


class EventRecord(TypedDict):
    """One line of events.jsonl; each kind adds fields of its own."""

    kind: str
    step: int
    time: float


EVENT_FIELDS: dict[str, tuple[str, ...]] = {
    "start": ("model", "engine", "sandbox", "text"),
    "controller": ("text",),
    "eval": ("name", "n", "accuracy", "accuracy_ci", "compression_rate", "text"),
    "best": ("family", "bits", "literal_bits", "target", "program"),
    "checkpoint": ("path", "text"),
}
"""The kinds of events with the fields of each."""


class SummarySeconds(TypedDict, total=False):
    warmup: float
    rollout: float
    execute: float
    learn: float
    eval: float
    total: float


class SummaryPassRate(TypedDict, total=False):
    target: float
    mean: float | None
    in_band: float | None


class SummaryBits(TypedDict, total=False):
    per_rollout: float | None
    total: float | None
    per_gflop: float | None


class SummaryEval(TypedDict, total=False):
    before: dict[str, Any] | None
    after: dict[str, Any] | None


class SummarySandbox(TypedDict, total=False):
    backend: str
    executed: int
    infra: int
    programs_per_second: float | None


class Summary(TypedDict, total=False):
    """summary.json, written when the run ends."""

    schema_version: int
    run: str
    steps: int
    warmup_steps: int
    rollouts: int
    seconds: SummarySeconds
    pass_rate: SummaryPassRate
    bits: SummaryBits
    eval: SummaryEval
    sandbox: SummarySandbox
    checkpoint: str | None
