"""`plots/*.png` of a run, from its files alone: metrics.jsonl, events.jsonl, summary.json."""

from __future__ import annotations

from pathlib import Path

from kolmocli.monitor.canvas import png
from kolmocli.monitor.figures import FIGURES, Run
from kolmocli.monitor.reader import read_events, read_metrics, read_summary


def read_run(run_dir: Path) -> Run:
    """Everything that a run has written so far. Raises UsageError when there is no such folder."""
    return Run(read_metrics(run_dir), read_events(run_dir), read_summary(run_dir) or {})


def pictures(run: Run) -> dict[str, bytes]:
    """PNGs by name; a figure that has nothing to draw is left out."""
    drawn = ((name, draw(run)) for name, draw in FIGURES.items())
    return {name: png(fig) for name, fig in drawn if fig is not None}


def write_plots(run_dir: Path) -> list[Path]:
    """Write `plots/*.png` and return their paths, for a run that goes on as well as for a finished one."""
    run_dir = Path(run_dir)
    images = pictures(read_run(run_dir))
    folder = run_dir / "plots"
    folder.mkdir(exist_ok=True)
    paths = []
    for name, image in images.items():
        path = folder / f"{name}.png"
        path.write_bytes(image)
        paths.append(path)
    return paths
