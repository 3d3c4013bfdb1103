"""Run folders of somebody else: pipes for files, numbers without measure, words for numbers, and names that nobody could draw."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from monitor_samples import bucket_line, step_line, write_run

from kolmocli.errors import KolmoError, UsageError
from kolmocli.monitor.figures.canvas import drawn, png
from kolmocli.monitor.figures.families import bucket_map, pass_rate
from kolmocli.monitor.figures.health import sandbox
from kolmocli.monitor.history import read_history
from kolmocli.monitor.plots import write_report
from kolmocli.monitor.reader import (
    CONFIG,
    EVENTS,
    METRICS,
    SUMMARY,
    read_config,
    read_events,
    read_metrics,
    read_summary,
)
from kolmocli.monitor.record import read_value
from kolmocli.monitor.records import read_step
from kolmocli.monitor.report import render as page
from kolmocli.monitor.view import lines, render
from kolmocli.monitor.watch import WatchedRun

DEEP = '{"a":' * 100_000 + "1" + "}" * 100_000
READERS: tuple[tuple[str, Callable[[Path], Any]], ...] = (
    (METRICS, read_metrics), (EVENTS, read_events), (SUMMARY, read_summary), (CONFIG, read_config),
)  # fmt: skip
NAMES = ["$x^$", r"$\frac{$", "\x1b[31m\r\0", "\u202ea", "\ud800", "x" * 100_000]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = write_run(tmp_path / "run", steps=3)
    (folder / CONFIG).write_text("training: {steps: 3}\n")
    return folder


@pytest.mark.parametrize(("file", "read"), READERS, ids=[file for file, _ in READERS])
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(file: str, read: Callable[[Path], Any], run: Path) -> None:
    (run / file).unlink(missing_ok=True)
    os.mkfifo(run / file)
    with pytest.raises(UsageError, match=f"{file}: not a regular file but a FIFO$"):
        read(run)
    with pytest.raises(UsageError, match=f"{file}: not a regular file but a FIFO$"):
        WatchedRun(run).look()
    with pytest.raises(UsageError, match=f"{file}: not a regular file but a FIFO$"):
        write_report(run)


@pytest.mark.parametrize(("file", "read"), READERS, ids=[file for file, _ in READERS])
def test_what_is_nested_without_end_is_a_line(file: str, read: Callable[[Path], Any], run: Path) -> None:
    (run / file).write_text("a: " + "[" * 5_000 + "]" * 5_000 if file == CONFIG else DEEP + "\n")
    with pytest.raises(KolmoError, match=f"{file}.*nested too deeply"):
        read(run)


def test_numbers_beyond_all_measure_are_none() -> None:
    for value in (10**400, -(10**400), 1e308, float("nan"), float("inf")):
        assert read_value(float, value) is None
        assert read_value(int, value) is None
    assert read_value(float, 1e30) == 1e30
    assert read_value(int, 2**62) == 2**62


ODD_STEPS: tuple[dict[str, Any], ...] = (
    {"step": 10**400, "pass_rate": 10**400},
    {"step": 1e308},
    {"step": "x", "pass_rate": "y", "buckets": [1]},
    {"bits_total": 1.7e308, "flops": 1e308, "seconds": {"rollout": 10**400}},
    {"generators": {"x": {"tokens_per_second": 1}, "²": {}, "10": {}}},
    {"verdicts": {"passed": 0}},
    {"verdicts": {"passed": -1, "missed": 1}},
    {"buckets": {"a": {"level": 1e308, "top": 10**18, "pass_rate": 1e300, "ci": [1e308, -1e308]}}},
)


@pytest.mark.parametrize("changes", ODD_STEPS, ids=lambda changes: ",".join(changes))
def test_a_run_with_an_odd_step_is_shown(changes: dict[str, Any], run: Path) -> None:
    with (run / METRICS).open("a") as file:
        file.write(json.dumps(step_line(4) | changes) + "\n")
    history = read_history(run)
    render(WatchedRun(run).look(), 80, 24)
    page(history, {})
    for draw in (pass_rate, sandbox):
        png(draw(history))  # type: ignore[arg-type]  # there are steps


@pytest.mark.parametrize(
    "config",
    [
        "training: {steps: many}",
        "controller: {target: [1]}",
        "training: {steps: .inf}",
        "model: {name: {a: 1}}",
        "training: 5",
    ],
)
def test_words_where_a_configuration_has_numbers(config: str, run: Path) -> None:
    (run / CONFIG).write_text(config)
    snapshot = WatchedRun(run).look()
    assert snapshot.steps == 0
    assert snapshot.target == 0.5


def test_words_of_a_step_reach_neither_a_terminal_nor_a_page_raw(run: Path) -> None:
    odd = "\x1b[2J\u202e"
    with (run / METRICS).open("a") as file:
        file.write(json.dumps(step_line(4) | {"buckets": {odd: bucket_line() | {"state": odd}}}) + "\n")
    seen = [line.plain for line in lines(WatchedRun(run).look(), 200, 40)]
    assert sum(r"\x1b[2J" in line for line in seen) == 1
    assert all(map(str.isprintable, [*seen, *page(read_history(run), {}, f"name: {odd}\n").split("\n")]))


@pytest.mark.parametrize("name", NAMES, ids=["mathematics", "fraction", "escape", "override", "surrogate", "long"])
def test_any_name_of_a_family_is_drawn(name: str) -> None:
    line = step_line(1) | {"buckets": {name: bucket_line()}}
    history = read_history_of([read_step({**line, "step": step}) for step in (1, 2, 3)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for draw in (pass_rate, bucket_map):
            fig = draw(history)
            assert fig is not None
            assert png(fig).startswith(b"\x89PNG")
    assert len(drawn(name)) <= 201
    assert drawn(name).isprintable()


def read_history_of(steps: list[Any]) -> Any:
    from kolmocli.monitor.history import History

    return History([], steps, [])


def test_a_name_that_utf8_cannot_write_reaches_tensorboard_written_out(run: Path) -> None:
    pytest.importorskip("tensorboard")
    from kolmocli.monitor.tensorboard import export

    line = step_line(4) | {"buckets": {"\ud800\x1b": bucket_line()}}
    with (run / METRICS).open("a") as file:
        file.write(json.dumps(line) + "\n")
    (written,) = export(run).glob("events.out.tfevents.*")
    assert rb"buckets/\ud800\x1b/" in written.read_bytes()
