"""What one step writes to metrics.jsonl: pure functions of what happened."""

from __future__ import annotations

import math
import textwrap
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from kolmocli.curriculum.base import FamilyMetrics
from kolmocli.curriculum.information import mean_entropy, mean_signal, per_gflop, signal_fraction
from kolmocli.engine.base import Group
from kolmocli.evaluation.intervals import wilson
from kolmocli.learning.learner import StepReport
from kolmocli.learning.noise import GroupGradients
from kolmocli.learning.returns import advantages, is_dead
from kolmocli.policy.rollout import Rollout
from kolmocli.tasks.base import Task
from kolmocli.tasks.outcome import Outcome


def step_record(
    groups: Sequence[Group], families: Mapping[str, FamilyMetrics], *, tokens: int = 0, flops: float = 0.0
) -> dict[str, Any]:
    """Everything about a REINFORCE step that its rollouts and the controller say; faults are left out.

    `tokens` and `flops` are what the step cost: information is also told per unit of them.
    """
    judged = [(g, o) for g in groups for o in g.outcomes if o.reward is not None]
    results = [(r.passes, r.rollouts) for r in (g.result() for g in groups) if r.rollouts]
    passes = sum(k for k, _ in results)
    dead = [g for g in groups if _dead(g)]
    bits = mean_entropy(results) or 0.0
    sizes = [(o.bits, o.literal_bits) for _, o in judged if o.literal_bits is not None]
    kept = sum(literal if bits is None else bits for bits, literal in sizes)
    literal = sum(literal for _, literal in sizes)
    return {
        "rollouts": len(judged),
        "pass_rate": passes / len(judged) if judged else None,
        "reward": sum(o.reward for _, o in judged) / len(judged) if judged else None,  # type: ignore[misc]
        "bits_per_rollout": bits,
        **_per_cost(bits * len(judged), tokens, flops),
        "signal_share": signal_fraction(results),
        "groups": len(groups),
        "dead_groups": len(dead),
        "dead_fail": sum(not g.result().passes for g in dead),
        "dead_pass": sum(bool(g.result().passes) for g in dead),
        "infra": sum(o.reward is None for g in groups for o in g.outcomes),
        "stopped": sum(_stopped(r, o) for g in groups for r, o in zip(g.rollouts, g.outcomes, strict=True)),
        "compression_rate": kept / literal if literal else None,
        "verdicts": dict(sorted(Counter(_verdict(o) for g in groups for o in g.outcomes).items())),
        "buckets": bucket_records(groups, families, flops / tokens if tokens else 0.0),
    }


def _stopped(rollout: Rollout, outcome: Outcome) -> bool:
    """Whether it was stopped as hopeless before its episode was over."""
    return rollout.stopped is not None and rollout.stopped[0] < outcome.end


def _verdict(outcome: Outcome) -> str:
    """What became of a program, in a word: `passed`, `missed` (it ran and made something else), else its status."""
    if outcome.passed:
        return "passed"
    return "missed" if outcome.executable else outcome.status.value


def bucket_records(
    groups: Sequence[Group], families: Mapping[str, FamilyMetrics], flops_per_token: float = 0.0
) -> dict[str, Any]:
    """One entry per family that the controller knows, sampled in this step or not."""
    by_family: dict[str, list[Group]] = defaultdict(list)
    for group in groups:
        by_family[group.task.bucket.family].append(group)
    return {
        name: {**_sampled(by_family[name], flops_per_token), **_planned(metrics)} for name, metrics in families.items()
    }


def _per_cost(bits: float, tokens: int, flops: float) -> dict[str, Any]:
    return {
        "bits_per_token": bits / tokens if tokens else None,
        "bits_per_gflop": per_gflop(bits, flops),
    }


def answers_record(report: StepReport, bits_total: float, flops: float | None = None) -> dict[str, Any]:
    """The right answers of a step: what each told, −log2 p before it was learned, and all of this phase so far.

    `flops` is the cost of the step where the answers are all that it learned from.
    """
    bits = report.answer_nats / math.log(2)
    record = {
        "answers": report.answers,
        "bits_per_answer": bits / report.answers if report.answers else None,
        "answer_bits_total": bits_total + bits,
    }
    return record if flops is None else {**record, **_per_cost(bits, report.tokens, flops)}


def gradient_record(noise: GroupGradients, groups: Sequence[Group]) -> dict[str, Any]:
    """How much the gradients of the groups differ, beside what they have in common; see `learning/noise.py`."""
    results = {i: result for i, g in enumerate(groups) if (result := g.result()).rollouts}
    n = len(results)
    signal, variance = noise.signal(n), noise.variance(n)
    known = signal is not None and variance is not None and signal > 0.0
    rollouts_per_group = sum(r.rollouts for r in results.values()) / n if n else 0.0
    return {
        "groups": n,
        "signal": signal,
        "variance": variance,
        "scale": variance / signal * rollouts_per_group if known else None,  # type: ignore[operator]
        "norms": [
            [r.bucket.family, r.passes, r.rollouts, n * math.sqrt(noise.squared.get(i, 0.0))]
            for i, r in results.items()
        ],
    }


_FAILING_EVERY = 5


def failing(groups: Sequence[Group], step: int) -> dict[str, Any] | None:
    """A program that failed, every few steps, from another group each time; None at the steps between."""
    if step % _FAILING_EVERY or not groups:
        return None
    first = step // _FAILING_EVERY % len(groups)
    for group in [*groups[first:], *groups[:first]]:
        for outcome in group.outcomes:
            if not outcome.passed and outcome.reward is not None:
                made = None if outcome.value is None else " ".join(map(str, outcome.value[:_MOST_SHOWN]))
                return {
                    "family": group.task.bucket.family, "level": group.task.bucket.level, "verdict": _verdict(outcome),
                    "target": shown(group.task), "made": made, "program": outcome.text,
                }  # fmt: skip
    return None


def shown(task: Task) -> str:
    """What is asked for, short enough to be read."""
    return textwrap.shorten(task.asked.text, _MOST_CHARACTERS, placeholder=" …")


_MOST_CHARACTERS = 400
_MOST_SHOWN = 64
"""Items of a sequence; a value may have thousands."""


def _planned(metrics: FamilyMetrics) -> dict[str, Any]:
    planned = {
        "level": round(metrics.level, 4), "top": metrics.top, "weight": round(metrics.weight, 4), "state": metrics.state,
    }  # fmt: skip
    if metrics.belief is not None:
        planned["belief"] = {key: round(value, 4) for key, value in asdict(metrics.belief).items()}
    return planned if metrics.hint is None else {**planned, "hint": round(metrics.hint, 4)}


def _sampled(groups: Sequence[Group], flops_per_token: float) -> dict[str, Any]:
    results = [(r.passes, r.rollouts) for r in (g.result() for g in groups) if r.rollouts]
    rollouts, passes = sum(n for _, n in results), sum(k for k, _ in results)
    bits = mean_entropy(results)
    tokens = sum(len(r.tokens) for g in groups for r in g.rollouts)
    lengths = [o.bits for g in groups for o in g.outcomes if o.bits is not None]
    return {
        "pass_rate": passes / rollouts if rollouts else None,
        "ci": list(wilson(passes, rollouts, 0.9)) if rollouts else None,
        "signal": mean_signal(results),
        "signal_share": signal_fraction(results),
        "bits": bits,
        **_per_cost((bits or 0.0) * rollouts, tokens, flops_per_token * tokens),
        "n": rollouts,
        "dead": sum(_dead(g) for g in groups) / len(groups) if groups else None,
        "shortest": min(lengths, default=None),
    }


def _dead(group: Group) -> bool:
    """No advantage anywhere, by the leave-one-out baseline: groups that all pass with equal lengths too."""
    return is_dead(advantages([o.reward for o in group.outcomes], "rloo"))
