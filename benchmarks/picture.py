"""The live table of a run as an SVG: python benchmarks/picture.py runs/latest docs/demo.svg"""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

from kolmocli.monitor.picture import terminal_picture
from kolmocli.monitor.watch import WatchedRun


def main() -> None:
    run, picture = Path(sys.argv[1]), Path(sys.argv[2])
    snapshot = dataclasses.replace(WatchedRun(run).look(), name=run.resolve().name)
    picture.write_text(terminal_picture(snapshot, title=f"kolmo watch {run}"))


if __name__ == "__main__":
    main()
