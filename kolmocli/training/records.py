"""What one step writes to metrics.jsonl: pure functions of what happened."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from kolmocli.curriculum.base import FamilyMetrics
from kolmocli.curriculum.information import mean_entropy, mean_signal
from kolmocli.engine.base import Group
from kolmocli.evaluation.intervals import wilson
from kolmocli.language.coder import literal_bits
from kolmocli.training.returns import advantages, is_dead


def step_record(groups: Sequence[Group], families: Mapping[str, FamilyMetrics]) -> dict[str, Any]:
    """Everything about a REINFORCE step that its rollouts and the controller say; faults are left out."""
    judged = [(g, o) for g in groups for o in g.outcomes if o.reward is not None]
    results = [(r.passes, r.rollouts) for r in (g.result() for g in groups) if r.rollouts]
    passes = sum(k for k, _ in results)
    dead = [g for g in groups if _dead(g)]
    bits = mean_entropy(results) or 0.0
    kept = sum(o.bits if o.bits is not None else literal_bits(g.task.target) for g, o in judged)
    literal = sum(literal_bits(g.task.target) for g, _ in judged)
    return {
        "rollouts": len(judged),
        "pass_rate": passes / len(judged) if judged else None,
        "reward": sum(o.reward for _, o in judged) / len(judged) if judged else None,  # type: ignore[misc]
        "bits_per_rollout": bits,
        "dead_groups": len(dead),
        "dead_fail": sum(not g.result().passes for g in dead),
        "dead_pass": sum(bool(g.result().passes) for g in dead),
        "infra": sum(o.reward is None for g in groups for o in g.outcomes),
        "compression_rate": kept / literal if literal else None,
        "buckets": bucket_records(groups, families),
    }


def bucket_records(groups: Sequence[Group], families: Mapping[str, FamilyMetrics]) -> dict[str, Any]:
    """One entry per family that the controller knows, sampled in this step or not."""
    by_family: dict[str, list[Group]] = defaultdict(list)
    for group in groups:
        by_family[group.task.bucket.family].append(group)
    return {name: {**_sampled(by_family[name]), **_planned(metrics)} for name, metrics in families.items()}


def _planned(metrics: FamilyMetrics) -> dict[str, Any]:
    return {
        "level": round(metrics.level, 4), "top": metrics.top, "weight": round(metrics.weight, 4), "state": metrics.state,
    }  # fmt: skip


def _sampled(groups: Sequence[Group]) -> dict[str, Any]:
    results = [(r.passes, r.rollouts) for r in (g.result() for g in groups) if r.rollouts]
    rollouts, passes = sum(n for _, n in results), sum(k for k, _ in results)
    lengths = [o.bits for g in groups for o in g.outcomes if o.bits is not None]
    return {
        "pass_rate": passes / rollouts if rollouts else None,
        "ci": list(wilson(passes, rollouts, 0.9)) if rollouts else None,
        "signal": mean_signal(results),
        "n": rollouts,
        "dead": sum(_dead(g) for g in groups) / len(groups) if groups else None,
        "shortest": min(lengths, default=None),
    }


def _dead(group: Group) -> bool:
    """No advantage anywhere, by the leave-one-out baseline: groups that all pass with equal lengths too."""
    return is_dead(advantages([o.reward for o in group.outcomes], "rloo"))
