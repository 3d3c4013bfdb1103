"""The records of a step, built from what happened in it: pure functions."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from kolmocli.curriculum.base import FamilyMetrics
from kolmocli.curriculum.information import mean_entropy, mean_signal, per_gflop, signal_fraction
from kolmocli.engine.base import Group
from kolmocli.evaluation.intervals import wilson
from kolmocli.learning.batches import Batch
from kolmocli.learning.noise import GroupGradients
from kolmocli.learning.report import StepReport
from kolmocli.monitor.events import FailingEvent
from kolmocli.monitor.records import BeliefRecord, BucketRecord, GradientRecord, ReinforceRecord
from kolmocli.sandbox.base import Value
from kolmocli.tasks.base import Task
from kolmocli.tasks.figures import means
from kolmocli.tasks.outcome import Outcome

_FAILING_EVERY = 5
_MOST_CHARACTERS = 400
_MOST_SHOWN = 64
"""Items of a sequence; a value may have thousands."""


def step_record(
    groups: Sequence[Group],
    families: Mapping[str, FamilyMetrics],
    batch: Batch,
    *,
    step: int = 0,
    tokens: int = 0,
    flops: float = 0.0,
) -> ReinforceRecord:
    """Everything about a REINFORCE step that its rollouts and the controller say; faults are left out.

    `batch` is what was learned from them: a group that taught nothing is dead. `tokens` and `flops` are what the step
    cost: information is also given per unit of them.
    """
    judged = [o for g in groups for o in g.outcomes if o.reward is not None]
    rewards = [o.reward for o in judged if o.reward is not None]
    results = [(r.passes, r.rollouts) for r in (g.result() for g in groups) if r.rollouts]
    dead = [not learned for learned in batch.groups]
    passed = [g.result().passes for g, is_dead in zip(groups, dead, strict=True) if is_dead]
    bits = mean_entropy(results) or 0.0
    sizes = [(o.bits, o.literal_bits) for o in judged if o.literal_bits is not None]
    literal = sum(literal for _, literal in sizes)
    return ReinforceRecord(
        step=step,
        rollouts=len(judged),
        pass_rate=sum(k for k, _ in results) / len(judged) if judged else None,
        reward=sum(rewards) / len(rewards) if rewards else None,
        bits_per_rollout=bits,
        **_per_cost(bits * len(judged), tokens, flops),
        signal_share=signal_fraction(results),
        groups=len(groups),
        dead_groups=sum(dead),
        dead_fail=sum(not passes for passes in passed),
        dead_pass=sum(bool(passes) for passes in passed),
        infra=sum(o.reward is None for g in groups for o in g.outcomes),
        cut_off=sum(o.cut_off for g in groups for o in g.outcomes),
        stopped=0,
        compression_rate=sum(most if b is None else b for b, most in sizes) / literal if literal else None,
        verdicts=dict(sorted(Counter(_verdict(o) for g in groups for o in g.outcomes).items())),
        metrics=means(judged),
        tokens=tokens,
        flops=flops,
        buckets=bucket_records(groups, dead, families, flops / tokens if tokens else 0.0),
    )


def _verdict(outcome: Outcome) -> str:
    """The fate of a program in a word: `passed`, `missed` (it ran and made something else), else its status."""
    if outcome.passed:
        return "passed"
    return "missed" if outcome.executable else outcome.status.value


def bucket_records(
    groups: Sequence[Group], dead: Sequence[bool], families: Mapping[str, FamilyMetrics], flops_per_token: float = 0.0
) -> dict[str, BucketRecord]:
    """One entry per family that the controller knows, sampled in this step or not, and per family that it does not."""
    by_family: dict[str, list[tuple[Group, bool]]] = {name: [] for name in families}
    for group, is_dead in zip(groups, dead, strict=True):
        by_family.setdefault(group.task.bucket.family, []).append((group, is_dead))
    return {
        name: BucketRecord(**_sampled(sampled, flops_per_token), **_planned(families.get(name)))
        for name, sampled in by_family.items()
    }


Worth = tuple[bool, int, int]
"""The greater of two programs is the better one to show."""


def worth(group: Group, outcome: Outcome) -> Worth | None:
    """The bits that a passing program saves against its literal. Where there is no literal, how hard its task
    is: by its level, and then by how few of the group passed. None for what is no such program."""
    if outcome.bits is None:
        return None
    if outcome.literal_bits is not None:
        return True, outcome.literal_bits - outcome.bits, 0
    return False, group.task.bucket.level, -sum(o.passed for o in group.outcomes)


def _per_cost(bits: float, tokens: int, flops: float) -> dict[str, Any]:
    return {"bits_per_token": bits / tokens if tokens else None, "bits_per_gflop": per_gflop(bits, flops)}


def answer_fields(report: StepReport, bits_total: float, flops: float | None = None) -> dict[str, Any]:
    """The right answers of a step: the bits of each, −log2 p before it was learned, and all of this phase so far.

    `flops` is the cost of the step where the answers are all that it learned from.
    """
    bits = report.answer_nats / math.log(2)
    found = {
        "answers": report.answers,
        "bits_per_answer": bits / report.answers if report.answers else None,
        "answer_bits_total": bits_total + bits,
    }
    return found if flops is None else {**found, **_per_cost(bits, report.tokens, flops)}


def gradient_record(noise: GroupGradients, groups: Sequence[Group]) -> GradientRecord:
    """Noise of the gradient between groups, and their common part; see `learning/noise.py`."""
    results = {i: result for i, g in enumerate(groups) if (result := g.result()).rollouts}
    n = len(results)
    signal, variance = noise.signal(n), noise.variance(n)
    scale = None
    if signal is not None and variance is not None and signal > 0.0:
        scale = variance / signal * (sum(r.rollouts for r in results.values()) / n)
    return GradientRecord(
        groups=n,
        signal=signal,
        variance=variance,
        scale=scale,
        norms=[
            (r.bucket.family, r.passes, r.rollouts, n * math.sqrt(noise.squared.get(i, 0.0)))
            for i, r in results.items()
        ],
    )


def failing(groups: Sequence[Group], step: int) -> FailingEvent | None:
    """A program that failed, every few steps, from another group each time; None at the steps between."""
    if step % _FAILING_EVERY or not groups:
        return None
    first = step // _FAILING_EVERY % len(groups)
    return failing_of([*groups[first:], *groups[:first]], step)


def failing_of(groups: Iterable[Group], step: int) -> FailingEvent | None:
    """The first program of these groups that failed."""
    for group in groups:
        for outcome in group.outcomes:
            if not outcome.passed and outcome.reward is not None:
                bucket = group.task.bucket
                return FailingEvent(
                    step=step, family=bucket.family, level=bucket.level, verdict=_verdict(outcome),
                    target=shown(group.task), made=_made(outcome.value), program=outcome.text,
                )  # fmt: skip
    return None


def shown(task: Task) -> str:
    """The target, short enough to be read."""
    return textwrap.shorten(task.asked.text, _MOST_CHARACTERS, placeholder=" …")


def _made(value: Value | None) -> str | None:
    """The value of a program; a sequence may be empty."""
    if isinstance(value, (list, tuple, range)):
        return " ".join(map(str, value[:_MOST_SHOWN]))
    return None if value is None else textwrap.shorten(str(value), _MOST_CHARACTERS, placeholder=" …")


def _planned(metrics: FamilyMetrics | None) -> dict[str, Any]:
    if metrics is None:
        return {}
    belief = None if metrics.belief is None else BeliefRecord(**asdict(metrics.belief))
    return {
        "level": metrics.level, "top": metrics.top, "weight": metrics.weight, "state": metrics.state, "belief": belief,
    }  # fmt: skip


def _sampled(groups: Sequence[tuple[Group, bool]], flops_per_token: float) -> dict[str, Any]:
    results = [(r.passes, r.rollouts) for r in (g.result() for g, _ in groups) if r.rollouts]
    rollouts, passes = sum(n for _, n in results), sum(k for k, _ in results)
    bits = mean_entropy(results)
    tokens = sum(len(r.tokens) for g, _ in groups for r in g.rollouts)
    lengths = [o.bits for g, _ in groups for o in g.outcomes if o.bits is not None]
    return {
        "pass_rate": passes / rollouts if rollouts else None,
        "ci": wilson(passes, rollouts, 0.9) if rollouts else None,
        "signal": mean_signal(results),
        "signal_share": signal_fraction(results),
        "bits": bits,
        **_per_cost((bits or 0.0) * rollouts, tokens, flops_per_token * tokens),
        "n": rollouts,
        "dead": sum(dead for _, dead in groups) / len(groups) if groups else None,
        "shortest": min(lengths, default=None),
    }
