"""What is written is on the disk whole or not at all, and a resumed run writes the file of an unbroken one."""

from __future__ import annotations

import errno
import json
import math
import os
import shutil
from pathlib import Path

import pytest

from kolmocli.errors import KolmoError, UsageError
from kolmocli.monitor import writer
from kolmocli.monitor.events import CheckpointEvent, EvaluationEvent
from kolmocli.monitor.reader import Follower, read_events, read_metrics, read_summary
from kolmocli.monitor.records import BucketRecord, ReinforceRecord, StepSeconds, WarmRecord
from kolmocli.monitor.summary import Summary, SummaryBits
from kolmocli.monitor.writer import RunLog


def steps(first: int, last: int) -> list[ReinforceRecord]:
    return [ReinforceRecord(step=i, pass_rate=i / 100) for i in range(first, last + 1)]


def step(number: int) -> ReinforceRecord:
    return ReinforceRecord(step=number)


def test_lines_come_back_as_they_went_in(tmp_path: Path) -> None:
    with RunLog(tmp_path / "run") as log:
        for record in steps(1, 3):
            log.step(record)
            assert read_metrics(tmp_path / "run")[-1] == record  # flushed at once
    assert read_metrics(tmp_path / "run") == steps(1, 3)
    assert (tmp_path / "run/metrics.jsonl").read_text().count("\n") == 3


def test_events_carry_kind_step_time_and_their_own_fields(tmp_path: Path) -> None:
    with RunLog(tmp_path, clock=lambda: 12.34567) as log:
        log.event(EvaluationEvent(accuracy=0.25))
    assert read_events(tmp_path) == [EvaluationEvent(time=12.346, accuracy=0.25)]


def test_what_is_not_finite_becomes_null(tmp_path: Path) -> None:
    with RunLog(tmp_path) as log:
        log.step(ReinforceRecord(step=1, loss=math.nan, buckets={"ramps": BucketRecord(ci=(0.1, math.inf))}))
    line = json.loads((tmp_path / "metrics.jsonl").read_text())
    assert (line["loss"], line["buckets"]["ramps"]["ci"]) == (None, [0.1, None])
    assert read_metrics(tmp_path) == [ReinforceRecord(step=1, buckets={"ramps": BucketRecord()})]


def test_resume_drops_what_will_be_done_again(tmp_path: Path) -> None:
    whole, resumed = tmp_path / "whole", tmp_path / "resumed"
    warm = WarmRecord(step=50, loss=1.0)
    with RunLog(whole, clock=lambda: 0.0) as log:
        log.step(warm)
        log.event(EvaluationEvent())
        for record in steps(1, 40):
            log.step(record)
            log.event(CheckpointEvent(step=record.step))
    with RunLog(resumed, clock=lambda: 0.0) as log:
        log.step(warm)
        log.event(EvaluationEvent())
        for record in steps(1, 27):
            log.step(record)
            log.event(CheckpointEvent(step=record.step))
    with RunLog(resumed, resume_step=20, clock=lambda: 0.0) as log:
        for record in steps(21, 40):
            log.step(record)
            log.event(CheckpointEvent(step=record.step))
    for name in ("metrics.jsonl", "events.jsonl"):
        assert (whole / name).read_bytes() == (resumed / name).read_bytes()


def test_resume_within_the_warm_start_drops_its_later_steps(tmp_path: Path) -> None:
    with RunLog(tmp_path) as log:
        for i in range(1, 6):
            log.step(WarmRecord(step=i))
    with RunLog(tmp_path, resume_step=0, warm_step=3) as log:
        log.step(WarmRecord(step=4))
    assert [record.step for record in read_metrics(tmp_path)] == [1, 2, 3, 4]


def test_a_half_written_line_is_not_read_and_is_cut_on_resume(tmp_path: Path) -> None:
    with RunLog(tmp_path) as log:
        log.step(step(1))
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(path.read_bytes() + b'{"step": 2, "pass_r')
    assert read_metrics(tmp_path) == [step(1)]
    with RunLog(tmp_path, resume_step=5) as log:
        log.step(step(2))
    assert read_metrics(tmp_path) == [step(1), step(2)]


def test_a_used_folder_is_refused(tmp_path: Path) -> None:
    with RunLog(tmp_path) as log:
        log.step(step(1))
    with pytest.raises(UsageError, match=r"metrics\.jsonl: this folder holds a run"):
        RunLog(tmp_path)
    assert read_metrics(tmp_path) == [step(1)]


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").write_text('{"step": 1}\n{"step": \n{"step": 3}\n')
    with pytest.raises(KolmoError, match=r"metrics\.jsonl, line 2: not JSON"):
        read_metrics(tmp_path)
    with pytest.raises(UsageError, match="cannot be resumed"):
        RunLog(tmp_path, resume_step=3)
    (tmp_path / "events.jsonl").write_text("[1]\n")
    with pytest.raises(KolmoError, match=r"events\.jsonl, line 1: expected an object"):
        read_events(tmp_path)


def test_a_full_disk_leaves_no_half_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, calls = os.write, [0]

    def fills_up(file: int, data: bytes) -> int:
        calls[0] += 1
        if calls[0] == 2:
            raise OSError(28, "No space left on device")
        return real(file, data[:5])

    with RunLog(tmp_path) as log:
        log.step(step(1))
        monkeypatch.setattr(writer.os, "write", fills_up)
        with pytest.raises(
            KolmoError, match=r"metrics\.jsonl: No space left on device; make room and go on with --resume"
        ):
            log.step(step(2))
        monkeypatch.setattr(writer.os, "write", real)
        log.step(step(3))
    assert read_metrics(tmp_path) == [step(1), step(3)]


def test_a_summary_is_replaced_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with RunLog(tmp_path) as log:
        assert read_summary(tmp_path) is None
        log.write_summary(Summary(steps=1, bits=SummaryBits(per_gflop=math.inf)))
        assert read_summary(tmp_path) == Summary(steps=1)

        def crash(old: str, new: str) -> None:
            raise OSError("crash before the rename")

        monkeypatch.setattr(writer.os, "replace", crash)
        with pytest.raises(KolmoError, match=r"summary\.json: crash"):
            log.write_summary(Summary(steps=2))
    summary = read_summary(tmp_path)
    assert summary is not None and summary.steps == 1
    assert sorted(p.name for p in tmp_path.iterdir()) == ["events.jsonl", "metrics.jsonl", "summary.json"]


def test_a_missing_folder_and_a_run_without_steps(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such run folder"):
        read_metrics(tmp_path / "nowhere")
    assert read_metrics(tmp_path) == []
    (tmp_path / "summary.json").write_text("{")
    with pytest.raises(KolmoError, match="not JSON"):
        read_summary(tmp_path)


def test_a_follower_sees_each_line_once_and_starts_again_after_a_resume(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    follower = Follower(path)
    assert follower.read() == []
    path.write_text('{"step": 1}\n{"st')
    assert follower.read() == [{"step": 1}]
    path.write_text('{"step": 1}\n{"step": 2}\n')
    assert follower.read() == [{"step": 2}]
    assert follower.read() == [] and not follower.restarted
    path.write_text('{"step": 1}\n')
    assert follower.read() == [{"step": 1}] and follower.restarted


def test_lines_are_plain_json(tmp_path: Path) -> None:
    with RunLog(tmp_path) as log:
        log.step(WarmRecord(step=1, seconds=StepSeconds(rollout=0.25)))
    line = json.loads((tmp_path / "metrics.jsonl").read_text())
    assert (line["step"], line["phase"], line["seconds"]) == (1, "warmup", {"rollout": 0.25})


@pytest.mark.parametrize("write", ["step", "flush"])
def test_a_removed_file_is_noticed_at_the_next_write(tmp_path: Path, write: str) -> None:
    """Its lines would go nowhere."""
    with RunLog(tmp_path / "run") as log:
        log.step(step(1))
        shutil.rmtree(tmp_path / "run")
        with pytest.raises(KolmoError, match=r"run/metrics\.jsonl: was removed or replaced while the run wrote") as end:
            log.step(step(2)) if write == "step" else log.flush()
    assert end.value.exit_code == 1
    assert not (tmp_path / "run").exists()


def test_a_file_system_that_turns_read_only_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(file: int, data: bytes) -> int:
        raise OSError(errno.EROFS, "Read-only file system")

    with RunLog(tmp_path) as log:
        monkeypatch.setattr(writer.os, "write", refuses)
        with pytest.raises(KolmoError, match="Read-only file system; make it writable and go on with --resume"):
            log.step(step(1))
        monkeypatch.undo()


def test_a_log_does_not_write_where_a_link_leads(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text('{"step": 9}\nmine')
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "events.jsonl").symlink_to(tmp_path / "mine")
    with pytest.raises(UsageError, match=r"run/events\.jsonl: a link, and a run writes to files of its own"):
        RunLog(tmp_path / "run", resume_step=3)
    assert (tmp_path / "mine").read_text() == '{"step": 9}\nmine'


def test_a_log_does_not_wait_for_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "metrics.jsonl")
    with pytest.raises(UsageError, match=r"metrics\.jsonl: no file, so the run cannot be resumed from this folder"):
        RunLog(tmp_path, resume_step=3)


def test_the_lines_of_both_files_are_counted(tmp_path: Path) -> None:
    with RunLog(tmp_path) as log:
        for record in steps(1, 4):
            log.step(record)
        log.event(CheckpointEvent(step=4))
        assert log.lines == {"metrics.jsonl": 4, "events.jsonl": 1}
    with RunLog(tmp_path, resume_step=2) as log:
        assert log.lines == {"metrics.jsonl": 2, "events.jsonl": 0}
        log.step(step(3))
        assert log.lines == {"metrics.jsonl": 3, "events.jsonl": 0}
