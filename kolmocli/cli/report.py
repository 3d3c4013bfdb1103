"""`kolmo watch` and `kolmo report`: a run seen from outside, from its files alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kolmocli.cli.output import complain, print_line
from kolmocli.errors import UsageError

_RUN = "the folder of a run, such as runs/latest"
COMPARISON = Path("comparison")


def watch(
    run: Annotated[Path, typer.Argument(metavar="RUN", help=_RUN)],
    once: Annotated[bool, typer.Option("--once", help="print it as it is now, on stdout, and stop")] = False,
    failing: Annotated[
        str | None,
        typer.Option("--failing", metavar="FAMILY/LEVEL", help="print the latest failed answers there, and stop"),
    ] = None,
) -> None:
    """Show the live table of a run from another terminal.

    Reads its files only, during the run and after it.
    """
    if failing is not None:
        from kolmocli.monitor.failing import failed_answers

        for line in failed_answers(run, failing):
            print_line(line)
        _say_troubles(run)
        return
    from kolmocli.monitor.display import open_display, print_table
    from kolmocli.monitor.watch import WatchedRun, watch as look

    if once:
        print_table(WatchedRun(run).look())
        _say_troubles(run)
        return
    with open_display(False) as display:
        look(run, display)


def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help=f"{_RUN}; several with --compare")],
    compare: Annotated[
        bool, typer.Option("--compare", help="draw the curves of several runs in the same plots")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FOLDER", help=f"where a comparison goes (default: {COMPARISON})"),
    ] = None,
    tensorboard: Annotated[
        bool, typer.Option("--tensorboard", help="write the numbers of the run for TensorBoard too")
    ] = False,
) -> None:
    """Write the plots and the report.html of a run, or of several side by side.

    The page contains its pictures and needs no network. Prints the paths.
    """
    if compare:
        if tensorboard:
            raise UsageError("--compare and --tensorboard exclude each other: TensorBoard compares by itself")
        from kolmocli.monitor.compare import write_comparison

        paths = write_comparison(runs, output or COMPARISON)
    else:
        if len(runs) > 1:
            raise UsageError(f"{len(runs)} runs: name one, or put --compare before them")
        if output is not None:
            raise UsageError("--output: the report of a run goes into its folder; only --compare has an output")
        if tensorboard:
            from kolmocli.monitor.tensorboard import export

            print_line(export(runs[0]))
        from kolmocli.monitor.plots import write_report

        paths = write_report(runs[0])
    for path in paths:
        print_line(path)
    for run in runs:
        _say_troubles(run)


def _say_troubles(run: Path) -> None:
    from kolmocli.monitor.reader import troubles

    for line in troubles(run):
        complain(line, "")
