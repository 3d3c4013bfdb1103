"""Watching reads, never writes, and shows what the run itself would show."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from monitor_samples import FAMILIES, step_record, write_run

from kolmocli.cli import report as command
from kolmocli.errors import KolmoError, UsageError
from kolmocli.monitor import watch as module
from kolmocli.monitor.display import Quiet
from kolmocli.monitor.events import BestEvent, FailingEvent, StartEvent
from kolmocli.monitor.records import StepSeconds, WarmRecord
from kolmocli.monitor.snapshot import Snapshot
from kolmocli.monitor.summary import Summary, SummarySeconds
from kolmocli.monitor.watch import WatchedRun, watch
from kolmocli.monitor.writer import RunLog

CONFIG = "model: {name: tiny}\nengine: local\ntraining: {steps: 60}\ncontroller: {target: 0.6}\n"


class Recorder(Quiet):
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

    monkeypatch.setattr(module.time, "sleep", sleep)
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


def test_once_looks_once(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(CONFIG)
    display = Recorder()
    watch(tmp_path, display, once=True)
    assert len(display.seen) == 1 and display.seen[0].metrics is None


def test_bad_folders_are_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nowhere: no such run folder"):
        watch(tmp_path / "nowhere", Quiet())
    with pytest.raises(UsageError, match="holds no run"):
        watch(tmp_path, Quiet())
    (tmp_path / "config.yaml").write_text("a: [")
    with pytest.raises(KolmoError, match=r"config\.yaml: not YAML"):
        WatchedRun(tmp_path)


def test_once_prints_the_whole_table_on_stdout(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_dir = write_run(tmp_path / "quick", steps=12)
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
