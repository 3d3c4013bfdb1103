"""Generators in processes of their own: what they write is what one process would have written, whatever happens to them."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from kolmocli.config import Config
from kolmocli.engine.base import Group, Request
from kolmocli.errors import KolmoError
from kolmocli.tasks.base import Task
from kolmocli.tasks.sources import silent, training_source
from kolmocli.training.opening import open_engine, open_policy
from kolmocli.training.run import Run, Stopped
from tests.training.runs import events, metrics, run, small_config

pytestmark = pytest.mark.monarch

SHORT: dict[str, Any] = {
    "warmup": {"max_steps": 4, "check_every": 4},
    "training": {"steps": 4},
    "evaluation": {"every": 0},
}


def short(**engine: Any) -> Config:
    return small_config(engine=engine, **SHORT)


def written(folder: Path) -> list[dict[str, Any]]:
    """The metrics, but for what only this engine says."""
    return [{k: v for k, v in r.items() if k not in ("generators", "staleness")} for r in metrics(folder)]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("local") / "run"
    run(short(), folder)
    return folder


def test_a_killed_generator_is_replaced_and_nothing_counts_twice(
    local: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kolmocli.engine.monarch.fleet import Fleet

    original, calls = Fleet.submit, []

    def submit(fleet: Fleet, share: Any) -> Any:
        calls.append(share)
        if len(calls) == 8:  # in the middle of the run
            os.kill(int(fleet.report()["1"].pid), signal.SIGKILL)
        return original(fleet, share)

    monkeypatch.setattr(Fleet, "submit", submit)
    summary = run(short(kind="monarch", generators=2), tmp_path / "run")
    assert written(tmp_path / "run") == written(local)
    told = [event["text"] for event in events(tmp_path / "run", "engine")]
    assert any(text.startswith("generator 1 lost") for text in told)
    assert (summary["steps"], summary["rollouts"]) == (4, 4 * 8)
    pids = {g["pid"] for r in metrics(tmp_path / "run") if r["phase"] == "rl" for g in r["generators"].values()}
    assert not any(alive(pid) for pid in pids if pid)


@pytest.fixture(scope="module")
def stale() -> Iterator[tuple[Any, Sequence[Task]]]:
    """An engine that may be two updates ahead of itself, and tasks for it."""
    config = short(kind="monarch", max_staleness=2, call_seconds=60)
    source = training_source(config, silent)
    engine = open_engine(config, open_policy(config), print)
    yield engine, [source.task(source.buckets()[0], i) for i in range(3)]
    engine.close()


def learn(engine: Any) -> None:
    engine.policy.version += 1


def ages(groups: Sequence[Group]) -> set[int]:
    return {group.age for group in groups}


def test_rollouts_are_as_old_as_their_policy_and_no_older_than_the_bound(stale: tuple[Any, Sequence[Task]]) -> None:
    engine, tasks = stale
    asked: list[int] = []

    def choose(step: int) -> Request | None:
        asked.append(step)
        return Request(tasks, 2, step) if step <= 6 else None

    for step in range(1, 7):
        age = ages(engine.rollout(choose, step).groups)
        assert max(age) <= min(step - 1, 2)
        learn(engine)
    assert asked[:3] == [1, 2, 3]  # two steps are under way when the first is learnt
    assert [step for step in asked if step <= 6] == [1, 2, 3, 4, 5, 6]


def test_a_batch_is_of_the_temperature_that_it_was_asked_for_at(stale: tuple[Any, Sequence[Task]]) -> None:
    """And its rollouts say so, however many updates later they are learned from."""
    engine, tasks = stale
    begun: list[float] = []

    def choose(step: int) -> Request | None:
        begun.append(engine.temperature)
        return Request(tasks, 2, step) if step <= 5 else None

    sampled = []
    for step in range(1, 6):
        found = engine.rollout(choose, step).groups
        sampled.append({r.temperature for group in found for r in group.rollouts})
        learn(engine)
        engine.temperature += 0.1
    engine.temperature = 1.0
    assert sampled == [{temperature} for temperature in begun[:5]]
    assert begun[:3] == [1.0, 1.0, 1.0]
    assert len(set(begun[:5])) == 3


def test_what_is_asked_for_now_is_of_the_newest_weights(stale: tuple[Any, Sequence[Task]]) -> None:
    engine, tasks = stale
    learn(engine)
    assert ages(engine.sample(Request(tasks, 2)).groups) == {0}


@pytest.mark.slow
def test_an_exception_in_a_generator_is_told_when_it_comes_back(stale: tuple[Any, Sequence[Task]]) -> None:
    """And the engine goes on afterwards, for whoever asks for something that can be done."""
    engine, tasks = stale
    with pytest.raises(KolmoError, match="3 generators failed over one shard of a batch"):
        engine.sample(Request([object()], 2, 1))
    assert len(engine.sample(Request(tasks, 2, 1)).groups) == 3
    assert engine.generators()["0"].restarts == 3


@pytest.mark.slow
def test_a_generator_that_hangs_is_replaced(stale: tuple[Any, Sequence[Task]]) -> None:
    engine, tasks = stale
    pid = engine.generators()["0"].pid
    os.kill(pid, signal.SIGSTOP)
    assert len(engine.sample(Request(tasks, 2, 1)).groups) == 3
    assert any("nothing heard" in text for text in engine.events())
    assert not alive(pid)


@pytest.mark.slow
def test_without_a_generator_the_run_ends_with_a_line(tmp_path: Path) -> None:
    config = small_config(engine={"kind": "monarch"}, sandbox={"backend": "docker", "runtime": "none-such"}, **SHORT)
    with pytest.raises(KolmoError, match=r"none-such|Docker"):
        run(config, tmp_path / "run")


def test_one_generator_writes_what_the_local_engine_does_and_a_stop_does_not_wait_for_it(
    local: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original, looks = Run._look, [0]

    def look(self: Run) -> None:
        looks[0] += self.recorder._doing == "rollout" and self.state.step == 2
        if looks[0] == 1:
            self.stop.signal = 15
        original(self)

    with monkeypatch.context() as patch, pytest.raises(Stopped):
        patch.setattr(Run, "_look", look)
        run(short(kind="monarch"), tmp_path / "run")
    assert written(tmp_path / "run") == written(local)[:-2]
    run(short(kind="monarch"), tmp_path / "run", resume=True)
    assert written(tmp_path / "run") == written(local)
    steps = [r for r in metrics(tmp_path / "run") if r["phase"] == "rl"]
    assert [(r["staleness"]["most"], [*r["generators"]], r["generators"]["0"]["lag"]) for r in steps] == [
        (0, ["0"], 0)
    ] * 4
    assert steps[-1]["generators"]["0"]["tokens_per_second"] > 0
    assert not alive(steps[-1]["generators"]["0"]["pid"])
