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


class BeliefRecord(TypedDict):
    """What the controller believes of the pass rate at the level that it holds."""

    pass_rate: float
    low: float
    high: float


class GradientRecord(TypedDict):
    """How much the gradients of the groups differ, in the steps that measured it."""

    groups: int
    signal: float | None
    variance: float | None
    scale: float | None
    norms: list[tuple[str, int, int, float | None]]


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
    hint: float
    signal_share: float | None
    bits: float | None
    bits_per_token: float | None
    bits_per_gflop: float | None
    belief: BeliefRecord


class SelfPlayRecord(TypedDict, total=False):
    """Self-play in one step."""

    proposals: int
    admitted: int
    reward: float | None
    pool: int


class StalenessRecord(TypedDict):
    """How old the policy was that the rollouts of a step were sampled from."""

    mean: float
    most: int


class GeneratorRecord(TypedDict):
    """One generator since the step before."""

    host: str
    pid: int | None
    tokens_per_second: float | None
    idle: float
    lag: int
    executed: int
    infra: int
    restarts: int


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
    bits_per_token: float | None
    bits_per_gflop: float | None
    signal_share: float | None
    answers: int
    bits_per_answer: float | None
    answer_bits_total: float
    gradient: GradientRecord
    value_loss: float
    value_explained: float | None
    verdicts: dict[str, int]
    groups: int
    dead_groups: int
    dead_fail: int
    dead_pass: int
    infra: int
    stopped: int
    tokens: int
    flops: float
    compression_rate: float | None
    in_band: float | None
    seconds: StepSeconds
    buckets: dict[str, BucketRecord]
    self_play: SelfPlayRecord
    staleness: StalenessRecord
    generators: dict[str, GeneratorRecord]


class EventRecord(TypedDict):
    """One line of events.jsonl; each kind adds fields of its own."""

    kind: str
    step: int
    time: float


EVENT_FIELDS: dict[str, tuple[str, ...]] = {
    "start": ("model", "engine", "sandbox", "text"),
    "controller": ("text",),
    "engine": ("text",),
    "eval": ("name", "n", "accuracy", "accuracy_ci", "compression_rate", "text"),
    "best": ("family", "bits", "literal_bits", "target", "program"),
    "failing": ("family", "level", "verdict", "target", "made", "program"),
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
    per_rl_gflop: float | None
    supervised_per_answer: float | None
    supervised_total: float
    supervised_per_gflop: float | None
    hindsight_per_answer: float | None
    hindsight_total: float


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
