"""Runs laid over each other: a curve per run, on the axis of rollouts, and one page."""

from __future__ import annotations

from pathlib import Path

import pytest
from monitor_samples import write_run

from kolmocli.cli import report as command
from kolmocli.errors import KolmoError, UsageError
from kolmocli.monitor import compare
from kolmocli.monitor.history import read_history


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("runs")
    return [write_run(folder / "a" / "run", steps=12), write_run(folder / "b" / "run", steps=8, seed=6)]


def test_a_curve_per_run_over_its_rollouts(runs: list[Path]) -> None:
    read = {name: read_history(run) for name, run in zip(("a", "b"), runs, strict=True)}
    fig = compare.FIGURES["bits_total"](read)
    assert fig is not None
    drawn = {str(line.get_label()): line for line in fig.axes[0].lines}
    assert {name: (line.get_xdata()[-1], line.get_ydata()[-1]) for name, line in drawn.items()} == {  # type: ignore[index]
        "a": (12 * 128, pytest.approx(115.2 * 12)),
        "b": (8 * 128, pytest.approx(115.2 * 8)),
    }
    assert len({str(line.get_color()) for line in drawn.values()}) == 2
    after = compare.accuracy(read)
    assert after is not None
    assert [list(c.lines[0].get_xdata()) for c in after.axes[0].containers] == [[0, 768, 1536], [0, 512, 1024]]  # type: ignore[union-attr]


def test_the_page_has_a_row_per_run(runs: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "FIGURES", {"reward": compare.FIGURES["reward"]})
    picture, page = compare.write_comparison(runs, tmp_path / "both")
    assert picture == tmp_path / "both/plots/reward.png" and picture.read_bytes().startswith(b"\x89PNG")
    html = page.read_text(encoding="utf-8")
    assert "<td>a/run</td><td>12</td><td>1.5k</td><td>0:50</td><td>21%</td><td>42%</td><td>38% – 46%</td>" in html
    assert "<td>b/run</td><td>8</td>" in html
    assert html.count("<img") == 1
    assert f"<td>{12 * 3 / (12 * 16):.0%}</td>" in html


def test_a_legend_tells_all_runs_apart(runs: list[Path]) -> None:
    long = "arithmetic-with-another-learning-rate-seed0-"
    read = {name: read_history(runs[0]) for name in (f"{long}1", f"{long}2", "_old")}
    for name in ("accuracy", "reward"):
        fig = compare.FIGURES[name](read)
        assert fig is not None
        labels = [text.get_text() for text in fig.axes[0].get_legend().get_texts()]  # type: ignore[union-attr]
        assert labels == ["arithmetic…earning-rate-seed0-1", "arithmetic…earning-rate-seed0-2", " _old"]


def test_names_are_the_shortest_that_differ(tmp_path: Path) -> None:
    assert compare.names([tmp_path / "x/run", tmp_path / "y/other"]) == ["run", "other"]
    assert compare.names([tmp_path / "x/run", tmp_path / "y/run"]) == ["x/run", "y/run"]
    with pytest.raises(UsageError, match="named twice"):
        compare.names([tmp_path / "x", tmp_path / "y/../x"])


def test_a_place_that_cannot_be_written_is_one_line(runs: list[Path], tmp_path: Path) -> None:
    (tmp_path / "c").write_text("in the way")
    with pytest.raises(KolmoError, match=r"/c.*: cannot be written: "):
        command.report(runs, compare=True, output=tmp_path / "c")


def test_wrong_use_is_said_in_a_line(runs: list[Path], tmp_path: Path) -> None:
    for call, words in (
        (lambda: command.report(runs[:1], compare=True), "at least two runs"),
        (lambda: command.report(runs), "2 runs: name one, or put --compare"),
        (lambda: command.report(runs[:1], output=tmp_path), "only --compare has an output"),
        (lambda: command.report(runs, compare=True, tensorboard=True), "exclude each other"),
        (lambda: command.report(runs, compare=True, output=runs[0]), "holds a run; name another"),
        (lambda: command.report([*runs, tmp_path], compare=True, output=tmp_path / "c"), "holds no run"),
        (lambda: command.report([tmp_path / "nowhere"]), "no such run folder"),
    ):
        with pytest.raises(UsageError, match=words):
            call()
    assert not (tmp_path / "c").exists()
