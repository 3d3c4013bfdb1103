"""All commands of `kolmo`. Their modules are light: what is heavy is imported inside the functions."""

from __future__ import annotations

from typing import Annotated

import typer

from kolmocli import __version__
from kolmocli.cli.archive_options import CompressCommand
from kolmocli.cli.compress import compress
from kolmocli.cli.curriculum import app as curriculum
from kolmocli.cli.data import app as data
from kolmocli.cli.decompress import decompress
from kolmocli.cli.doctor import doctor
from kolmocli.cli.eval import evaluate
from kolmocli.cli.model import app as model
from kolmocli.cli.report import report, watch
from kolmocli.cli.sandbox import app as sandbox
from kolmocli.cli.solve import ARGUMENTS, solve
from kolmocli.cli.train import TrainCommand, train
from kolmocli.cli.worker import worker

SUMMARY = "REINFORCE for tasks that a program can check, with a controller that keeps every kind of task near a 50 % pass rate."
"""One line that describes kolmo; README has it too."""

app = typer.Typer(
    no_args_is_help=True,
    # Plain help: Rich would take longer to import than everything else that `--help` needs.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    pretty_exceptions_show_locals=False,
)


def _version(asked: bool) -> None:
    if asked:
        print(f"kolmo {__version__}")
        raise typer.Exit


@app.callback(help=SUMMARY)
def _kolmo(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


app.command("train", cls=TrainCommand)(train)
app.command("eval")(evaluate)
app.command("solve", context_settings=ARGUMENTS)(solve)
app.command("watch", short_help="Show the live table of a run.")(watch)
app.command("report", short_help="Write the plots and the HTML report of a run.")(report)
app.command("compress", cls=CompressCommand, short_help="Pack files into archives that open without a model.")(compress)
app.command("decompress")(decompress)
app.add_typer(curriculum, name="curriculum")
app.add_typer(data, name="data")
app.add_typer(model, name="model", help="Bring pretrained language models into a cache, and list them.")
app.add_typer(sandbox, name="sandbox", help="Build, check, serve and measure the sandbox.")
app.command("worker", short_help="Lend this machine to training runs on others.")(worker)
app.command("doctor")(doctor)
