"""A run counts its steps, saves where it should and stops where it is asked to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kolmocli.curriculum.base import Bucket
from kolmocli.errors import KolmoError, UsageError
from kolmocli.pace import Pace
from kolmocli.training.run import ReachedStop, Run, Stopped
from kolmocli.training.signals import StopRequest
from kolmocli.training.state import RunState, Totals


def run_of(
    state: RunState | None = None,
    stop_at: int | None = None,
    last: int = 7,
    mastered: int | None = None,
    is_past: bool = False,
) -> tuple[Run, list[Any]]:
    """A run that is saved every three steps, and what was written of it: steps that were saved."""
    saved: list[int] = []
    recorder = SimpleNamespace(
        flush=lambda: None,
        event=lambda event: None,
        engine_events=lambda: None,
        reached=lambda reached: None,
        note=lambda text: None,
        totals=Totals(),
    )
    mine = state or RunState(phase="rl")

    def write_checkpoint() -> Path:
        saved.append(mine.step)
        return Path(f"step_{mine.step}")

    moment: Any = SimpleNamespace(is_past=is_past, go_back=lambda: None)
    source = SimpleNamespace(task=lambda bucket, index: (bucket, index))
    run = Run(
        Path("runs/x"), mine, recorder, source, seed=3, last=last, checkpoint_every=3, stop=StopRequest(),  # type: ignore[arg-type]
        stop_at=stop_at, pace=Pace(), moment=lambda: moment, write_checkpoint=write_checkpoint,
        go_on="kolmo train --resume --run-dir runs/x", mastered=mastered,
    )  # fmt: skip
    return run, saved


def test_a_step_counts_when_it_is_done() -> None:
    run, saved = run_of()
    seen = [(step, run.state.step) for step in run.steps()]
    assert seen == [(i, i - 1) for i in range(1, 8)]
    assert (run.state.step, saved) == (7, [3, 6])
    assert list(run.steps()) == []


def test_what_comes_between_steps_sees_the_step_as_done() -> None:
    run, _ = run_of(RunState(phase="rl", step=4))
    seen: list[tuple[int, int]] = []
    assert list(run.steps(between=lambda step: seen.append((step, run.state.step)))) == [5, 6, 7]
    assert seen == [(5, 5), (6, 6), (7, 7)]


def test_it_stops_saved_where_it_is_told_to() -> None:
    run, saved = run_of(stop_at=2)
    seen: list[int] = []
    with pytest.raises(ReachedStop):
        seen += run.steps()
    assert (seen, run.state.step, saved) == ([1, 2], 2, [2])


def test_a_step_that_was_broken_off_does_not_count() -> None:
    run, saved = run_of()
    steps: Iterator[int] = run.steps()
    assert [next(steps), next(steps)] == [1, 2]
    steps.close()  # type: ignore[attr-defined]
    assert (run.state.step, saved) == (1, [])


def test_a_signal_ends_it_after_the_step_with_a_line_that_says_how_to_go_on() -> None:
    run, saved = run_of()
    with pytest.raises(
        Stopped, match=r"^stopped by SIGTERM; saved step_2; go on with: kolmo train --resume --run-dir runs/x$"
    ) as end:
        for step in run.steps():
            run.stop.signal = 15 if step == 2 else None
    assert (end.value.exit_code, saved) == (143, [2])


def test_what_fails_in_a_step_costs_none_of_the_steps_before(capsys: pytest.CaptureFixture[str]) -> None:
    run, saved = run_of()
    with pytest.raises(UsageError, match="its check"), run.stoppable():
        for step in run.steps():
            if step == 3:
                raise UsageError("its check")
    assert (run.state.step, saved) == (2, [2])
    assert "saved step_2; go on with: kolmo train --resume" in capsys.readouterr().err


@pytest.mark.parametrize(("failing", "learnt"), [(1, False), (3, True)], ids=["nothing done", "half counted"])
def test_nothing_is_saved_where_there_is_nothing_whole_to_save(failing: int, learnt: bool) -> None:
    run, saved = run_of(is_past=learnt)
    with pytest.raises(UsageError), run.stoppable():
        for step in run.steps():
            if step == failing:
                raise UsageError("its check")
    assert saved == []


def test_an_error_whose_run_cannot_be_saved_comes_out_as_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    run, _ = run_of()

    def full() -> Path:
        raise KolmoError("no space left on the disk")

    monkeypatch.setattr(run, "save", full)
    with pytest.raises(UsageError, match="its check"), run.stoppable():
        for step in run.steps():
            if step == 2:
                raise UsageError("its check")


def test_seeds_and_tasks_go_by_purpose_step_and_bucket() -> None:
    run, _ = run_of()
    assert run.seed("a", 1) == run.seed("a", 1) != run.seed("b", 1) != run.seed("b", 2)
    one, other = Bucket("a", 1), Bucket("a", 2)
    assert [run.draw(bucket) for bucket in (one, one, other)] == [(one, 0), (one, 1), (other, 0)]
    assert run.state.drawn == {"a/1": 2, "a/2": 1}


def test_it_ends_once_everything_is_mastered_where_it_was_told_to() -> None:
    for mastered, steps in ((2, [1, 2, 3, 4]), (None, [1, 2, 3, 4, 5, 6, 7])):
        run, _ = run_of(mastered=mastered)
        seen = []
        for step in run.steps():
            run.recorder.totals.mastered_steps = max(0, step - 2)  # from the third step on
            seen.append(step)
        assert seen == steps
        assert run.state.step == run.last == steps[-1]


def test_it_goes_no_step_further_where_a_sitting_begins_with_everything_mastered() -> None:
    run, saved = run_of(RunState(phase="rl", step=4), mastered=2)
    run.recorder.totals.mastered_steps = 2
    assert list(run.steps()) == []
    assert (run.state.step, run.last, saved) == (4, 4, [])
