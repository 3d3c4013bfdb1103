"""What presets learn in the supervised warm start of a curriculum: held-out nats per token, by preset and rate.

    python benchmarks/presets.py --presets tiny tiny-llama --rates 3e-3 6e-3 --seconds 60
    python benchmarks/presets.py --presets tiny tiny-llama --steps 100 --seeds 0 1 2

Every row is a warm start from random weights: the references of the levels that the curriculum teaches, in its batches, at a
rate that rises over the first steps and falls to 0 at the end. It is measured on the references of held-out tasks of
those levels. With `--seconds` a preset has so much time and steps count for what it makes of them; with `--steps` all have
equally many. Nothing is sampled, and no program runs.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from itertools import product
from typing import Any

import torch

from kolmocli.config import Config
from kolmocli.config.file import load_config
from kolmocli.curriculum.base import Bucket
from kolmocli.learning.learner import Learner
from kolmocli.learning.trained import open_learner
from kolmocli.paths import find_curriculum
from kolmocli.policy.precision import choose_precision
from kolmocli.policy.presets import PRESETS
from kolmocli.policy.rollout import Rollout
from kolmocli.seeds import derived_seed
from kolmocli.tasks.base import Task
from kolmocli.tasks.sources import evaluation_source, training_source
from kolmocli.training.opening import open_policy
from kolmocli.training.warmstart import ramp, taught_buckets, teach

_AT_ONCE = 64
"""Answers that are scored together."""


def warm_start(config: Config, *, tasks: int, steps: int | None, seconds: float) -> dict[str, Any]:
    """One row. A seed has the same tasks in the same order for all presets and rates."""
    policy = open_policy(config)
    policy.precision = choose_precision(policy.model, config.model.precision)
    learner = open_learner(policy, config.training, model=config.model.name, seed=config.seed)
    evaluated = evaluation_source(config, note)
    buckets = taught_buckets(evaluated, config.warmup)
    held_out = [evaluated.task(buckets[i % len(buckets)], i // len(buckets)) for i in range(tasks)]
    answers = policy.answers(held_out)
    source = training_source(config, note, held_out)
    buckets, drawn = taught_buckets(source, config.warmup), Counter[Bucket]()
    rng = random.Random(derived_seed(config.seed, "warm start"))
    before, taken, began = nats_per_token(learner, answers), 0, time.perf_counter()
    while (done := (time.perf_counter() - began) / seconds if steps is None else taken / steps) < 1.0:
        taken += 1
        batch = list[Task]()
        for bucket in rng.choices(buckets, k=config.warmup.batch_size):
            batch.append(source.task(bucket, drawn[bucket]))
            drawn[bucket] += 1
        teach(learner, batch, config.warmup.learning_rate * ramp(taken, done))
    return {
        "preset": config.model.name, "rate": config.warmup.learning_rate, "seed": config.seed,
        "parameters": policy.parameters, "steps": taken, "before": before, "nats": nats_per_token(learner, answers),
    }  # fmt: skip


@torch.no_grad()
def nats_per_token(learner: Learner, answers: Sequence[Rollout]) -> float:
    parts = [answers[i : i + _AT_ONCE] for i in range(0, len(answers), _AT_ONCE)]
    nats = -sum(float(learner.scorer(part).logprobs_K.sum()) for part in parts)
    return nats / sum(len(answer.tokens) for answer in answers)


def note(text: str) -> None:
    print(text, file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--presets", nargs="+", default=["tiny", "tiny-llama"], choices=PRESETS, metavar="PRESET")
    parser.add_argument("--rates", type=float, nargs="+", help="learning rates (default: the curriculum's)")
    parser.add_argument("--seconds", type=float, default=60.0, help="of each warm start")
    parser.add_argument("--steps", type=int, help="of each warm start, in place of --seconds")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--curriculum", default="quickstart", help="a packaged name, or a file")
    parser.add_argument("--tasks", type=int, default=512, help="held-out tasks")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of the table")
    options = parser.parse_args()
    if options.seconds <= 0 or min(options.steps or 1, options.tasks) < 1:
        parser.error("--seconds, --steps and --tasks must be above 0")
    file, found = find_curriculum(options.curriculum), []
    if not options.json:
        print("preset           rate  seed  parameters  steps  nats per token, before → after", flush=True)
    for seed, preset, rate in product(options.seeds, options.presets, options.rates or [None]):
        changes = {"seed": seed, "model.name": preset} | ({} if rate is None else {"warmup.learning_rate": rate})
        row = warm_start(load_config(file, changes), tasks=options.tasks, steps=options.steps, seconds=options.seconds)
        found.append(row)
        if not options.json:
            print(
                f"{row['preset']:14} {row['rate']:6.0e} {row['seed']:5} {row['parameters']:11,} {row['steps']:6} "
                f"{row['before']:8.3f} → {row['nats']:.3f}",
                flush=True,
            )
    if options.json:
        print(json.dumps({"schema_version": 1, "curriculum": options.curriculum, "runs": found}, indent=1))


if __name__ == "__main__":
    main()
