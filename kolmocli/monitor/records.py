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
    """What the controller believes of the pass rate at the level that it holds."""

    pass_rate: float | None = key("share", "its mean", digits=4)
    low: float | None = key("share", "of the 90 % interval", digits=4)
    high: float | None = key("share", "of the 90 % interval", digits=4)


@dataclass(frozen=True, slots=True, kw_only=True)
class GradientRecord(Record):
    """How much the gradients of the groups differ, in the steps that measured it."""

    groups: int | None = key("count", "n, groups with a rollout that was not masked")
    signal: float | None = key(
        "–",
        "estimate of ‖E g‖², (n ‖mean g‖² − mean ‖g_j‖²) ÷ (n−1): without bias, and therefore sometimes below 0",
    )
    variance: float | None = key(
        "–",
        "estimate of the trace of the covariance of g, n (mean ‖g_j‖² − ‖mean g‖²) ÷ (n−1)",
    )
    scale: float | None = key(
        "rollouts",
        "variance ÷ signal · rollouts per group: with so many rollouts in a step its noise is as long as its "
        "signal, the simple noise scale of McCandlish et al. 2018 (arXiv 1812.06162, appendix A.1). `null` where "
        "the signal is not above 0. One step says little: add up signals and variances of several, then divide",
    )
    norms: Sequence[tuple[str, int, int, float | None]] | None = key(
        "rows",
        "per group: family, passes k, rollouts G, ‖g_j‖",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketRecord(Record):
    """One family in one step."""

    level: float | None = key(
        "level", "where the controller holds the family; may lie between two levels, from 1", digits=4
    )
    top: int | None = key("level", "number of levels of the family")
    pass_rate: float | None = key("share", "passes ÷ rollouts")
    ci: tuple[float, float] | None = key("share, share", "90 % Wilson interval of `pass_rate`")
    signal: float | None = key(
        "share²", "mean U = k(G−k) ÷ (G(G−1)) over its groups, below; at most G ÷ (4(G−1)), 0.29 for G = 8"
    )
    signal_share: float | None = key("share", "S over its groups")
    bits: float | None = key(
        "bits",
        "bits per rollout of its groups, as `bits_per_rollout`; times `n`, added up over the steps: what the "
        "family gave so far",
    )
    bits_per_token: float | None = key("bits", "its bits ÷ its sampled tokens")
    bits_per_gflop: float | None = key(
        "bits/GFLOP",
        "its bits ÷ its part of the step's `flops`, shared out by sampled tokens",
    )
    belief: BeliefRecord | None = key(
        "object",
        "what the controller believes of the pass rate at `level`: `pass_rate` with a 90 % interval, `low` to "
        "`high`. Only kinds that have a model of it (`rasch`)",
        rare=True,
    )
    weight: float | None = key("share", "of the groups that the controller gives to the family", digits=4)
    n: int | None = key("count", "rollouts")
    dead: float | None = key("share", "of its groups that are dead, as in `dead_groups`")
    shortest: float | None = key("bits", "coded bits of the shortest passing program of this step")
    state: str | None = key(
        "word",
        "`tracking`: held at the target; `mastered`: passes at the highest level; `out of reach`: fails at the "
        "lowest; `uniform`, `sequential`, `pool`, `window`: a controller of that name, which holds no level; `bandit`: "
        "the controller `sec`, which holds none either; `self-play`: the family of that name",
    )
    hint: float | None = key(
        "share",
        "with `methods.hints`: of a reference program's words that is given at the lowest level from the next step on",
        rare=True,
        digits=4,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfPlayRecord(Record):
    """Self-play in one step."""

    proposals: int | None = key("count", "programs that were made up in this step and not masked")
    admitted: int | None = key(
        "count",
        "of these: ran, are no literal, are not held out, and have a target and a coded length that the pool does"
        " not have",
    )
    reward: float | None = key(
        "share",
        "mean of min(p, 1−p) over the proposals: 0 for what was not admitted; without those that were not played",
    )
    pool: int | None = key("count", "targets that are kept")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreeningRecord(Record):
    """What screening expected of the groups of one step, and what came of them. U as in `signal`, below."""

    again: float | None = key("share", "of the groups that are of tasks which were asked before")
    expected: float | None = key("share²", "mean U that was expected of the tasks that were chosen", digits=4)
    signal: float | None = key("share²", "mean U that their groups had", digits=4)
    probes_expected: float | None = key(
        "share²", "mean U that was expected of the tasks that were asked as drawn", digits=4
    )
    probes_signal: float | None = key("share²", "mean U that their groups had", digits=4)


@dataclass(frozen=True, slots=True, kw_only=True)
class StalenessRecord(Record):
    """How old the policy was that the rollouts of a step were sampled from."""

    mean: float | None = key("count", "over the groups")
    most: int | None = key("count", "of any group")


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratorRecord(Record):
    """One generator since the step before."""

    host: str | None = key("address", "of the machine; `here` is the trainer's own")
    pid: int | None = key("number", "of its process there; none while it is being replaced")
    tokens_per_second: float | None = key("1/s", "sampled, while it was busy with its share: judging is part of that")
    idle: float | None = key("share", "of the time that it had nothing to do")
    lag: int | None = key("count", "updates that its weights are behind")
    executed: int | None = key("count", "programs that its sandbox ran")
    infra: int | None = key("count", "of them: judged by nobody")
    restarts: int | None = key("count", "processes that it lost")


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRecord(Record):
    """One line of metrics.jsonl: what a step of either phase says."""

    step: int = key("count", "steps of this phase done so far, from 1", default=0)
    phase: str = key("word", "`warmup`: supervised warm start; `rl`: REINFORCE", default="")
    pass_rate: float | None = key("share", "passes ÷ `rollouts`")
    loss: float | None = key(
        "nats per token",
        "warm start: cross-entropy of the reference programs; REINFORCE: the policy-gradient loss, which is no "
        "measure of progress",
    )
    grad_norm: float | None = key("–", "Euclidean norm of the gradient before clipping")
    skipped: int | None = key(
        "count", "updates of this step that were not made, because their gradient was not finite", rare=True
    )
    entropy: float | None = key(
        "nats per token",
        "mean entropy of the policy's next-token distribution, at the sampler's temperature",
    )
    answers: int | None = key(
        "count",
        "right answers that were taught in this step: reference programs in the warm start; in REINFORCE relabelled "
        "programs (`training.hindsight`) and reference programs (`warmup.replay`)",
    )
    bits_per_answer: float | None = key(
        "bits",
        "mean −log₂ p of these answers under the policy, before it learned from them",
    )
    answer_bits_total: float | None = key("bits", "Σ −log₂ p of all answers of this phase so far")
    bits_per_token: float | None = key(
        "bits",
        "of the step: bits of its rollouts ÷ `tokens`; warm start: bits of its answers ÷ `tokens`",
    )
    bits_per_gflop: float | None = key(
        "bits/GFLOP",
        "the same bits ÷ (10⁻⁹ `flops`). The warm start and REINFORCE stand side by side here; in REINFORCE the "
        "cost of hindsight and replay is in and their bits are not",
    )
    tokens: int | None = key("count", "sampled tokens of this step (warm start: taught tokens)")
    flops: float | None = key(
        "FLOP",
        "floating-point operations of this step, estimated: 2 per parameter and sampled token, 6 per parameter "
        "and token read for learning (a prompt once for its group)",
    )
    seconds: StepSeconds | None = key("object", "wall time by what it was spent on, below")


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
        "rollouts of this step that were not masked, learnt from or not: `batch_size` times `best_of`, hinted ones too, and "
        "those of pilots and refills",
    )
    reward: float | None = key("reward", "mean over `rollouts`, in the unit of the curriculum's `reward.kind`")
    bits_per_rollout: float | None = key("bits", "Σ G·Ĥ(k, G) ÷ Σ G over groups, see below")
    bits_total: float | None = key("bits", "Σ bits_per_rollout · rollouts of all REINFORCE steps so far")
    signal_share: float | None = key(
        "share",
        "S = mean U ÷ p(1−p) over the groups of the step, below; `null` where all passed or all failed",
    )
    gradient: GradientRecord | None = key(
        "object",
        "in every `training.noise_every`-th step: how noisy the gradient is, below",
        rare=True,
    )
    value_loss: float | None = key(
        "reward²",
        "with `training.baseline: value`: mean squared error of what the value head expected where each line "
        "began, before it learned from the step",
        rare=True,
    )
    value_explained: float | None = key(
        "share",
        "of the variance of the lines' returns, by these values: 1 − `value_loss` ÷ variance; below 0 they are "
        "worse than one number for all, `null` where the returns do not differ",
        rare="value_loss",
    )
    verdicts: Mapping[str, int] | None = key(
        "object",
        "how many programs `passed`, `missed` (ran and made something else), or ended with which status of the "
        "sandbox ([sandbox.md](sandbox.md))",
    )
    groups: int | None = key("count", "groups of this step")
    dead_groups: int | None = key(
        "count",
        "of these, those that were left out of the gradient because no rollout has an advantage: for the usual baseline "
        "all failed, or all passed with one length",
    )
    dead_fail: int | None = key("count", "of these, all failed")
    dead_pass: int | None = key("count", "of these, all passed")
    infra: int | None = key("count", "masked rollouts of this step")
    stopped: int | None = key(
        "count",
        "always 0; in runs of earlier versions, rollouts that a value head stopped where a line began. They are in "
        "`rollouts`, as failures",
    )
    compression_rate: float | None = key(
        "ratio",
        "Σ coded bits of the rollouts' programs (of the literal where one failed) ÷ Σ coded bits of the literals."
        " The evaluation's rate is against raw bytes, below",
    )
    in_band: float | None = key(
        "share",
        "steps so far, after the first 20, whose 10-step mean pass rate lies within target ± 0.1",
    )
    in_band_controlled: float | None = key(
        "share",
        "the same, of the steps that had something to control: over the families that were not `mastered` or `out of "
        "reach`, without the steps in which all of them were",
    )
    buckets: Mapping[str, BucketRecord] | None = key("object", "one entry per family, by its name, below")
    screening: ScreeningRecord | None = key(
        "object",
        "with `methods.screening`: what was expected of the tasks, below",
        rare=True,
    )
    self_play: SelfPlayRecord | None = key(
        "object",
        "with `methods.self_play`: what the policy made up, below",
        rare=True,
    )
    staleness: StalenessRecord | None = key(
        "object",
        "with the engine monarch: updates between the policy that a rollout was sampled from and the one that "
        "learnt from it, `mean` and `most`",
        rare=True,
    )
    generators: Mapping[str, GeneratorRecord] | None = key(
        "object",
        "with the engine monarch: one entry per generator, by its number, below",
        rare=True,
    )


def read_step(data: Mapping[str, Any]) -> WarmRecord | ReinforceRecord:
    """One line of metrics.jsonl."""
    return (WarmRecord if data.get("phase") == "warmup" else ReinforceRecord).from_json(data)
