"""Estimate the time of a run on this machine: parts of steps of each kind are taken, with a policy that is thrown away.

A policy that has learned nothing writes answers of any length, so rollouts are as long as the references of their tasks; where there
is no reference, half of what is allowed. Long work is rehearsed in part and multiplied: of sampling the reading of
some prompts and the first tokens after them, of learning one micro-batch or less of it. Not rehearsed are the sandbox, which
judges while programs are written, checkpoints, and methods beyond plain REINFORCE.

Shapes: T tokens of a prompt, C of an answer.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import torch

from kolmocli.config import Config
from kolmocli.curriculum.base import Bucket
from kolmocli.learning.batches import Batch, Weighted
from kolmocli.learning.learner import Learner
from kolmocli.learning.limits import TOKENS_PER_MICRO_BATCH
from kolmocli.learning.trained import open_learner
from kolmocli.policy.policy import Policy
from kolmocli.policy.precision import choose_precision
from kolmocli.policy.rollout import Rollout
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
_PRODUCTS = 5e10
"""Parameters times tokens of a rehearsed learning pass, which is six times as many floating-point operations: seconds of a core."""
_CHEAPER = 3
"""Tokens that are read or written in the time of learning from one."""


def rehearse(config: Config) -> dict[str, float]:
    """Estimated seconds of an update, of the warm start, of REINFORCE, of the evaluations and of all; and the hours of all, and
    of all cores together.

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
        update, found = _seconds(config, source, policy, learner)
        found["all"] = sum(found.values())
        found |= {"update": update, "hours": found["all"] / 3600}
        found["core_hours"] = found["hours"] * torch.get_num_threads()
    finally:
        torch.set_num_threads(threads)
    return {name: round(seconds, 2) for name, seconds in found.items()}


@dataclass(frozen=True, slots=True)
class _Lengths:
    """Tokens of the mean prompt and the mean answer; and how many tokens a rehearsed learning pass may have."""

    prompt: int
    answer: int
    budget: int

    def rollouts(self, most: int) -> int:
        """Rollouts of one prompt in a rehearsed learning pass."""
        return max(1, min(most, _AT_MOST, (self.budget - self.prompt) // self.answer))

    def references(self, most: int) -> int:
        """Each with its own prompt."""
        return max(1, min(most, _AT_MOST, self.budget // (self.prompt + self.answer)))

    @property
    def prompts(self) -> int:
        """Prompts of a rehearsed reading."""
        return max(1, min(_AT_MOST, _CHEAPER * self.budget // self.prompt))


@dataclass(frozen=True, slots=True)
class _Sampling:
    """Seconds to read a prompt, and to write a token of a rollout."""

    read: float
    write: float

    def __call__(self, prompts: int, samples: int, tokens: int) -> float:
        return prompts * (self.read + samples * tokens * self.write)


def _seconds(config: Config, source: TaskSource, policy: Policy, learner: Learner) -> tuple[float, dict[str, float]]:
    """Seconds of an update, and of the parts of a run."""
    warmup, training = config.warmup, config.training
    rng = random.Random(derived_seed(config.seed, "rehearsal"))
    buckets = source.buckets()
    tasks = [source.task(rng.choice(buckets), i) for i in range(_AT_MOST)]
    lengths = _lengths(policy, tasks, training.max_new_tokens)
    samples, prompts = training.group_size * training.best_of, training.batch_size // training.group_size
    learner.step(_batch(policy, tasks[:1], 1, 2), 0.0)  # the first one finds out how products are best taken
    sampling = _sampling(policy, tasks, lengths, samples, greedily=False)
    greedily = sampling if policy.precision == "fp32" else _sampling(policy, tasks, lengths, 1, greedily=True)
    update = sampling(prompts, samples, lengths.answer) + _learning(policy, learner, tasks, lengths, config)
    evaluations = 2 + (max(0, training.steps - 1) // config.evaluation.every if config.evaluation.every else 0)
    taught = taught_buckets(source, warmup)
    found = {"warm_start": 0.0, "reinforce": training.steps * update}
    if taught and warmup.max_steps:
        checks = warmup.max_steps // warmup.check_every * sampling(CHECK_TASKS, 1, lengths.answer)
        found["warm_start"] = checks + warmup.max_steps * fmean(
            _warm_step(config, source, taught, learner, lengths, 1 + i * (warmup.max_steps - 1) // (_MOMENTS - 1), rng)
            for i in range(_MOMENTS)
        )
    return update, {**found, "evaluations": evaluations * greedily(config.evaluation.tasks, 1, lengths.answer)}


def _lengths(policy: Policy, tasks: Sequence[Task], most: int) -> _Lengths:
    answers = policy.answers(tasks)
    answer = min(most, round(fmean(len(a.tokens) for a in answers))) if answers else max(1, most // 2)
    prompt = round(fmean(len(policy.prompt_ids(task.asked)) for task in tasks))
    return _Lengths(prompt, answer, min(TOKENS_PER_MICRO_BATCH, round(_PRODUCTS / policy.parameters)))


def _sampling(policy: Policy, tasks: Sequence[Task], lengths: _Lengths, samples: int, *, greedily: bool) -> _Sampling:
    """The cost of a few tokens after some prompts, without that of reading the prompts."""
    rows = min(samples, _AT_MOST)
    asked = [task.asked for task in tasks[: max(1, min(lengths.prompts, _AT_MOST // rows))]]

    def sample(tokens: int) -> float:
        generator = None if greedily else torch.Generator(policy.model.device).manual_seed(0)
        return _timed(lambda: policy.rollout(asked, samples=rows, max_new_tokens=tokens, generator=generator))

    more = max(1, min(lengths.answer - 1, _CHEAPER * lengths.budget // (len(asked) * rows)))
    read = sample(1)
    return _Sampling(read / len(asked), max(0.0, sample(1 + more) - read) / more / len(asked) / rows)


def _learning(policy: Policy, learner: Learner, tasks: Sequence[Task], lengths: _Lengths, config: Config) -> float:
    """Seconds of learning from one batch, by its tokens."""
    training = config.training
    size, prompts = training.group_size, training.batch_size // training.group_size
    rows = lengths.rollouts(size)
    count = max(1, min(prompts, lengths.budget // (lengths.prompt + rows * lengths.answer), _AT_MOST // rows))
    batch = _batch(policy, tasks[:count], rows, lengths.answer)
    share = prompts * (lengths.prompt + size * lengths.answer) / (count * (lengths.prompt + rows * lengths.answer))
    return share * _timed(lambda: learner.step(batch, 0.0, updates=min(training.updates, count)))


def _warm_step(
    config: Config,
    source: TaskSource,
    taught: Sequence[Bucket],
    learner: Learner,
    lengths: _Lengths,
    step: int,
    rng: random.Random,
) -> float:
    """Seconds of this step of the warm start."""
    warmup = config.warmup
    few = warmup.model_copy(update={"batch_size": lengths.references(warmup.batch_size)})
    chosen = choose(taught, few, step, rng)
    tasks = [source.task(bucket, rng.randrange(1 << 30)) for bucket in chosen]
    tasks = transcripts_of(config, source, learner.policy).among(tasks, rng)
    return _timed(lambda: teach(learner, tasks, 0.0)) * warmup.batch_size / len(tasks)


def _batch(policy: Policy, tasks: Sequence[Task], size: int, tokens: int) -> Batch:
    """Groups of answers that somebody else could have sampled, half of each better than its mean: what is in them does not matter."""
    word = next(i for i in range(policy.model.config.vocab_size) if i not in policy.stop_ids)
    groups = []
    for task in tasks:
        rollout = Rollout(policy.prompt_ids(task.asked), (word,) * tokens, (0.0,) * tokens, (0,) * tokens, "", False)
        groups.append([Weighted(rollout, [(-1.0) ** i] * tokens) for i in range(size)])
    return Batch(groups)


def _timed(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
