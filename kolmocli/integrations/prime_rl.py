"""A task sampler of prime-rl with a controller of kolmo: which task of `KolmoTaskset` comes next, by what passed.

docs/prime-rl.md says how a configuration names it, and docs/prime-rl.patch what prime-rl needs for that.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import verifiers.v1 as vf
from prime_rl.orchestrator.curriculum.samplers import TaskSampler

from kolmocli.curriculum.base import Bucket, Result
from kolmocli.errors import UsageError
from kolmocli.integrations.course import open_course
from kolmocli.integrations.verifiers import KolmoTask, task_of
from kolmocli.registry import load_plugin


@dataclass(frozen=True, slots=True)
class _Heard:
    """The result of a group, and the version of the policy that its first token was sampled with."""

    bucket: Bucket
    passes: int
    rollouts: int
    version: int
    unread: int = 0


class PassRateSampler(TaskSampler):
    """Tasks of the buckets that the controller proposes, one group at a time.

    Groups end one by one, and out of order. Finished groups are kept until a rollout of a newer version of the policy comes
    in; then the controller observes it, once for each version, each group with its age.

    Args:
        tasks: those of a `KolmoTaskset` with `split="train"`; only the configuration of the first is used.
        settings: keys of the controller, dotted, laid over the curriculum file: `{"controller.kind": "window"}`. All other keys
            decide what a task asks, and workers read them from the file.

    Raises:
        UsageError: tasks or settings of another kind.
    """

    def __init__(self, tasks: Iterable[vf.Task], settings: dict[str, Any] | None = None) -> None:
        first = next(iter(tasks))
        if not isinstance(first, KolmoTask):
            raise UsageError(f"PassRateSampler takes the tasks of a KolmoTaskset, not {type(first).__name__}")
        if first.data.split != "train":
            raise UsageError('PassRateSampler draws tasks of training: give the KolmoTaskset split="train"')
        for key in settings or {}:
            if not key.startswith("controller."):
                raise UsageError(f"settings: {key}: a worker reads it from the curriculum file, so change it there")
        self._config = first.config
        for plugin in self._config.plugins:
            load_plugin(plugin)
        self.course = open_course(self._config.curriculum, settings=settings, judges=False)
        asked = task_of(
            self.course.task(Bucket(first.data.family, first.data.level), first.data.index), first.config, "train"
        )
        shown = first.data.system_prompt
        self._shown = {} if shown == asked.data.system_prompt else {"system_prompt": shown}  # the taskset's own
        self._heard: list[_Heard] = []
        self._version = 0

    def __next__(self) -> KolmoTask:
        (task,) = self.course.draw(1)
        return task_of(task, self._config, "train").with_data(**self._shown)

    def observe(self, group: list[vf.Episode]) -> None:
        """Take in a group. Rollouts with an error, and those of agents that are not trained, say nothing.

        Raises UsageError when none of the others was scored by a `KolmoTask`.
        """
        traces = [trace for episode in group for trace in episode.traces]
        judged = [trace for trace in traces if not trace.has_error and trace.agent.trainable]
        passed = [trace.metrics["passed"] for trace in judged if trace.metrics.get("passed") is not None]
        if judged and not passed:
            raise UsageError(
                f"{group[0].task.key}: no rollout has the metric `passed`; let KolmoTask.reward score them"
            )
        unread = sum(trace.metrics.get("unread") or 0.0 for trace in judged)
        begun, ended = _versions(group)
        if ended > self._version:
            self._tell()
            self._version = ended
        data = group[0].task.data
        bucket = Bucket(data.family, data.level)
        self._heard.append(_Heard(bucket, int(sum(passed)), len(passed), begun, int(unread)))

    def _tell(self) -> None:
        results = [
            Result(h.bucket, h.passes, h.rollouts, max(0, self._version - h.version), h.unread) for h in self._heard
        ]
        if results:
            self.course.observe(results)
        self._heard.clear()

    def state_dict(self) -> dict[str, Any]:
        heard = [[h.bucket.family, h.bucket.level, h.passes, h.rollouts, h.version, h.unread] for h in self._heard]
        return {"course": self.course.state_dict(), "heard": heard, "version": self._version}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.course.load_state_dict(state_dict["course"])
        self._heard = [_Heard(Bucket(family, level), *rest) for family, level, *rest in state_dict["heard"]]
        self._version = state_dict["version"]

    def metrics(self) -> dict[str, float]:
        return self.course.metrics()


def _versions(group: list[vf.Episode]) -> tuple[int, int]:
    """The oldest and the newest version of the policy that took part; the training step where none is noted."""
    spans = []
    for episode in group:
        work = episode.run.work if isinstance(episode.run, vf.TrainRunInfo) else None
        if work is not None:
            spans.append((work.step, work.step) if work.policy is None else (work.policy.start, work.policy.end))
    return (min(s for s, _ in spans), max(e for _, e in spans)) if spans else (0, 0)
