"""Figures from the files of a run alone: they exist, they are not blank, and they show the numbers."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from matplotlib.image import imread
from monitor_samples import bucket, write_run

from kolmocli.errors import UsageError
from kolmocli.monitor import figures
from kolmocli.monitor.canvas import DPI, SIZE_INCHES, png, running_mean
from kolmocli.monitor.figures import FIGURES, Run
from kolmocli.monitor.plots import pictures, read_run, write_plots

EMPTY = Run([], [], {})


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_run(tmp_path_factory.mktemp("run"), steps=40)


@pytest.fixture(scope="module")
def written(run_dir: Path) -> list[Path]:
    return write_plots(run_dir)


def test_every_figure_is_written_and_none_is_blank(run_dir: Path, written: list[Path]) -> None:
    assert [p.relative_to(run_dir).as_posix() for p in written] == [f"plots/{name}.png" for name in FIGURES]
    for path in written:
        image = imread(path)
        assert image.shape[:2] == (round(SIZE_INCHES[1] * DPI), round(SIZE_INCHES[0] * DPI))
        ink = (image[..., :3].min(axis=2) < 0.9).mean()
        assert 0.01 < ink < 0.6, path.name
        # The middle of the figure holds something too, not only its title and its axes.
        middle = image[200:500, 300:900, :3]
        assert middle.std() > 0.01, path.name


def test_the_same_run_gives_the_same_bytes(run_dir: Path, written: list[Path]) -> None:
    run = read_run(run_dir)
    again = figures.reward(run)
    assert again is not None
    assert png(again) == (run_dir / "plots/reward.png").read_bytes()


def test_a_run_that_has_only_begun_has_no_figures(tmp_path: Path) -> None:
    assert pictures(EMPTY) == {}
    assert write_plots(tmp_path) == []
    with pytest.raises(UsageError, match="no such run folder"):
        write_plots(tmp_path / "nowhere")


def test_the_warm_start_alone_has_a_loss(run_dir: Path) -> None:
    run = read_run(run_dir)
    only = Run(run.warmup, [], {})
    assert [name for name, draw in FIGURES.items() if draw(only) is not None] == ["loss"]


def test_accuracy_shows_every_evaluation_with_its_interval(run_dir: Path) -> None:
    fig = figures.accuracy(read_run(run_dir))
    assert fig is not None
    line, _, (bars,) = fig.axes[0].containers[0]  # type: ignore[misc]
    assert list(line.get_xdata()) == [0, 20, 40]
    assert list(line.get_ydata()) == pytest.approx([21, 30, 42])
    assert bars.get_segments()[0][:, 1].tolist() == pytest.approx([18, 24])
    assert [t.get_text() for t in fig.axes[0].texts] == ["21.0 %\nbefore", "30.0 %", "42.0 %\nafter"]


def test_pass_rate_has_a_panel_per_family_with_the_target_band() -> None:
    steps = [
        {"step": i, "buckets": {n: bucket(0.5, level=1 + i) for n in ("a", "b", "c")}, "phase": "rl"} for i in (1, 2)
    ]
    fig = figures.pass_rate(Run(steps, [], {"pass_rate": {"target": 0.6}}))
    assert fig is not None
    assert [axes.get_title(loc="left") for axes in fig.axes] == ["a", "b", "c"]
    band = fig.axes[0].patches[0]
    assert (band.get_y(), band.get_y() + band.get_height()) == pytest.approx((0.5, 0.7))  # type: ignore[attr-defined]


def test_more_families_than_panels_are_counted() -> None:
    step = {"step": 1, "buckets": {f"family_{i}": bucket() for i in range(20)}, "phase": "rl"}
    fig = figures.pass_rate(Run([step], [], {}))
    assert fig is not None
    assert "16 of 20 families" in fig.get_suptitle()
    assert len(fig.axes) == 16


def test_holes_in_the_numbers_are_left_out() -> None:
    steps = [{"step": i, "phase": "rl", "reward": None if i == 2 else 0.5, "buckets": {}} for i in (1, 2, 3)]
    assert figures.series(steps, "reward") == ([1.0, 3.0], [0.5, 0.5])
    assert figures.pass_rate(Run(steps, [], {})) is None


def test_the_best_codec_is_drawn_where_the_summary_has_it() -> None:
    after = {"baselines": {"gzip": {"solid": 0.5, "per_block": 0.9}, "xz": {"solid": 0.4, "per_block": 1.2}}}
    steps = [{"step": 1, "phase": "rl", "compression_rate": 0.7}]
    fig = figures.compression_rate(Run(steps, [], {"eval": {"after": after}}))
    assert fig is not None
    assert [t.get_text() for t in fig.axes[0].texts] == ["stored as it is", "xz, all as one"]


def test_running_mean_and_total() -> None:
    assert running_mean([1.0, 2.0, 3.0, 4.0], 2) == [1.0, 1.5, 2.5, 3.5]
    assert figures.running_total([1.0, 2.0]) == [1.0, 3.0]


def test_no_global_plotting_state_is_loaded(run_dir: Path) -> None:
    code = (
        "import sys; from kolmocli.monitor import plots, canvas; before = 'matplotlib' in sys.modules\n"
        f"run = plots.read_run({str(run_dir)!r}); canvas.png(plots.FIGURES['reward'](run))\n"
        "import json; print(json.dumps([before, 'matplotlib.pyplot' in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [False, False]


def test_a_picture_can_be_decoded() -> None:
    fig = figures.reward(Run([{"step": 1, "phase": "rl", "reward": 1.0}], [], {}))
    assert fig is not None
    assert imread(io.BytesIO(png(fig))).shape[2] == 4
