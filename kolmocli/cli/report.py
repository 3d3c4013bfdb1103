"""`kolmo watch` and `kolmo report`: a run seen from outside, from its files alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Run = Annotated[Path, typer.Argument(metavar="RUN", help="the folder of a run, such as runs/latest")]


def watch(
    run: Run,
    once: Annotated[bool, typer.Option("--once", help="show it as it is now, and stop")] = False,
) -> None:
    """Show the live table of a run from another terminal.

    Reads its files only, during the run and after it.
    """
    from kolmocli.monitor.live import open_eyes
    from kolmocli.monitor.watch import watch as look

    with open_eyes(False) as eyes:
        look(run, eyes, once=once)


def report(run: Run) -> None:
    """Write the plots and the report.html of a run.

    The page holds its pictures in itself and needs no network. Prints where everything is.
    """
    from kolmocli.monitor.plots import write_plots
    from kolmocli.monitor.report import write_report

    for picture in write_plots(run):
        print(picture)
    print(write_report(run))
