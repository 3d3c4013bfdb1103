"""A sampler of prime-rl, against its real curriculum: it proposes by the controller, and tells it what came of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kolmocli.curriculum.base import Bucket, Result
from kolmocli.errors import UsageError

pytestmark = pytest.mark.prime_rl


@pytest.fixture
def tasks() -> Any:
    from kolmocli.integrations.verifiers import KolmoTaskset, KolmoTasksetConfig

    return iter(KolmoTaskset(KolmoTasksetConfig(task={"curriculum": "digits"})))


def group_of(task: Any, passed: list[bool | None], start: int, end: int) -> Any:
    """The finished episodes of a group; None: one with an error."""
    import verifiers.v1 as vf

    named = vf.TraceTask(type=type(task).__name__, data=task.data, key=task.key, hash=task.hash)
    work = vf.TrainWorkInfo(step=end + 1, policy=vf.PolicySpan(start=start, end=end))
    episodes = []
    for value in passed:
        trace = vf.Trace(task=named, agent=vf.AgentInfo(config=vf.AgentConfig()), ok=value is not None)
        if value is None:
            trace.record_error(RuntimeError("the sandbox failed"))
        else:
            trace.record_metric("passed", float(value))
        episodes.append(
            vf.Episode(
                env=vf.EnvInfo(id="kolmo", name="kolmo"), task=named, group=vf.GroupInfo(id=task.key), traces=[trace],
                run=vf.TrainRunInfo(id="run", work=work),
            )
        )  # fmt: skip
    return episodes


def listening(sampler: Any) -> list[list[Result]]:
    """What the controller is told from now on."""
    told: list[list[Result]] = []
    observe = sampler.course.observe

    def noted(results: Any) -> list[str]:
        told.append(list(results))
        return list(observe(results))

    sampler.course.observe = noted
    return told


def test_each_version_of_the_policy_is_observed_once_with_ages(tasks: Any) -> None:
    from kolmocli.integrations.prime_rl import PassRateSampler

    sampler = PassRateSampler(tasks)
    told = listening(sampler)
    asked = [next(sampler) for _ in range(4)]
    sampler.observe(group_of(asked[0], [True, False, None], 0, 0))
    sampler.observe(group_of(asked[1], [True, True, True], 0, 0))
    assert not told
    sampler.observe(group_of(asked[2], [False, False, False], 0, 1))
    buckets = [Bucket(task.data.family, task.data.level) for task in asked]
    assert told == [[Result(buckets[0], 1, 2, 0), Result(buckets[1], 3, 3, 0)]]
    sampler.observe(group_of(asked[3], [True, False, False], 2, 2))
    assert told[1:] == [[Result(buckets[2], 0, 3, 1)]]


def test_what_never_reached_the_check_is_told_and_kept(tasks: Any) -> None:
    from kolmocli.integrations.prime_rl import PassRateSampler

    sampler = PassRateSampler(tasks)
    group = group_of(next(sampler), [False, False, True], 0, 0)
    group[0].traces[0].record_metric("unread", 1.0)
    sampler.observe(group)
    again = PassRateSampler(tasks)
    again.load_state_dict(json.loads(json.dumps(sampler.state_dict())))
    told = listening(again)
    again.observe(group_of(next(again), [True], 1, 1))
    assert [(r.passes, r.rollouts, r.unread) for r in told[0]] == [(1, 3, 1)]


def test_a_saved_state_goes_on_as_the_unbroken_one(tasks: Any) -> None:
    from kolmocli.integrations.prime_rl import PassRateSampler

    one = PassRateSampler(tasks)
    for step in range(3):
        one.observe(group_of(next(one), [True, True, False], step, step))
    state = json.loads(json.dumps(one.state_dict()))
    other = PassRateSampler(tasks)
    other.load_state_dict(state)
    assert other.state_dict() == one.state_dict()
    assert [next(other).key for _ in range(20)] == [next(one).key for _ in range(20)]
    assert other.metrics() == one.metrics()


def test_settings_choose_the_controller(tasks: Any) -> None:
    from kolmocli.integrations.prime_rl import PassRateSampler

    assert PassRateSampler(tasks, {"controller.kind": "uniform"}).course.controller.state_dict()["kind"] == "uniform"


def test_what_workers_would_not_know_of_is_refused(tasks: Any) -> None:
    """They judge by the taskset's configuration: whatever else were asked would be judged as another question."""
    from kolmocli.integrations.prime_rl import PassRateSampler
    from kolmocli.integrations.verifiers import KolmoTaskset, KolmoTasksetConfig

    with pytest.raises(UsageError, match="settings: seed: a worker reads it from the curriculum file"):
        PassRateSampler(tasks, {"seed": 1})
    held_out = KolmoTaskset(KolmoTasksetConfig(split="eval", task={"curriculum": "digits"}))
    with pytest.raises(UsageError, match='give the KolmoTaskset split="train"'):
        PassRateSampler(held_out)


def test_what_it_draws_is_what_a_worker_judges(tasks: Any) -> None:
    from kolmocli.integrations.prime_rl import PassRateSampler
    from kolmocli.integrations.verifiers import course_of

    sampler = PassRateSampler(tasks, {"controller.kind": "uniform"})
    for task in (next(sampler) for _ in range(20)):
        data = task.data
        judged = course_of(task.config).task(Bucket(data.family, data.level), data.index, data.split)
        assert judged.asked.text == data.prompt


def test_the_system_prompt_of_the_taskset_is_kept(tmp_path: Path) -> None:
    from kolmocli.integrations.prime_rl import PassRateSampler
    from kolmocli.integrations.verifiers import KolmoTaskset, KolmoTasksetConfig

    (tmp_path / "system.txt").write_text("Be brief.")
    own = KolmoTaskset(KolmoTasksetConfig(task={"curriculum": "digits"}, system_prompt=tmp_path / "system.txt"))
    assert next(PassRateSampler(own)).data.system_prompt == "Be brief."
    two = "{numbers: {task: examples, of: numbers}, sums: {task: sum_digits, levels: [{integers: [1, 1], digits: [2, 2]}]}}"
    (tmp_path / "two.yaml").write_text(f"families: {two}\n")
    usual = PassRateSampler(KolmoTaskset(KolmoTasksetConfig(task={"curriculum": str(tmp_path / "two.yaml")})))
    shown = {task.data.family: task.data.system_prompt for task in (next(usual) for _ in range(30))}
    assert shown["numbers"] != shown["sums"]


def test_a_group_that_nobody_scored_is_refused_and_one_without_a_metric_is_left_out(tasks: Any) -> None:
    from kolmocli.integrations.prime_rl import PassRateSampler

    sampler = PassRateSampler(tasks)
    told = listening(sampler)
    group = group_of(next(sampler), [True, True, False], 0, 0)
    group[0].traces[0].metrics.clear()
    sampler.observe(group)
    for episode in group[1:]:
        episode.traces[0].metrics.clear()
    with pytest.raises(UsageError, match="no rollout has the metric `passed`"):
        sampler.observe(group)
    sampler.observe(group_of(next(sampler), [None], 1, 1))
    assert [(r.passes, r.rollouts) for r in told[0]] == [(1, 2)]


def test_tasks_of_others_are_refused() -> None:
    import verifiers.v1 as vf

    from kolmocli.integrations.prime_rl import PassRateSampler

    with pytest.raises(UsageError, match="takes the tasks of a KolmoTaskset, not Task"):
        PassRateSampler([vf.Task(vf.TaskData(prompt="?"))])


def test_it_steers_the_curriculum_of_prime_rl(tasks: Any) -> None:
    """Their `Curriculum` asks it, tells it and saves it: as it stands, and with the patch of docs by its path."""
    from prime_rl.configs import orchestrator as configs
    from prime_rl.orchestrator.curriculum import Curriculum

    from kolmocli.integrations.prime_rl import PassRateSampler

    imported = getattr(configs, "ImportedSamplerConfig", None)
    path = "kolmocli.integrations.prime_rl:PassRateSampler"
    curriculum = Curriculum(configs.CurriculumConfig(**({"sampler": imported(path=path)} if imported else {})), tasks)
    if imported is None:
        curriculum.sampler = PassRateSampler(tasks)
    assert isinstance(curriculum.sampler, PassRateSampler)
    levels = [curriculum.metrics()["sampler/sum_digits/level"]]
    for step in range(30):
        for _ in range(8):
            assert curriculum.on_result(group_of(next(curriculum.sampler), [True] * 8, step, step)) is True
        levels.append(curriculum.metrics()["sampler/sum_digits/level"])
    assert levels[0] < 2 < 4 < levels[-1]
    state = json.loads(json.dumps(curriculum.state_dict()))
    assert set(state["sampler"]) == {"course", "heard", "version"}
    curriculum.load_state_dict(state)
