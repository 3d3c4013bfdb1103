"""The steps of a run: the typed lines of metrics.jsonl.

Training builds them, `writer` writes them, and every view of a run reads them. The tables of docs/metrics.md are made
from them (`metrics_page.py`), so a key is named here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kolmocli.monitor.record import Record, key


@dataclass(frozen=True, slots=True, kw_only=True)
class StepSeconds(Record):
    """Wall time of one step by what it was spent on."""

    rollout: float | None = key("s", "sampling programs", rare=True, digits=4)
    execute: float | None = key("s", "waiting for the sandbox", rare=True, digits=4)
    learn: float | None = key("s", "loss, gradient, optimiser", rare=True, digits=4)


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefRecord(Record):
    """The controller's belief about the pass rate at the current level."""

    pass_rate: float | None = key("share", "its mean", digits=4)
    low: float | None = key("share", "of the 90 % interval", digits=4)
    high: float | None = key("share", "of the 90 % interval", digits=4)


@dataclass(frozen=True, slots=True, kw_only=True)
class GradientRecord(Record):
    """Noise of the gradient between groups, in the steps that measured it."""

    groups: int | None = key("count", "n, groups with an unmasked rollout")
    signal: float | None = key(
        "–",
        "unbiased estimate of ‖E g‖², (n ‖mean g‖² − mean ‖g_j‖²) ÷ (n−1); can be below 0",
    )
    variance: float | None = key(
        "–",
        "estimate of the trace of the covariance of g, n (mean ‖g_j‖² − ‖mean g‖²) ÷ (n−1)",
    )
    scale: float | None = key(
        "rollouts",
        "variance ÷ signal · rollouts per group: a step of this many rollouts has as much noise as signal "
        "(arXiv 1812.06162, A.1). `null` unless the signal is above 0. Sum signals and variances of several "
        "steps, then divide",
    )
    norms: Sequence[tuple[str, int, int, float | None]] | None = key(
        "rows",
        "per group: family, passes k, rollouts G, ‖g_j‖",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketRecord(Record):
    """One family in one step."""

    level: float | None = key("level", "current level, from 1; may lie between two", digits=4)
    top: int | None = key("level", "number of levels")
    pass_rate: float | None = key("share", "passes ÷ rollouts")
    ci: tuple[float, float] | None = key("share, share", "90 % Wilson interval of `pass_rate`")
    signal: float | None = key("share²", "mean U of its groups; at most 0.29 for 8 rollouts")
    signal_share: float | None = key("share", "S of its groups")
    bits: float | None = key(
        "bits",
        "bits per rollout; sum bits · `n` over steps for the family's total",
    )
    bits_per_token: float | None = key("bits", "bits ÷ sampled tokens")
    bits_per_gflop: float | None = key(
        "bits/GFLOP",
        "bits ÷ its part of `flops`, shared out by sampled tokens",
    )
    belief: BeliefRecord | None = key(
        "object",
        "kinds with a model (`rasch`): the `pass_rate` expected at `level`, with a 90 % interval, `low` to `high`",
        rare=True,
    )
    weight: float | None = key("share", "groups that the controller gives it", digits=4)
    n: int | None = key("count", "rollouts")
    dead: float | None = key("share", "groups that are dead, as in `dead_groups`")
    shortest: float | None = key("bits", "coded bits of the step's shortest passing program")
    state: str | None = key(
        "word",
        "`tracking`: held at the target; `mastered`: passes at the top level; `out of reach`: fails at the "
        "lowest. Without a level, the controller's kind (`bandit` is `sec`), or `self-play`",
    )
    grader: Mapping[str, str] | None = key(
        "object",
        "levels whose grader may be broken, and why: `broken` (hardly anything passes while a harder level does), `unread` (nothing "
        "passes, and answers do not reach the check), `reference` (its reference answers failed before step 1)",
        rare=True,
    )
    hint: float | None = key(
        "share",
        "with `methods.hints`: part of a reference given at the lowest level from the next step on",
        rare=True,
        digits=4,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomRecord(Record):
    """Room to control over uniform sampling, by the groups of the last 20 steps."""

    uniform: float | None = key("share²", "mean U of a group if every level were sampled evenly, by the last 20 steps")
    best: float | None = key("share²", "mean U of a group at each family's best level")
    ratio: float | None = key("ratio", "best ÷ uniform; a lower bound if levels were not sampled")
    ci: tuple[float, float] | None = key("ratio, ratio", "95 % bootstrap interval")
    failed: float | None = key("share", "groups that fail entirely under even sampling")
    passed: float | None = key("share", "groups that pass entirely there")


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfPlayRecord(Record):
    """Self-play in one step."""

    proposals: int | None = key("count", "unmasked programs that the policy made up")
    admitted: int | None = key(
        "count",
        "proposals that ran, are no literal, are not held out, and are new to the pool",
    )
    reward: float | None = key(
        "share",
        "mean min(p, 1−p) of the proposals played, 0 for each not admitted",
    )
    pool: int | None = key("count", "targets kept")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreeningRecord(Record):
    """Signal that screening expected of the groups of one step, and the signal that they had. U as in `signal`, below."""

    again: float | None = key("share", "groups of tasks asked before")
    expected: float | None = key("share²", "mean U expected of the chosen tasks", digits=4)
    signal: float | None = key("share²", "mean U of their groups", digits=4)
    probes_expected: float | None = key("share²", "mean U expected of the probes, tasks asked as drawn", digits=4)
    probes_signal: float | None = key("share²", "mean U of their groups", digits=4)


@dataclass(frozen=True, slots=True, kw_only=True)
class EntropyTargetRecord(Record):
    """What is held of the policy's uncertainty, and by what."""

    of: str | None = key("word", "what is held: `entropy` or `signal_share`")
    measured: float | None = key(
        "nats or share", "mean of what is held over the steps so far, each with half the weight of the next"
    )
    target: float | None = key("nats or share", "where it is held; `null` until a share of the start is known")
    bonus: float | None = key("–", "weight of the entropy in this step's loss", rare=True)
    temperature: float | None = key("–", "temperature that this step's rollouts were sampled at", rare=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class StalenessRecord(Record):
    """Age of the policy from which a step's rollouts were sampled."""

    mean: float | None = key("count", "over the groups")
    most: int | None = key("count", "of any group")


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratorRecord(Record):
    """One generator since the step before."""

    host: str | None = key("address", "its machine; `here` is the trainer's")
    pid: int | None = key("number", "its process; none while it is replaced")
    tokens_per_second: float | None = key("1/s", "sampled while busy, judging included")
    idle: float | None = key("share", "time without work")
    lag: int | None = key("count", "updates that its weights are behind")
    executed: int | None = key("count", "programs run in its sandbox")
    infra: int | None = key("count", "programs that its sandbox lost")
    restarts: int | None = key("count", "processes lost")


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRecord(Record):
    """One line of metrics.jsonl: what a step of either phase says."""

    step: int = key("count", "steps of this phase so far, from 1", default=0)
    phase: str = key("word", "`warmup` (supervised) or `rl` (REINFORCE)", default="")
    pass_rate: float | None = key("share", "passes ÷ `rollouts`")
    loss: float | None = key(
        "nats per token",
        "warm start: cross-entropy of the references; REINFORCE: policy-gradient loss, no measure of progress",
    )
    grad_norm: float | None = key("–", "Euclidean norm before clipping")
    skipped: int | None = key("count", "updates not made because their gradient was not finite", rare=True)
    entropy: float | None = key(
        "nats per token",
        "mean entropy of the next token at the sampler's temperature",
    )
    answers: int | None = key(
        "count",
        "right answers taught: references in the warm start, then those of `training.hindsight` and `warmup.replay`",
    )
    bits_per_answer: float | None = key(
        "bits",
        "mean −log₂ p of these answers before the policy learned from them",
    )
    answer_bits_total: float | None = key("bits", "Σ −log₂ p of all answers of this phase so far")
    bits_per_token: float | None = key(
        "bits",
        "bits of its rollouts (warm start: of its answers) ÷ `tokens`",
    )
    bits_per_gflop: float | None = key(
        "bits/GFLOP",
        "the same bits ÷ (10⁻⁹ `flops`). Hindsight and replay add cost here, but no bits",
    )
    tokens: int | None = key("count", "sampled tokens (warm start: taught tokens)")
    flops: float | None = key(
        "FLOP",
        "estimate: 2 per parameter and sampled token, 6 per parameter and token read for learning (a prompt "
        "once per group)",
    )
    seconds: StepSeconds | None = key("object", "wall-clock time, below")


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmRecord(StepRecord):
    """A step of the supervised warm start."""

    phase: str = "warmup"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReinforceRecord(StepRecord):
    """A step of REINFORCE."""

    phase: str = "rl"
    rollouts: int | None = key(
        "count",
        "unmasked rollouts, learned from or not; hinted ones, pilots and refills included",
    )
    reward: float | None = key("reward", "mean over `rollouts`, in the unit of `reward.kind`")
    bits_per_rollout: float | None = key("bits", "Σ G·Ĥ(k, G) ÷ Σ G over groups")
    bits_total: float | None = key("bits", "Σ bits_per_rollout · rollouts of all REINFORCE steps so far")
    signal_share: float | None = key(
        "share",
        "S of the step's groups; `null` where all passed or all failed",
    )
    gradient: GradientRecord | None = key(
        "object",
        "every `training.noise_every` steps: how noisy the gradient is, below",
        rare=True,
    )
    value_loss: float | None = key(
        "reward²",
        "with `training.baseline: value`: mean squared error of the value head, before it learned",
        rare=True,
    )
    value_explained: float | None = key(
        "share",
        "1 − `value_loss` ÷ variance of the lines' returns; below 0 a constant predicts better",
        rare="value_loss",
    )
    verdicts: Mapping[str, int] | None = key(
        "object",
        "how many programs `passed`, `missed` (ran, wrong value) or ended with which [status](sandbox.md)",
    )
    metrics: Mapping[str, float] | None = key(
        "object", "mean of each [metric](extending.md#1-a-task-family-by-function) of the tasks, by name", rare=True
    )
    groups: int | None = key("count", "groups of this step")
    dead_groups: int | None = key(
        "count",
        "groups without an advantage, in no gradient: usually all failed, or all passed with one length",
    )
    dead_fail: int | None = key("count", "dead groups that all failed")
    dead_pass: int | None = key("count", "dead groups that all passed")
    infra: int | None = key("count", "masked rollouts")
    cut_off: int | None = key("count", "rollouts that ran into `training.max_new_tokens`")
    stopped: int | None = key(
        "count",
        "always 0; in old runs, rollouts stopped early, which count as failures",
    )
    compression_rate: float | None = key(
        "ratio",
        "Σ coded bits of the programs (of the literal where one failed) ÷ Σ coded bits of the literals; an "
        "evaluation divides by raw bits",
    )
    in_band: float | None = key(
        "share",
        "steps so far, after the first 20, whose 10-step mean pass rate is within target ± 0.1",
    )
    in_band_controlled: float | None = key(
        "share",
        "the same over families that are neither `mastered` nor `out of reach`",
    )
    room: RoomRecord | None = key("object", "at steps 20, 40, …: as `room` of summary.json", rare=True)
    buckets: Mapping[str, BucketRecord] | None = key("object", "per family, below")
    entropy_target: EntropyTargetRecord | None = key(
        "object",
        "with `training.entropy_target`, below",
        rare=True,
    )
    screening: ScreeningRecord | None = key(
        "object",
        "with `methods.screening`, below",
        rare=True,
    )
    self_play: SelfPlayRecord | None = key(
        "object",
        "with `methods.self_play`, below",
        rare=True,
    )
    staleness: StalenessRecord | None = key(
        "object",
        "with monarch: updates between sampling and learning, `mean` and `most`",
        rare=True,
    )
    generators: Mapping[str, GeneratorRecord] | None = key(
        "object",
        "with monarch: per generator, by number, below",
        rare=True,
    )


def read_step(data: Mapping[str, Any]) -> WarmRecord | ReinforceRecord:
    """One line of metrics.jsonl."""
    return (WarmRecord if data.get("phase") == "warmup" else ReinforceRecord).from_json(data)
