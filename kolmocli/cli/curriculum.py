"""`kolmo curriculum`: what a curriculum asks for, and whether its file is right."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kolmocli.cli.calibrate import calibrate
from kolmocli.cli.output import print_json, print_line, remark, show
from kolmocli.cli.plugins import Plugins, load_plugins
from kolmocli.cli.simulate import simulate
from kolmocli.errors import EXIT_USAGE, UsageError

if TYPE_CHECKING:
    from kolmocli.config import Config
    from kolmocli.tasks.base import Split, Task
    from kolmocli.tasks.settings import FamilySettings

_QUESTION = ("the whole task", "question, and its answer step by step")
_SHOWN = {
    "programs": ("the published generator", "program, and the sequence to reproduce"),
    "sum_digits": _QUESTION,
    "reverse_digits": _QUESTION,
    "examples": ("shapes of this rung, and others the rarer the further off", "what is shown, and the function"),
}
"""By kind of task: what a level without knobs asks for, and what is shown of a task."""
_OTHERS = ("–", "what is asked, and an answer that is right")

app = typer.Typer(
    help="Show, validate or calibrate a curriculum; compare controllers.", no_args_is_help=True, rich_markup_mode=None
)


@app.command("show")
def show_curriculum(
    name: Annotated[str, typer.Argument(help="a packaged name, such as quickstart, or a file")],
    samples: Annotated[int, typer.Option("--samples", min=0, metavar="N", help="sample tasks per bucket")] = 1,
    plugins: Plugins = None,
    json: Annotated[bool, typer.Option("--json", help="print one JSON object")] = False,
) -> None:
    """Show what each level asks for, with sample tasks."""
    load_plugins(plugins)
    from kolmocli.config.file import load_config
    from kolmocli.paths import find_curriculum

    described = describe(load_config(find_curriculum(name), note=remark), samples)
    print_json(described) if json else show(*_tables(described))


@app.command("validate")
def validate(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="curriculum files or packaged names")],
    plugins: Plugins = None,
    json: Annotated[bool, typer.Option("--json", help="print one JSON object")] = False,
) -> None:
    """Check every key, and that every bucket can be made.

    A line for each thing that is wrong, and then exit code 2.
    """
    load_plugins(plugins)
    found = {file: problems_in(file) for file in files}
    if json:
        print_json({"files": [{"file": file, "ok": not wrong, "problems": wrong} for file, wrong in found.items()]})
    else:
        for file, wrong in found.items():
            for line in wrong:
                remark(line)
            if not wrong:
                print_line(f"{file}: ok")
    if any(found.values()):
        raise typer.Exit(EXIT_USAGE)


app.command("simulate")(simulate)
app.command("calibrate")(calibrate)


def problems_in(file: str) -> list[str]:
    """A line for each thing that is wrong with a curriculum file."""
    from kolmocli.config.file import load_config
    from kolmocli.config.opening import open_controller
    from kolmocli.config.tree import ConfigError
    from kolmocli.paths import find_curriculum
    from kolmocli.tasks.sources import family_tasks

    try:
        config = load_config(find_curriculum(file), note=remark)
    except ConfigError as error:
        return error.problems
    except UsageError as error:
        return [str(error)]
    problems, asked = [], config
    if config.data.train is not None:  # whose families the profile may be of
        asked = config.model_copy(update={"controller": config.controller.model_copy(update={"prior": None})})
    try:
        open_controller(asked, family_tasks(config, "train"))
    except UsageError as error:
        problems.append(f"{file}: {error}")
    splits: tuple[Split, ...] = ("train", "eval")
    for split in splits:
        source = family_tasks(config, split)
        for bucket in source.buckets():
            try:
                if source.task(bucket, 0).content != source.task(bucket, 0).content:
                    problems.append(
                        f"{file}: {bucket}: {split}: task 0 is another one each time; draw it from `rng` alone"
                    )
            except UsageError as error:
                problems.append(f"{file}: {error}")
    problems += [f"{file}: {problem}" for problem in _problems_of_data(config)]
    return list(dict.fromkeys(problems))  # both splits may fail alike


def _problems_of_data(config: Config) -> Iterator[str]:
    """What is wrong with the files of tasks. One that is not there yet, or a data set that has to be fetched, is named and not read."""
    from kolmocli.tasks.sources import read_file

    for name in filter(None, (config.data.train, config.data.eval)):
        if not Path(name).exists():
            remark(f"{name}: not there, and not checked")
            continue
        try:
            read_file(name, config.data, remark)
        except UsageError as error:
            yield str(error)


def describe(config: Config, samples: int) -> dict[str, Any]:
    """Name, description, and per family its kind, target, shared knobs and levels with sample tasks."""
    from kolmocli.curriculum.base import Bucket
    from kolmocli.tasks.family import kind_name
    from kolmocli.tasks.sources import family_tasks

    source = family_tasks(config, "train")
    families = {}
    for name, family in config.families.items():
        shared, levels = _knobs(family)
        families[name] = {
            "task": kind_name(name, family),
            "target": config.controller.target if family.target is None else family.target,
            "floor": config.controller.floor if family.floor is None else family.floor,
            "bounds": list(family.bounds or (1, family.level_count)),
            "shared": shared,
            "levels": [
                {
                    "level": number,
                    "knobs": knobs,
                    "samples": [_sample(source.task(Bucket(name, number), index)) for index in range(samples)],
                }
                for number, knobs in enumerate(levels, start=1)
            ],
        }
    return {
        "name": config.name,
        "description": config.description,
        "questions": not config.runs_programs,
        "data": config.data.train,
        "families": families,
    }


def _sample(task: Task) -> dict[str, Any]:
    from kolmocli.tasks.sequences.task import SequenceTask

    if isinstance(task, SequenceTask):
        return {"program": str(task.program), "sequence": list(task.target)}
    return {"question": task.asked.text, "answer": task.reference}


def _knobs(family: FamilySettings) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Knobs that differ from the published generator, or from the founding task: in all levels alike, and level by level."""
    from kolmocli.tasks.settings import FamilySettings, LevelList

    if not isinstance(family, LevelList):
        keys = {"task", *FamilySettings.model_fields}
        shared = {k: v for k, v in family.model_dump(mode="json").items() if k not in keys}
        levels = shared.pop("levels", None) or [{}] * family.level_count
        return {**shared.pop("options", {}), **shared}, levels
    usual = type(family.levels[0])().model_dump(mode="json")
    levels = [{k: v for k, v in level.model_dump(mode="json").items() if v != usual[k]} for level in family.levels]
    shared = {k: v for k, v in levels[0].items() if all(k in other and other[k] == v for other in levels)}
    return shared, [{k: v for k, v in level.items() if k not in shared} for level in levels]


def _tables(described: dict[str, Any]) -> Iterable[Any]:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from kolmocli.console import printable

    yield Text(described["name"], style="bold")
    if described["description"]:
        yield Text(" ".join(described["description"].split()))
    if described["data"]:
        yield Text(f"\ntasks of {printable(described['data'])}")
    for name, family in described["families"].items():
        usual, about = _SHOWN.get(family["task"], _OTHERS)
        low, high = family["bounds"]
        bounds = "" if high - low + 1 == len(family["levels"]) else f", levels {low} to {high}"
        yield Text(f"\n{name}: target pass rate {family['target']:g}{bounds}", style="bold")
        if family["shared"]:
            yield Text(f"all levels: {_words(family['shared'])}", style="dim")
        table = Table(box=box.SIMPLE, pad_edge=False)
        table.add_column("level", justify="right")
        table.add_column("what it asks for", overflow="fold")
        table.add_column(f"a task: {about}", overflow="fold")
        for level in family["levels"]:
            tasks = Text("\n").join(_task(sample) for sample in level["samples"])
            table.add_row(str(level["level"]), Text(_words(level["knobs"]) or usual), tasks)
        yield table


def _task(sample: dict[str, Any]) -> Any:
    from rich.text import Text

    if "question" in sample:
        return Text.assemble((sample["question"], "cyan"), "\n", sample["answer"] or "–", "\n")
    return Text.assemble(sample["program"], "\n", (" ".join(map(str, sample["sequence"])), "cyan"), "\n")


def _words(knobs: dict[str, Any]) -> str:
    """`length 4 to 8, operators scan_add 1`."""
    return ", ".join(f"{name} {_value(value)}" for name, value in knobs.items())


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(f"{k} {v:g}" for k, v in value.items() if v) or "none"
    if isinstance(value, list) and len(value) == 2 and all(isinstance(bound, int) for bound in value):
        return str(value[0]) if value[0] == value[1] else f"{value[0]} to {value[1]}"
    if isinstance(value, float):
        return f"{value:g}"
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
