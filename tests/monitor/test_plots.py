"""Figures from the files of a run alone: they exist, they are not blank, and they show the numbers."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from matplotlib.image import imread
from monitor_samples import bucket_line, history_of

from kolmocli.errors import UsageError
from kolmocli.monitor.figures import (
    families as family_figures,
    health as health_figures,
    information as information_figures,
    learning as figures,
)
from kolmocli.monitor.figures.canvas import DPI, SIZE_INCHES, png, running_mean
from kolmocli.monitor.history import History, read_history, running_total, series
from kolmocli.monitor.plots import FIGURES, pictures

EMPTY = history_of()


@pytest.fixture
def run_dir(reported: Path) -> Path:
    return reported


def test_every_figure_is_written_and_none_is_blank(run_dir: Path) -> None:
    assert {p.name for p in (run_dir / "plots").iterdir()} == {f"{name}.png" for name in FIGURES}
    for path in (run_dir / "plots").iterdir():
        image = imread(path)
        assert image.shape[:2] == (round(SIZE_INCHES[1] * DPI), round(SIZE_INCHES[0] * DPI))
        ink = (image[..., :3].min(axis=2) < 0.9).mean()
        assert 0.01 < ink < 0.6, path.name
        # The middle of the figure holds something too, not only its title and its axes.
        middle = image[200:500, 300:900, :3]
        assert middle.std() > 0.01, path.name


def test_the_same_run_gives_the_same_bytes(run_dir: Path) -> None:
    run = read_history(run_dir)
    again = figures.reward(run)
    assert again is not None
    assert png(again) == (run_dir / "plots/reward.png").read_bytes()


def test_a_run_that_has_only_begun_has_no_figures(tmp_path: Path) -> None:
    assert pictures(EMPTY) == {}
    with pytest.raises(UsageError, match="no such run folder"):
        read_history(tmp_path / "nowhere")


def test_the_warm_start_alone_has_a_loss_and_bits(run_dir: Path) -> None:
    run = read_history(run_dir)
    only = History(run.warmup, [], [])
    assert [name for name, draw in FIGURES.items() if draw(only) is not None] == ["loss", "bits", "bits_per_gflop"]


def test_accuracy_shows_every_evaluation_with_its_interval(run_dir: Path) -> None:
    fig = figures.accuracy(read_history(run_dir))
    assert fig is not None
    line, _, (bars,) = fig.axes[0].containers[0]  # type: ignore[misc]
    assert list(line.get_xdata()) == [0, 20, 40]
    assert list(line.get_ydata()) == pytest.approx([21, 30, 42])
    assert bars.get_segments()[0][:, 1].tolist() == pytest.approx([18, 24])
    assert [t.get_text() for t in fig.axes[0].texts] == ["21.0 %\nbefore", "30.0 %", "42.0 %\nafter"]


def test_pass_rate_has_a_panel_per_family_with_the_target_band() -> None:
    steps = [
        {"step": i, "buckets": {n: bucket_line(0.5, level=1 + i) for n in ("a", "b", "c")}, "phase": "rl"}
        for i in (1, 2)
    ]
    fig = family_figures.pass_rate(history_of(*steps, summary={"pass_rate": {"target": 0.6}}))
    assert fig is not None
    assert [axes.get_title(loc="left") for axes in fig.axes] == ["a", "b", "c"]
    band = fig.axes[0].patches[0]
    assert (band.get_y(), band.get_y() + band.get_height()) == pytest.approx((0.5, 0.7))  # type: ignore[attr-defined]


def test_more_families_than_panels_are_counted() -> None:
    step = {"step": 1, "buckets": {f"family_{i}": bucket_line() for i in range(20)}, "phase": "rl"}
    fig = family_figures.pass_rate(history_of(step))
    assert fig is not None
    assert "16 of 20 families" in fig.get_suptitle()
    assert len(fig.axes) == 16


def test_holes_in_the_numbers_are_left_out() -> None:
    steps = [{"step": i, "phase": "rl", "reward": None if i == 2 else 0.5, "buckets": {}} for i in (1, 2, 3)]
    assert series(history_of(*steps).rl, lambda r: r.reward) == ([1.0, 3.0], [0.5, 0.5])
    assert family_figures.pass_rate(history_of(*steps)) is None


def test_the_best_codec_is_drawn_where_the_summary_has_it() -> None:
    after = {"baselines": {"gzip": {"solid": 0.5, "per_block": 0.9}, "xz": {"solid": 0.4, "per_block": 1.2}}}
    steps = [{"step": 1, "phase": "rl", "compression_rate": 0.7}]
    fig = figures.compression_rate(history_of(*steps, summary={"eval": {"after": after}}))
    assert fig is not None
    assert [t.get_text() for t in fig.axes[0].texts] == ["stored as it is", "xz, all as one"]


def test_running_mean_and_total() -> None:
    assert running_mean([1.0, 2.0, 3.0, 4.0], 2) == [1.0, 1.5, 2.5, 3.5]
    assert running_total([1.0, 2.0]) == [1.0, 3.0]


def test_no_global_plotting_state_is_loaded(run_dir: Path) -> None:
    code = (
        "import sys; from kolmocli.monitor import plots; from kolmocli.monitor.figures import canvas; before = 'matplotlib' in sys.modules\n"
        f"run = plots.history_to_show({str(run_dir)!r}); canvas.png(plots.FIGURES['gradient_noise'](run))\n"
        "import json; print(json.dumps([before, 'matplotlib.pyplot' in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [False, False]


def test_a_picture_can_be_decoded() -> None:
    fig = figures.reward(history_of({"step": 1, "phase": "rl", "reward": 1.0}))
    assert fig is not None
    assert imread(io.BytesIO(png(fig))).shape[2] == 4


def test_steps_and_answers_are_dots_at_their_pass_rate_and_bits() -> None:
    warm = [
        {"step": i, "phase": "warmup", "pass_rate": p, "bits_per_answer": b}
        for i, p, b in ((1, 0.0, 9.0), (2, 0.25, 4.0))
    ]
    played = [{"step": 1, "phase": "rl", "pass_rate": 0.5, "bits_per_rollout": 0.9}]
    fig = information_figures.bits(history_of(*warm, {"step": 3, "phase": "warmup"}, *played))
    assert fig is not None
    linear, logarithmic = fig.axes[:2]
    assert (linear.get_xscale(), logarithmic.get_xscale()) == ("linear", "log")
    for axes in (linear, logarithmic):
        answers, rollouts = axes.collections
        assert answers.get_offsets().tolist() == [[1e-4, 9.0], [0.25, 4.0]]  # type: ignore[union-attr]
        assert rollouts.get_offsets().tolist() == [[0.5, 0.9]]  # type: ignore[union-attr]
    curve = dict(zip(*(linear.lines[1].get_data()), strict=True))
    assert max(curve.values()) == pytest.approx(1.0, abs=1e-3)


def test_both_ways_of_learning_share_the_axis_of_computation() -> None:
    warm = [{"step": i, "phase": "warmup", "flops": 2e9, "bits_per_gflop": 30.0} for i in (1, 2)]
    played = [{"step": i, "phase": "rl", "flops": 1e9, "bits_per_gflop": 5.0, "rollouts": 8} for i in (1, 2)]
    fig = information_figures.bits_per_gflop(history_of(*warm, *played))
    assert fig is not None
    drawn = {line.get_label(): (list(line.get_xdata()), list(line.get_ydata())) for line in fig.axes[1].lines}
    assert drawn == {
        "warm start": ([2.0, 4.0], [60.0, 120.0]),
        "REINFORCE": ([5.0, 6.0], [5.0, 10.0]),
        "1 bit per rollout": ([5.0, 6.0], [8.0, 16.0]),
    }


def test_the_noise_scale_pools_measurements_before_it_divides() -> None:
    rows = [["ramps", 4, 8, 1.0], ["ramps", 0, 8, 0.0]]
    steps = [
        {"step": i, "phase": "rl", "gradient": {"groups": 2, "signal": s, "variance": 6.0, "norms": rows}}
        for i, s in enumerate((-1.0, 4.0, 0.0, 1.0, 1.0, -1.0))
    ]
    fig = information_figures.gradient_noise(history_of(*steps))
    assert fig is not None
    scale = next(line for line in fig.axes[1].lines if line.get_label() == "simple noise scale")
    assert (list(scale.get_xdata()), list(scale.get_ydata())) == ([4.0], [30.0 / 5.0 * 8])
    assert "no signal was found in 1 of 2" in fig.get_supxlabel()
    assert information_figures.gradient_noise(history_of({"step": 1, "phase": "rl"})) is None


def test_the_map_has_a_row_per_family_and_a_cell_per_step() -> None:
    steps = [
        {
            "step": i,
            "phase": "rl",
            "buckets": {"a": bucket_line(0.2 * i, level=3, top=5), "b": bucket_line(0.5, level=None)},
        }
        for i in (1, 2, 4)
    ]
    fig = family_figures.bucket_map(history_of(*steps))
    assert fig is not None
    levels, rates = (axes.images[0].get_array() for axes in fig.axes[:2])
    assert levels.shape == rates.shape == (2, 4)  # type: ignore[union-attr]
    assert rates[0].tolist() == pytest.approx([0.2, 0.4, None, 0.8])  # type: ignore[index]
    assert levels[0].tolist() == [0.5, 0.5, None, 0.5] and levels[1].mask.all()  # type: ignore[index]


def test_verdicts_are_stacked_to_the_whole() -> None:
    verdicts = {"passed": 5, "missed": 2, "TLE_CPU": 1, "MLE": 1, "INFRA": 1}
    step = {"step": 1, "phase": "rl", "rollouts": 9, "infra": 1, "verdicts": verdicts, "seconds": {"execute": 0.5}}
    fig = health_figures.sandbox(history_of(step, {**step, "step": 2}))
    assert fig is not None
    tops = {c.get_label(): c.get_paths()[0].vertices[:, 1].max() for c in fig.axes[0].collections}  # type: ignore[index]
    assert tops == pytest.approx(
        {"passed": 50, "ran, another value": 70, "time, memory, output": 90, "lost by the sandbox": 100}
    )
    assert list(fig.axes[1].lines[0].get_ydata()) == [18.0, 18.0]
