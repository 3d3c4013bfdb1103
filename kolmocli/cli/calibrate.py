"""`kolmo curriculum calibrate`: how often a policy passes at every level of a curriculum."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from json import dumps
from typing import Annotated, Any

import typer

from kolmocli.cli.format import decimals, percent
from kolmocli.cli.given import given, require_backend, require_device
from kolmocli.cli.output import SCHEMA_VERSION, print_json, show, stdout
from kolmocli.cli.plugins import Plugins, load_plugins
from kolmocli.errors import UsageError

_WITH_DATA = ("levels", "columns")
_WITH_CURRICULUM = ("tasks",)


def calibrate(
    context: typer.Context,
    model: Annotated[
        str,
        typer.Argument(
            help="a run, a checkpoint folder, shipped, a preset, a model of `kolmo model list` or a Hugging Face id"
        ),
    ],
    curriculum: Annotated[
        str | None,
        typer.Argument(
            metavar="[CURRICULUM]",
            help="a packaged name, such as quickstart, or a file; with --data: its settings alone",
        ),
    ] = None,
    data: Annotated[
        str | None, typer.Option("--data", metavar="FILE", help="a file of tasks, to be given levels")
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option("--columns", metavar="WHAT=COLUMN,…", help="columns of the file: prompt=problem,answer=solution"),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="FILE", help="where the file with levels goes, or the report as JSON"),
    ] = None,
    levels: Annotated[int, typer.Option("--levels", min=1, metavar="N", help="levels of each family of a file")] = 4,
    force: Annotated[bool, typer.Option("-f", "--force", help="overwrite the output")] = False,
    samples: Annotated[int, typer.Option("--samples", min=2, metavar="G", help="answers per task")] = 8,
    tasks: Annotated[int, typer.Option("--tasks", min=1, metavar="N", help="tasks per level")] = 16,
    seed: Annotated[
        int | None,
        typer.Option("--seed", min=0, metavar="N", help="seed of tasks and samples (default: the curriculum's)"),
    ] = None,
    device: Annotated[str, typer.Option("--device", metavar="NAME", help="auto, cpu, cuda or mps")] = "auto",
    sandbox: Annotated[
        str, typer.Option("--sandbox", metavar="NAME", help="auto, docker, embedded or http://host:port")
    ] = "auto",
    plugins: Plugins = None,
    json: Annotated[bool, typer.Option("--json", help="print one JSON object")] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="no progress, only the result")] = False,
) -> None:
    """Measure the pass rate of a policy at every level, or at every task of a file.

    For each family: the curve, what a group of rollouts would teach there, and the level that passes at the target. A
    file is written again with the pass rate of every task, and levels that follow from it.
    """
    require_device(device)
    require_backend(sandbox)
    _refuse_what_means_nothing(context, curriculum, data, output)
    load_plugins(plugins)
    from kolmocli.console import warn
    from kolmocli.monitor.counter import counter

    measure: Callable[..., dict[str, Any]]
    if data is not None:
        from kolmocli.evaluation.levelling import level_file
        from kolmocli.evaluation.selection import Wanted

        given_to = Wanted(curriculum, data, columns=columns)
        measure = partial(level_file, model, given_to, str(output), levels=levels, force=force)
    else:
        from kolmocli.evaluation.calibration import calibrate as calibrated
        from kolmocli.paths import find_curriculum

        file = find_curriculum(str(curriculum))
        measure = partial(calibrated, model, file, tasks=tasks)
        if output is not None:
            measure = partial(_written, measure, str(file), output, force)
    with counter("calibrate", quiet) as pace:
        report = measure(samples=samples, seed=seed, device=device, sandbox=sandbox, warn=warn, pace=pace)
    print_json(report) if json else show(*_tables(report))


def _written(
    measure: Callable[..., dict[str, Any]], curriculum: str, output: str, force: bool, **options: Any
) -> dict[str, Any]:
    """Measure, and write the report to a file, which is what `controller.prior` reads. A file in the way is refused first."""
    from kolmocli.plain import finite
    from kolmocli.tasks.files.streams import writing

    with writing(output, force=force, inputs=[curriculum]) as file:
        report = measure(**options)
        text = dumps(
            finite({"schema_version": SCHEMA_VERSION, **report}), indent=2, ensure_ascii=False, allow_nan=False
        )
        file.write(text.encode() + b"\n")
    return report


def _refuse_what_means_nothing(
    context: typer.Context, curriculum: str | None, data: str | None, output: str | None
) -> None:
    if curriculum is None and data is None:
        raise UsageError("calibrate on a curriculum or --data; see kolmo curriculum calibrate --help")
    for name in _WITH_CURRICULUM if data is not None else _WITH_DATA:
        if flag := given(context, name):
            raise UsageError(f"{flag} means nothing with {'--data' if data is not None else 'a curriculum'}")
    if output == "-":
        raise UsageError("-o -: the tables go to standard output; name a file, or take the report with --json")
    if output is None and data is None and (flag := given(context, "force")):
        raise UsageError(f"{flag} means nothing without -o")
    if data is not None and output is None:
        raise UsageError(f"--data {data}: say with -o where the file with levels goes")


def _tables(report: Mapping[str, Any]) -> Iterable[Any]:
    from rich.text import Text

    lost = f", {report['masked']} lost by the sandbox" if report["masked"] else ""
    if "data" in report:
        asked = f"{report['data']}: {report['tasks']} tasks, {report['samples']} answers each"
    else:
        asked = f"{report['curriculum']}: {report['tasks']} tasks per level, {report['samples']} programs each"
    yield Text(f"{report['model']} on {asked}, {report['rollouts']} rollouts{lost}")
    for name, family in report["families"].items():
        yield Text.assemble("\n", (name, "bold"), f": {verdict(family)}")
        yield _table(family)
    yield Text(
        "95 %: of the pass rate, for tasks that differ. signal: mean U of a group, on average 0.25 at most. bits: per rollout.\n"
        "dead: tasks whose programs all passed or all failed. –: nothing to measure.",
        style="dim",
    )
    if "room" in report:
        yield Text(f"\nroom to control: {_room(report)}")
    if "data" in report:
        yield Text(f"\n{report['output']} has the tasks with these levels")


def _room(report: Mapping[str, Any]) -> str:
    from kolmocli.curriculum.room import room_line

    if report["room"] is not None:
        return room_line(report["room"])
    if all(len(family["levels"]) < 2 for family in report["families"].values()):
        return "none, every family has one level; give a family several levels"
    return "unknown, no task has two rollouts that were judged"


def verdict(family: Mapping[str, Any]) -> str:
    """Standing of the family, in words."""
    target, levels = f"the target of {family['target']:g}", family["levels"]
    words = {
        "crosses": f"crosses {target} at level {family['crossing'] or 0:.1f} of {len(levels)}",
        "above": f"at or above {target} even at the hardest level: mastered",
        "below": f"below {target} even at the easiest level: warm it up, or add easier levels",
        "unknown": "nothing was judged",
    }
    said = words[family["state"]]
    if family["misordered"]:
        said += f"; level {', '.join(map(str, family['misordered']))} passes more often than an easier one"
    return said


_DIAL_WIDTH, _WITH_DIALS = 24, 100
"""Columns of a dial, and of a terminal that has room for them."""


def _table(family: Mapping[str, Any]) -> Any:
    from rich import box
    from rich.table import Table

    from kolmocli.monitor.gauges import dial

    table = Table(box=box.SIMPLE, pad_edge=False)
    table.add_column("level", justify="right")
    table.add_column("pass rate", justify="right")
    table.add_column("95 %", justify="right", style="dim")
    dials = stdout().width >= _WITH_DIALS
    if dials:
        table.add_column("")
    for heading in ("signal", "bits", "dead", "tasks", "rollouts"):
        table.add_column(heading, justify="right")
    for level in family["levels"]:
        low, high = level["ci"]
        table.add_row(
            str(level["level"]),
            percent(level["pass_rate"], 0),
            f"{100 * low:.0f}–{100 * high:.0f} %",
            *([dial(level["pass_rate"], level["ci"], family["target"], _DIAL_WIDTH)] if dials else []),
            decimals(level["signal"], 2),
            decimals(level["bits"], 2),
            percent(level["dead"], 0),
            str(level["tasks"]),
            str(level["n"]),
        )
    return table
