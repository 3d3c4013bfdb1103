"""What TensorBoard reads of a run is what metrics.jsonl says, also after a resumption; and it is nobody's burden."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from monitor_samples import step_record, write_run

from kolmocli.errors import EnvironmentMissing, UsageError
from kolmocli.monitor.reader import read_metrics
from kolmocli.monitor.records import ReinforceRecord
from kolmocli.monitor.tensorboard import FOLDER, TensorBoardLog, export, require_tensorboard, scalars
from kolmocli.monitor.writer import RunLog

pytest.importorskip("tensorboard", reason="tensorboard is not installed")


def shown(run_dir: Path) -> dict[str, list[tuple[int, float]]]:
    """All curves as TensorBoard itself reads them."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(run_dir / FOLDER))
    events.Reload()
    return {tag: [(e.step, e.value) for e in events.Scalars(tag)] for tag in events.Tags()["scalars"]}


def test_a_finished_run_is_exported_whole(tmp_path: Path) -> None:
    run_dir = write_run(tmp_path / "run", steps=12)
    assert export(run_dir) == run_dir / FOLDER
    curves = shown(run_dir)
    steps = [r for r in read_metrics(run_dir) if isinstance(r, ReinforceRecord)]
    assert curves["pass_rate"] == [(r.step, pytest.approx(r.pass_rate)) for r in steps]
    assert curves["bits_total"] == [(r.step, pytest.approx(r.bits_total)) for r in steps]
    assert [step for step, _ in curves["buckets/ramps/belief/low"]] == list(range(1, 13))
    assert curves["warmup/loss"] == [(25, 3.0), (50, 1.5), (75, 1.0)]
    assert "in_band" not in curves, "null is no number"
    with pytest.raises(UsageError, match="is there already"):
        export(run_dir)


def test_a_resumed_run_shows_no_step_twice(tmp_path: Path) -> None:
    def mirror() -> TensorBoardLog:
        return TensorBoardLog(tmp_path, read_metrics(tmp_path))

    with RunLog(tmp_path, mirror=mirror) as log:
        for step in (1, 2, 3, 4):
            log.step(step_record(step))
    with RunLog(tmp_path, resume_step=2, mirror=mirror) as log:
        log.step(step_record(3, reward=float("nan"), loss=7.0))
    curves = shown(tmp_path)
    assert [step for step, _ in curves["loss"]] == [1, 2, 3] and curves["loss"][-1] == (3, 7.0)
    assert [step for step, _ in curves["reward"]] == [1, 2]


def test_numbers_are_named_by_their_path() -> None:
    record: dict[str, Any] = {"step": 3, "phase": "rl", "a": 1, "b": {"c": {"step": 2.5}, "d": None, "e": [1, 2]}}
    assert dict(scalars(record)) == {"a": 1.0, "b/c/step": 2.5}


def test_without_the_package_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(EnvironmentMissing, match=r"pip install 'kolmocli\[tensorboard\]'"):
        require_tensorboard()


def test_it_is_not_imported_unless_asked_for() -> None:
    code = "import sys, kolmocli.monitor.tensorboard; print({'tensorboard', 'torch'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
