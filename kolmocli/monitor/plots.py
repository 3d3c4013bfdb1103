"""`plots/*.png` and `report.html` of a run, from its files alone: metrics.jsonl, events.jsonl, summary.json."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from kolmocli.errors import KolmoError
from kolmocli.files import own_folder, read_regular, writing
from kolmocli.monitor.figures.canvas import png
from kolmocli.monitor.figures.families import bucket_map, pass_rate
from kolmocli.monitor.figures.health import sandbox
from kolmocli.monitor.figures.information import bits, bits_per_gflop, gradient_noise
from kolmocli.monitor.figures.learning import accuracy, compression_rate, loss, reward
from kolmocli.monitor.history import History, history_to_show
from kolmocli.monitor.report import render
from kolmocli.monitor.writer import write_atomically

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURES: dict[str, Callable[[History], Figure | None]] = {
    "accuracy": accuracy,
    "compression_rate": compression_rate,
    "reward": reward,
    "loss": loss,
    "pass_rate": pass_rate,
    "bucket_map": bucket_map,
    "bits": bits,
    "bits_per_gflop": bits_per_gflop,
    "gradient_noise": gradient_noise,
    "sandbox": sandbox,
}
"""Every figure by the name of its file, in the order of the page."""


def pictures(history: History, between: Callable[[], None] | None = None) -> dict[str, bytes]:
    """PNGs by name; a figure that has nothing to draw is left out. `between` is called before each, and may raise."""
    drawn = {}
    for name, draw in FIGURES.items():
        if between is not None:
            between()
        fig = draw(history)
        if fig is not None:
            drawn[name] = png(fig)
    return drawn


def write_report(run_dir: Path, between: Callable[[], None] | None = None) -> list[Path]:
    """Write `plots/*.png` and `report.html` and return their paths, for a run that goes on as well as for a finished one.

    Raises UsageError when there is no such folder, or no run in it; KolmoError when nothing was written yet, its files cannot
    be read, or those of the report not written.
    """
    run_dir = Path(run_dir)
    config = _text(run_dir / "config.yaml")
    history = history_to_show(run_dir)
    images = pictures(history, between)
    page = run_dir / "report.html"
    with writing(run_dir):
        paths = write_pictures(own_folder(run_dir / "plots"), images)
        write_atomically(page, render(history, images, config))
    return [*paths, page]


def _text(config: Path) -> str:
    """The text of config.yaml; empty where there is none."""
    if not config.exists():
        return ""
    try:
        return read_regular(config).decode("utf-8")
    except UnicodeDecodeError:
        raise KolmoError(f"{config}: not a text file in UTF-8; put back what was in it, or remove it") from None
    except OSError as error:
        raise KolmoError(f"{config}: cannot be read: {error.strerror}") from None


def write_pictures(folder: Path, images: Mapping[str, bytes]) -> list[Path]:
    """One PNG per image, in a folder that is made where there is none."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, image in images.items():
        path = folder / f"{name}.png"
        path.unlink(missing_ok=True)  # a link is replaced and not followed: the run may come from somebody else
        path.write_bytes(image)
        paths.append(path)
    return paths
