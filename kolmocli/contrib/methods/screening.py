"""Screening: of several tasks of a family those are asked that are expected to tell the most.

A level holds the mean pass rate of a family. It does not make its tasks alike: where half of them always pass and half
never do, the mean is as wanted and no group says anything. So `draws` times as many tasks are drawn as are needed, the
signal U of each is predicted, and the highest are asked. U = k(G−k)/(G(G−1)), the unbiased estimate of p(1−p), is what is
predicted and not p: a task whose p is unknown passes for one of p = 1/2 otherwise.

All that is known of an untried task is the policy's own reading of the prompt: its last hidden state and the
mean of all of them, and the bucket. A prompt is read once and nothing is written, which costs about as much as one rollout
of the eight (PCL, Gao et al. 2025, arXiv 2510.01135, trains a second model for this). A tried task is known
by its passes: those that said something are candidates again, until they have been asked `visits` times. One
regression weighs all of it (`learning/regression.py`), and is solved again in every step.

A part of the groups, the probes, is asked as drawn: they show whether the predictions hold, and keep them honest where
nothing is chosen any more. The rollouts of a chosen task are sampled afresh, so the gradient is unbiased for the tasks that are
asked. The controller sees them like any others: it holds the mean of what is asked.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from statistics import mean
from typing import Any

import torch

from kolmocli.contrib.methods.reading import prompt_states
from kolmocli.contrib.settings import ScreeningSettings
from kolmocli.curriculum.base import Bucket
from kolmocli.engine.base import Group
from kolmocli.engine.report import Cost
from kolmocli.errors import UsageError
from kolmocli.learning.batches import Weighted
from kolmocli.learning.regression import Regression
from kolmocli.monitor.records import ReinforceRecord, ScreeningRecord
from kolmocli.policy.head import find_head
from kolmocli.policy.policy import Policy
from kolmocli.tasks.base import Task, TaskSource
from kolmocli.training.methods.base import Draw, Method, MethodContext, register_method

_RIPE = 3
"""Steps that are learned from before anything is chosen."""
_LOUD = 5.0
"""Scale of the few most telling numbers compared with a state's, so that the ridge hardly shrinks them."""
_REMEMBERED = 1024
"""Tasks that may be asked again, at most; those tried longest ago are forgotten."""

Key = tuple[str, int, int]
"""Family, level and index: what a task is made from."""


@dataclass(frozen=True, slots=True)
class Tried:
    """A task's latest group: passes of rollouts, and how often it has been asked by then."""

    task: Task
    passes: int
    rollouts: int
    visits: int

    @property
    def signal(self) -> float:
        return self.passes * (self.rollouts - self.passes) / (self.rollouts * (self.rollouts - 1))


@dataclass(frozen=True, slots=True)
class _Asked:
    """A task that is under way: what was known of it, what was expected, and whether it was chosen for that."""

    features: torch.Tensor
    expected: float
    is_probe: bool


@dataclass(frozen=True, slots=True)
class _Begun:
    """The tasks of a step that were chosen here, and what that cost. Another method may have changed some of them since."""

    asked: Mapping[Key, _Asked]
    cost: Cost


class Screening(Method):
    def __init__(
        self, settings: ScreeningSettings, source: TaskSource, policy: Policy, rng: Callable[[int], random.Random]
    ) -> None:
        """`rng(step)` gives the random numbers of a step.

        Raises UsageError where the last hidden states of the policy's model are out of reach.
        """
        head = find_head(policy.model)
        if isinstance(head, str):
            raise UsageError(f"methods.screening: needs the hidden states of the model ({head}); remove it")
        self._settings, self._source, self._policy, self._rng, self._head = settings, source, policy, rng, head
        self._buckets = {bucket: i for i, bucket in enumerate(source.buckets())}
        self._regression = Regression(2 * head.linear.in_features + len(self._buckets) + 3)
        self._tried: dict[Key, Tried] = {}
        self._begun: dict[int, _Begun] = {}
        """The steps that were begun and not learned yet."""
        self._latest = _Begun({}, Cost())
        """The one that is being learned."""
        self._record: ScreeningRecord | None = None

    # --- choosing
    def tasks(self, step: int, count: int, draw: Draw) -> list[Task]:
        began, rng = time.perf_counter(), self._rng(step)
        drawn = draw(count)
        others = draw(count * (self._settings.draws - 1)) + [tried.task for tried in self._tried.values()]
        known, tokens = self._read([*drawn, *others])
        expected = dict(zip(known, self._regression(torch.stack([*known.values()])).tolist(), strict=True))
        is_ripe = self._regression.fits >= _RIPE
        probes = [not is_ripe or rng.random() < self._settings.probes for _ in drawn]
        as_drawn = {_key(task) for task, is_probe in zip(drawn, probes, strict=True) if is_probe}
        candidates = {_key(task): task for task in chain(drawn, others) if _key(task) not in as_drawn}
        ranks: dict[str, list[Task]] = {}
        for key in sorted(candidates, key=expected.__getitem__):
            ranks.setdefault(key[0], []).append(candidates[key])
        chosen, asked = [], {}
        for task, is_probe in zip(drawn, probes, strict=True):
            best = task if is_probe else ranks[task.bucket.family].pop()
            key = _key(best)
            asked[key] = _Asked(known[key], expected[key], is_probe)
            chosen.append(best)
        self._begun[step] = _Begun(asked, Cost(rollout_seconds=time.perf_counter() - began, read=tokens))
        return chosen

    def _read(self, tasks: Sequence[Task]) -> tuple[dict[Key, torch.Tensor], int]:
        """All that is known of each task, and the tokens that were read for it."""
        prompts = [self._policy.prompt_ids(task.asked, task.prefix) for task in tasks]
        self._policy.model.eval()
        states_ND = prompt_states(self._head, prompts, self._policy.pad_id).cpu()
        few_NF = torch.tensor([self._few(task) for task in tasks])
        rows = torch.cat([states_ND, _LOUD * few_NF], -1)
        return dict(zip(map(_key, tasks), rows, strict=True)), sum(map(len, set(prompts)))

    def _few(self, task: Task) -> list[float]:
        """Its bucket, whether it has been tried, how many passed then, and what that said, each of 0 to 1."""
        bucket = [0.0] * len(self._buckets)
        bucket[self._buckets[task.bucket]] = 1.0
        tried = self._tried.get(_key(task))
        return [
            *bucket,
            *((0.0, 0.0, 0.0) if tried is None else (1.0, tried.passes / tried.rollouts, 4 * tried.signal)),
        ]

    # --- learning from what came of it
    def lessons(self, step: int, groups: Sequence[Group]) -> list[Weighted]:
        self._latest = self._begun.pop(step, _Begun({}, Cost()))  # none of a step that a stopped run had begun
        return []

    def observe(self, groups: Sequence[Group]) -> None:
        seen = list[tuple[_Asked, float]]()
        for group in groups:
            key, result = _key(group.task), group.result()
            asked = self._latest.asked.get(key)
            if asked is None or group.task.bucket not in self._buckets or result.rollouts < 2:
                continue  # another method's task, or one that this method made easier
            before = self._tried.pop(key, None)
            now = Tried(group.task, result.passes, result.rollouts, 1 + (before.visits if before else 0))
            seen.append((asked, now.signal))
            if now.signal and now.visits < self._settings.visits:
                self._tried[key] = now
        while len(self._tried) > _REMEMBERED:
            del self._tried[next(iter(self._tried))]
        if seen:
            rows, signals = torch.stack([asked.features for asked, _ in seen]), torch.tensor([u for _, u in seen])
            self._regression.observe(rows, signals, torch.ones(len(seen)))
            self._regression.fit()
        self._record = _compared(seen)

    def cost(self) -> Cost:
        return self._latest.cost

    def metrics(self, record: ReinforceRecord, groups: Sequence[Group]) -> ReinforceRecord:
        return replace(record, screening=self._record)

    def state_dict(self) -> dict[str, Any]:
        return {
            "regression": self._regression.state_dict(),
            "tried": [[*key, t.passes, t.rollouts, t.visits] for key, t in self._tried.items()],
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._regression.load_state_dict(state["regression"])
        tried = [(self._source.task(Bucket(f, level), i), of_group) for f, level, i, *of_group in state["tried"]]
        self._tried = {_key(task): Tried(task, *of_group) for task, of_group in tried}


@register_method("screening")
def screening(context: MethodContext, **settings: Any) -> Screening:
    return Screening(ScreeningSettings(**settings), context.source, context.policy, context.rng)


def _key(task: Task) -> Key:
    return task.bucket.family, task.bucket.level, task.index


def _compared(seen: Sequence[tuple[_Asked, float]]) -> ScreeningRecord:
    chosen, probes = ([(a.expected, u) for a, u in seen if a.is_probe is kind] for kind in (False, True))
    again = [bool(a.features[-3]) for a, _ in seen]
    return ScreeningRecord(
        again=mean(again) if again else None,
        expected=mean(e for e, _ in chosen) if chosen else None,
        signal=mean(u for _, u in chosen) if chosen else None,
        probes_expected=mean(e for e, _ in probes) if probes else None,
        probes_signal=mean(u for _, u in probes) if probes else None,
    )
