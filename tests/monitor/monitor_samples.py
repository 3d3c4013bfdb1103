"""Made-up runs for the tests of what shows them."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from kolmocli.curriculum.information import mean_entropy
from kolmocli.monitor.events import EvaluationEvent, read_event
from kolmocli.monitor.history import History
from kolmocli.monitor.records import BucketRecord, ReinforceRecord, WarmRecord, read_step
from kolmocli.monitor.snapshot import Snapshot
from kolmocli.monitor.summary import Summary, SummarySandbox
from kolmocli.monitor.writer import RunLog

FAMILIES = ("ramps", "repeats", "merges", "digits", "slices", "filters", "scans", "strides")


def bucket(pass_rate: float | None = 0.48, **changes: Any) -> BucketRecord:
    return BucketRecord.from_json(bucket_line(pass_rate or 0.0) | {"pass_rate": pass_rate} | changes)


def bucket_line(pass_rate: float = 0.48, **changes: Any) -> dict[str, Any]:
    values = {
        "level": 4.3,
        "top": 8,
        "pass_rate": pass_rate,
        "ci": [max(0.0, pass_rate - 0.14), min(1.0, pass_rate + 0.13)],
        "signal": pass_rate * (1 - pass_rate),
        "weight": 0.125,
        "n": 128,
        "dead": 0.1,
        "shortest": 31,
        "state": "tracking",
        "signal_share": 0.9,
        "bits": 0.8,
        "bits_per_token": 0.05,
        "bits_per_gflop": 4.0,
        "belief": {"pass_rate": 0.5, "low": 0.4, "high": 0.6},
    }
    return values | changes


def gradient(rng: random.Random) -> dict[str, Any]:
    """Sixteen groups, whose gradients are as long as the shares of their passes say."""
    passes = [min(8, max(0, round(rng.gauss(4, 2)))) for _ in range(16)]
    norms = [["ramps", k, 8, 2.0 * math.sqrt(k / 8 * (1 - k / 8)) * rng.uniform(0.7, 1.3)] for k in passes]
    return {"groups": 16, "signal": 0.02, "variance": 0.8, "scale": 320.0, "norms": norms}


def step_record(
    step: int, families: tuple[str, ...] = FAMILIES, rng: random.Random | None = None, **changes: Any
) -> ReinforceRecord:
    return replace(ReinforceRecord.from_json(step_line(step, families, rng)), **changes)


def step_line(step: int, families: tuple[str, ...] = FAMILIES, rng: random.Random | None = None) -> dict[str, Any]:
    rng = rng or random.Random(step)
    rates = {name: min(1.0, max(0.0, 0.5 - 0.4 * math.exp(-step / 8) + rng.gauss(0, 0.05))) for name in families}
    mean = sum(rates.values()) / max(1, len(rates))
    return {
        "step": step,
        "phase": "rl",
        "rollouts": 128,
        "pass_rate": mean,
        "reward": 1.15 * mean,
        "loss": rng.gauss(0, 0.02),
        "grad_norm": 0.8,
        "entropy": 0.7,
        "bits_per_rollout": mean_entropy([(round(16 * p), 16) for p in rates.values()]),
        "bits_total": 115.2 * step,
        "bits_per_token": 0.03,
        "bits_per_gflop": 4.8,
        "signal_share": 0.9,
        "answers": 20,
        "bits_per_answer": 6.0,
        "answer_bits_total": 120.0 * step,
        "verdicts": {"passed": 64, "missed": 44, "RUNTIME": 12, "SYNTAX": 7, "TLE_CPU": 1},
        "groups": 16,
        "dead_groups": 3,
        "dead_fail": 2,
        "dead_pass": 1,
        "infra": 0,
        "tokens": 4000,
        "flops": 2.4e10,
        "compression_rate": 0.4 + 0.4 * math.exp(-step / 20),
        "in_band": None if step <= 30 else 0.8,
        "seconds": {"rollout": 0.2, "execute": 0.1, "learn": 0.3},
        **({"gradient": gradient(rng)} if step % 10 == 1 else {}),
        "buckets": {name: bucket_line(rate, level=1 + step / 20) for name, rate in rates.items()},
    }


def snapshot(families: tuple[str, ...] = FAMILIES, **changes: Any) -> Snapshot:
    base = Snapshot(
        name="quickstart-7",
        state="rollout",
        step=42,
        steps=100,
        seconds=31.2,
        eta_seconds=72.9,
        model="tiny 0.8M",
        engine="local",
        sandbox=SummarySandbox(backend="embedded", executed=5376, infra=0, programs_per_second=412.3),
        target=0.5,
        metrics=step_record(42, families),
        history=tuple(0.2 + 0.3 * min(1.0, i / 20) for i in range(42)),
        events=("step 12: scans mastered", "step 30: evaluation .412", "step 40: checkpoint step_000040"),
        best=("0 1 2 3 0 1 2 3", "sequence_1 = range_func_up(0, 3)\nsequence_2 = repeat_list(2, sequence_1)"),
    )
    return replace(base, **changes)


def history_of(
    *lines: dict[str, Any], events: Sequence[dict[str, Any]] = (), summary: dict[str, Any] | None = None, name: str = ""
) -> History:
    """A run whose files have these lines."""
    steps = [read_step(line) for line in lines]
    return History(
        [step for step in steps if isinstance(step, WarmRecord)],
        [step for step in steps if isinstance(step, ReinforceRecord)],
        [read_event(event) for event in events],
        Summary.from_json(summary or {}),
        name,
    )


def write_run(run_dir: Path, steps: int = 60, seed: int = 5) -> Path:
    """A finished run of `steps` steps with a warm start and three evaluations."""
    print(f"seed {seed}")
    rng = random.Random(seed)
    with RunLog(run_dir, clock=lambda: 0.0) as log:
        for i in range(1, 4):
            log.step(WarmRecord.from_json(
                {
                    "step": 25 * i, "phase": "warmup", "loss": 3.0 / i, "pass_rate": 0.2 * i, "flops": 6e9, "answers": 64,
                    "bits_per_answer": 12.0 / i, "answer_bits_total": 64 * sum(12.0 / j for j in range(1, i + 1)),
                    "bits_per_token": 0.8 / i, "bits_per_gflop": 128.0 / i, "tokens": 960, "seconds": {"learn": 3.0},
                }
            ))  # fmt: skip
        log.event(
            EvaluationEvent(
                step=0,
                name="before",
                text="held-out accuracy before: 21.0%",
                accuracy=0.21,
                accuracy_ci=(0.18, 0.24),
                compression_rate=0.8,
                n=600,
            )
        )
        for step in range(1, steps + 1):
            log.step(step_record(step, rng=rng))
        log.event(
            EvaluationEvent(
                step=steps // 2,
                accuracy=0.3,
                accuracy_ci=(0.26, 0.34),
                compression_rate=0.7,
                n=600,
            )
        )
        log.event(
            EvaluationEvent(
                step=steps,
                name="after",
                text="held-out accuracy after: 42.0%",
                accuracy=0.42,
                accuracy_ci=(0.38, 0.46),
                compression_rate=0.6,
                n=600,
            )
        )
        log.write_summary(
            Summary.from_json(
                {
                    "steps": steps,
                    "rollouts": 128 * steps,
                    "seconds": {
                        "warmup": 9.0,
                        "rollout": 12.0,
                        "execute": 6.0,
                        "learn": 18.0,
                        "eval": 4.0,
                        "total": 50.0,
                    },
                    "pass_rate": {"target": 0.5, "mean": 0.48, "in_band": 0.8},
                    "bits": {"per_rollout": 0.9, "total": 115.2 * steps, "per_gflop": 4.8},
                    "eval": {"before": {"accuracy": 0.21}, "after": {"accuracy": 0.42}},
                    "sandbox": {
                        "backend": "embedded",
                        "executed": 9000,
                        "infra": 0,
                        "programs_per_second": 400.0,
                    },
                    "checkpoint": "checkpoints/step_000060",
                }
            )
        )
    return run_dir
