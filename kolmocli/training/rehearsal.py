"""How long a run would take on this machine: some steps of each kind are taken, with a policy that is thrown away.

A policy that has learnt nothing writes programs of any length, so rollouts are as long as the references of their tasks; where there
is no reference, half of what is allowed. Not rehearsed are the sandbox, which judges while programs are written, checkpoints,
and methods beyond plain REINFORCE.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any

import torch

from kolmocli.config import Config
from kolmocli.curriculum.base import Bucket
from kolmocli.learning.batches import Batch, Weighted
from kolmocli.learning.learner import Learner
from kolmocli.learning.trained import open_learner
from kolmocli.policy.policy import Policy
from kolmocli.policy.precision import choose_precision
from kolmocli.seeds import derived_seed
from kolmocli.tasks.base import Task, TaskSource
from kolmocli.tasks.sources import training_source
from kolmocli.training.opening import open_policy
from kolmocli.training.transcripts import transcripts_of
from kolmocli.training.warmstart import CHECK_TASKS, choose, taught_buckets, teach

_MOMENTS = 3
"""Steps of the warm start that are taken, from its first to its last: levels open on the way."""
_AT_MOST = 32
"""References or rollouts of a rehearsed step. A larger one takes as much longer as it is larger."""


def rehearse(config: Config) -> dict[str, float]:
    """Estimated seconds of the warm start, of REINFORCE, of the evaluations and of all, and the hours of all cores together.

    Raises:
        UsageError: the model cannot be built.
    """
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(config.threads or threads)
        policy = open_policy(config)
        policy.precision = choose_precision(policy.model, config.model.precision)
        learner = open_learner(policy, config.training, model=config.model.name, seed=config.seed)
        source = training_source(config, lambda _: None)
        found = _seconds(config, source, policy, learner)
        found["all"] = sum(found.values())
        found["core_hours"] = found["all"] * torch.get_num_threads() / 3600
    finally:
        torch.set_num_threads(threads)
    return {name: round(seconds, 2) for name, seconds in found.items()}


def _seconds(config: Config, source: TaskSource, policy: Policy, learner: Learner) -> dict[str, float]:
    warmup, training = config.warmup, config.training
    rng = random.Random(derived_seed(config.seed, "rehearsal"))
    buckets = source.buckets()
    tasks = [source.task(rng.choice(buckets), i) for i in range(_AT_MOST)]
    group = training.group_size * training.best_of
    groups = [tasks[i] for i in range(max(1, min(training.batch_size // training.group_size, _AT_MOST // group)))]
    share = training.batch_size // training.group_size / len(groups)
    tokens = _tokens(policy, tasks, training.max_new_tokens)
    batch = _batch(policy, groups, training.group_size, tokens)
    learner.step(batch, 0.0)  # the first one finds out how products are best taken
    sample = _timed(lambda: _sample(policy, groups, group, tokens, greedily=False)) * share
    learn = _timed(lambda: learner.step(batch, 0.0, updates=training.updates)) * share
    one_each = _timed(lambda: _sample(policy, tasks, 1, tokens, greedily=False)) / len(tasks)
    greedily = _timed(lambda: _sample(policy, tasks, 1, tokens, greedily=True)) / len(tasks)
    evaluations = 2 + (max(0, training.steps - 1) // config.evaluation.every if config.evaluation.every else 0)
    taught = taught_buckets(source, warmup)
    found = {"warm_start": 0.0, "reinforce": training.steps * (sample + learn)}
    if taught and warmup.max_steps:
        checks = warmup.max_steps // warmup.check_every * CHECK_TASKS * one_each
        found["warm_start"] = checks + warmup.max_steps * fmean(
            _warm_step(config, source, taught, learner, 1 + i * (warmup.max_steps - 1) // (_MOMENTS - 1), rng)
            for i in range(_MOMENTS)
        )
    return {**found, "evaluations": evaluations * config.evaluation.tasks * greedily}


def _warm_step(
    config: Config, source: TaskSource, taught: Sequence[Bucket], learner: Learner, step: int, rng: random.Random
) -> float:
    """Seconds of this step of the warm start."""
    warmup = config.warmup
    few = warmup.model_copy(update={"batch_size": min(warmup.batch_size, _AT_MOST)})
    chosen = choose(taught, few, step, rng)
    tasks = [source.task(bucket, rng.randrange(1 << 30)) for bucket in chosen]
    tasks = transcripts_of(config, source, learner.policy).among(tasks, rng)
    return _timed(lambda: teach(learner, tasks, 0.0)) * warmup.batch_size / len(tasks)


def _tokens(policy: Policy, tasks: Sequence[Task], most: int) -> int:
    """Of the mean reference."""
    answers = policy.answers(tasks)
    return min(most, round(fmean(len(answer.tokens) for answer in answers))) if answers else max(1, most // 2)


def _sample(policy: Policy, tasks: Sequence[Task], samples: int, tokens: int, *, greedily: bool) -> None:
    generator = None if greedily else torch.Generator(policy.model.device).manual_seed(0)
    policy.rollout([task.asked for task in tasks], samples=samples, max_new_tokens=tokens, generator=generator)


def _batch(policy: Policy, tasks: Sequence[Task], size: int, tokens: int) -> Batch:
    """Groups of sampled programs, half of each better than its mean."""
    generator = torch.Generator(policy.model.device).manual_seed(0)
    asked = [task.asked for task in tasks]
    rollouts = policy.rollout(asked, samples=size, max_new_tokens=tokens, generator=generator)
    weighted = [Weighted(r, [(-1.0) ** i] * len(r.tokens)) for i, r in enumerate(rollouts)]
    return Batch([weighted[i : i + size] for i in range(0, len(weighted), size)])


def _timed(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
