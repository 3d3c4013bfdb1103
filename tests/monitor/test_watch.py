"""Watching reads, never writes, and shows what the run itself would show."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from monitor_samples import FAMILIES, step_record, write_run

from kolmocli.cli import report as command
from kolmocli.errors import KolmoError, UsageError
from kolmocli.monitor import watch as module
from kolmocli.monitor.display import Display
from kolmocli.monitor.events import BestEvent, FailingEvent, StartEvent, StoppedEvent
from kolmocli.monitor.reader import troubles
from kolmocli.monitor.records import StepSeconds, WarmRecord
from kolmocli.monitor.snapshot import Snapshot
from kolmocli.monitor.summary import Summary, SummarySeconds
from kolmocli.monitor.watch import WatchedRun, watch
from kolmocli.monitor.writer import RunLog

CONFIG = "model: {name: tiny}\nengine: local\ntraining: {steps: 60}\ncontroller: {target: 0.6}\ncheckpoint_every: 50\n"


class Recorder(Display):
    def __init__(self) -> None:
        self.seen: list[Snapshot] = []

    def update(self, snapshot: Snapshot) -> None:
        self.seen.append(snapshot)


def test_a_finished_run_is_shown_once_as_it_ended(tmp_path: Path) -> None:
    run_dir = write_run(tmp_path / "quick", steps=60)
    (run_dir / "config.yaml").write_text(CONFIG)
    before = {p.name: p.read_bytes() for p in run_dir.iterdir()}
    display = Recorder()
    watch(run_dir, display)
    (shown,) = display.seen
    assert (shown.name, shown.state, shown.step, shown.steps) == ("quick", "done", 60, 60)
    assert (shown.model, shown.engine, shown.target) == ("tiny", "local", 0.6)
    assert shown.seconds == 50.0 and shown.eta_seconds is None
    assert shown.sandbox.backend == "embedded"
    assert shown.sandbox.executed == 60 * 128
    assert shown.sandbox.programs_per_second == pytest.approx(1280.0)
    assert shown.metrics is not None and shown.metrics.step == 60
    assert len(shown.history) == 60
    assert shown.events[-1].startswith("step 60: held-out accuracy after: 42.0%")
    assert {p.name: p.read_bytes() for p in run_dir.iterdir()} == before


def test_a_run_is_followed_until_it_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config.yaml").write_text(CONFIG)
    log = RunLog(tmp_path)
    naps = iter(range(1, 100))

    def sleep(seconds: float) -> None:
        nap = next(naps)
        if nap == 1:
            log.event(StartEvent(model="tiny 0.8M", engine="local", sandbox="docker"))
            log.step(WarmRecord(step=25, seconds=StepSeconds(learn=4.0)))
        elif nap <= 4:
            log.step(step_record(nap - 1))
        elif nap == 5:
            log.event(BestEvent(step=3, bits=31, literal_bits=200, target="0 1 2", program="x = …"))
            log.write_summary(Summary(steps=3, seconds=SummarySeconds(total=9.0)))

    monkeypatch.setattr(module, "time", SimpleNamespace(sleep=sleep, time=time.time))  # not that of other threads
    display = Recorder()
    watch(tmp_path, display)
    log.close()
    states = [s.state for s in display.seen]
    assert states == ["starting", "warm start", "training", "training", "training", "done"]
    assert [s.step for s in display.seen] == [0, 0, 1, 2, 3, 3]
    assert display.seen[2].eta_seconds == pytest.approx(0.6 * 59)
    assert display.seen[1].model == "tiny 0.8M" and display.seen[1].sandbox.backend == "docker"
    assert display.seen[-1].best == ("0 1 2", "x = …")


def test_a_run_that_was_taken_up_again_is_not_done(tmp_path: Path) -> None:
    with RunLog(tmp_path) as log:
        for i in range(1, 6):
            log.step(step_record(i))
        log.write_summary(Summary(steps=5))
    run = WatchedRun(tmp_path)
    run.look()
    assert run.done
    with RunLog(tmp_path, resume_step=3) as log:
        log.event(StartEvent(step=3))
        os.utime(tmp_path / "summary.json", (1.0, 1.0))
        shown = run.look()
        assert not run.done and shown.step == 3 and len(shown.history) == 3
        log.step(step_record(4))
        assert run.look().step == 4


def test_silence_is_told(tmp_path: Path) -> None:
    with RunLog(tmp_path) as log:
        log.step(step_record(1))
    long_ago = time.time() - 300
    os.utime(tmp_path / "metrics.jsonl", (long_ago, long_ago))
    assert WatchedRun(tmp_path).look().state.startswith("no news for 5:0")


def test_bad_folders_are_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nowhere: no such run folder"):
        watch(tmp_path / "nowhere", Display())
    with pytest.raises(UsageError, match="holds no run"):
        watch(tmp_path, Display())
    (tmp_path / "config.yaml").write_text("a: [")
    with pytest.raises(KolmoError, match=r"config\.yaml: not YAML"):
        WatchedRun(tmp_path)


def test_once_prints_the_whole_table_on_stdout(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_dir = write_run(tmp_path / "quick", steps=12)
    (run_dir / "config.yaml").write_text(CONFIG)
    capsys.readouterr()
    command.watch(run_dir, once=True)
    shown = capsys.readouterr()
    assert shown.err == ""
    assert "quick" in shown.out and "step 12" in shown.out and "bits/rollout" in shown.out
    assert all(name in shown.out for name in FAMILIES)
    assert "\x1b" not in shown.out and not shown.out.endswith("\n\n")


def test_failing_programs_are_no_news(tmp_path: Path) -> None:
    with RunLog(tmp_path) as log:
        log.step(step_record(1))
        log.event(
            FailingEvent(step=1, family="ramps", level=1, verdict="missed", target="1", made="2", program="x = 2")
        )
    assert WatchedRun(tmp_path).look().events == ()


def test_a_stopped_run_is_not_done(tmp_path: Path) -> None:
    with RunLog(tmp_path) as log:
        log.event(StartEvent(step=0))
        log.step(step_record(1))
        log.event(StoppedEvent(step=1, text="stopped by SIGTERM"))
        log.write_summary(Summary(steps=1))
    display = Recorder()
    watch(tmp_path, display)
    (shown,) = display.seen
    assert (shown.state, shown.eta_seconds) == ("stopped", None)
    assert shown.events[-1] == "step 1: stopped by SIGTERM"
    with RunLog(tmp_path, resume_step=1) as log:
        log.event(StartEvent(step=1))
        log.step(step_record(2))
        assert WatchedRun(tmp_path).look().state == "training"


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-2])


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def shortened(path: Path) -> None:
    """Cut where a line ends."""
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:2]))


DAMAGES = [
    ("config.yaml", Path.unlink, "missing"),
    ("config.yaml", emptied, "empty"),
    ("config.yaml", cut, "its last line is cut short"),
    ("config.yaml", shortened, "cut short: no training.steps, controller.target, checkpoint_every in it"),
    ("metrics.jsonl", Path.unlink, "missing"),
    ("metrics.jsonl", emptied, "empty"),
    ("metrics.jsonl", cut, "its last line is cut short"),
    ("events.jsonl", Path.unlink, "missing"),
    ("events.jsonl", emptied, "empty"),
    ("events.jsonl", cut, "its last line is cut short"),
    ("events.jsonl", shortened, "cut short: no evaluation after in it"),
]


@pytest.mark.parametrize(("name", "damage", "said"), DAMAGES)
def test_what_is_missing_of_a_file_is_said_in_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, damage: Callable[[Path], None], said: str
) -> None:
    run_dir = write_run(tmp_path / "quick", steps=2)
    (run_dir / "config.yaml").write_text(CONFIG)
    damage(run_dir / name)
    assert f"{run_dir / name}: {said}" in troubles(run_dir)
    capsys.readouterr()
    command.watch(run_dir, once=True)
    assert f"kolmo: {run_dir / name}: {said}\n" in capsys.readouterr().err


def test_steps_that_are_missing_are_counted(tmp_path: Path) -> None:
    run_dir = write_run(tmp_path / "quick", steps=9)
    (run_dir / "config.yaml").write_text(CONFIG)
    assert troubles(run_dir) == []
    lines = (run_dir / "metrics.jsonl").read_bytes().splitlines(keepends=True)
    (run_dir / "metrics.jsonl").write_bytes(b"".join(lines[:-3]))
    assert troubles(run_dir) == [f"{run_dir}/metrics.jsonl: cut short: 6 of the 9 steps that were done"]
