"""`kolmo compress`: files in, archives out, with the habits of gzip, xz and zstd."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kolmocli.cli.archive_options import (
    AllowPython,
    Explain,
    Files,
    Force,
    Json,
    Keep,
    List,
    MaxOutput,
    Output,
    Quiet,
    Remove,
    Stdout,
    Suffix,
    Test,
    Verbose,
    seconds,
)
from kolmocli.cli.archiving import FileOptions, Result, destinations, each, named, pack_file
from kolmocli.cli.decompress import decompress
from kolmocli.cli.folders import pack_folder
from kolmocli.cli.given import given
from kolmocli.errors import UsageError

if TYPE_CHECKING:
    from kolmocli.archive.options import Options


def compress(
    context: typer.Context,
    files: Files = None,
    output: Output = None,
    stdout: Stdout = False,
    level: Annotated[int, typer.Option("--level", min=0, max=9, help="0 and 1 (no search) to 9; also -0 … -9")] = 6,
    model: Annotated[
        str | None, typer.Option("--model", metavar="NAME", help="a run, checkpoint or model that proposes programs")
    ] = None,
    samples: Annotated[int, typer.Option("--samples", min=1, help="programs that the model writes per literal")] = 8,
    seed: Annotated[int, typer.Option("--seed", help="seed of the model's samples")] = 0,
    cache: Annotated[
        str | None, typer.Option("--cache", metavar="FILE", help="JSONL of programs found earlier: used, and added to")
    ] = None,
    device: Annotated[str, typer.Option("--device", help="where the model runs")] = "auto",
    format_: Annotated[
        str,
        typer.Option(
            "--format", metavar="VIEW", help="u8, i16le, u16le, i32le, u32le, i64le, f32le, f64le, lines, csv or jsonl"
        ),
    ] = "auto",
    type_: Annotated[
        str | None,
        typer.Option(
            "--type",
            metavar="TYPES",
            help="what the numbers are, such as i32, f64be, or i32,f32 for records; i16@44 behind 44 bytes of header",
        ),
    ] = None,
    time_budget: Annotated[
        str | None,
        typer.Option(
            "--time-budget",
            metavar="TIME",
            help="time limit, such as 60s or 2m; the archive gets as small as that allows",
        ),
    ] = None,
    program: Annotated[
        str | None,
        typer.Option("--program", metavar="FILE", help="a Python program that makes the data; needs --allow-python"),
    ] = None,
    allow_python: AllowPython = False,
    force: Force = False,
    keep: Keep = False,
    remove: Remove = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    decode: Annotated[
        bool,
        typer.Option(
            "--decompress/--compress", "-d/-z", help="decompress, like `kolmo decompress`; the last one counts"
        ),
    ] = False,
    test: Test = False,
    list_: List = False,
    explain: Explain = False,
    compare: Annotated[bool, typer.Option("--compare", help="compare with gzip, bz2, xz, zstd and brotli")] = False,
    max_output: MaxOutput = "1G",
    json: Json = False,
    suffix: Suffix = None,
) -> None:
    """Pack files and folders into archives that open without a model.

    A folder, or several files with -o, become one archive. The archive is decoded and compared before it is written, and never much larger than the best standard codec.
    """
    if decode or test or list_:
        return decompress(**_of_decompress(context, "-d" if decode else "-t" if test else "-l"))
    from kolmocli.archive.format.views import FORMATS
    from kolmocli.archive.options import SEARCHED_LEVEL, Options
    from kolmocli.archive.time_budget import TimeBudget
    from kolmocli.cli.number_types import number_types
    from kolmocli.files import packed_name

    if format_ != "auto" and format_ not in FORMATS:
        raise UsageError(f"--format {format_}: there are auto, {', '.join(FORMATS)}")
    searching = {"--format": format_ != "auto", "--model": model is not None, "--cache": cache is not None}
    for flag, wanted in searching.items():
        if wanted and level < SEARCHED_LEVEL:
            raise UsageError(
                f"{flag} is for the search, and -{level} has none: give -{SEARCHED_LEVEL} to -9, or remove {flag}"
            )
    for name in ("samples", "seed", "device"):
        if model is None and (useless := given(context, name)):
            raise UsageError(f"{useless} means nothing without --model")
    if (program is not None) != allow_python:
        raise UsageError("--program and --allow-python go together when packing: give both, or none")
    names, remove = files or ["-"], remove and not keep
    name_of = named(packed_name, suffix, output, stdout)
    together = _together(names, output, stdout)
    folders = [name for name in names if os.path.isdir(name)]
    if (together or folders) and (remove or program is not None):
        raise UsageError("--rm and --program are for single files: remove them for folders and several files in one")
    packed_as_one = names[:1] if together else names
    destination = destinations(packed_as_one, output, stdout, name_of, remove, prints=json or explain or compare)
    budget, waiting = (
        TimeBudget(None if time_budget is None else time.monotonic() + seconds(time_budget)),
        len(packed_as_one),
    )
    types, header = number_types(type_) if type_ is not None else ((), 0)
    options = Options(level, format_, types, header, samples=samples, seed=seed)
    if model is not None:
        from kolmocli.console import shared_console
        from kolmocli.policy.proposer import open_proposer

        options = replace(options, proposer=open_proposer(model, device, shared_console().out))
    if program is not None:
        options = _with_python(options, program)
    known = None
    if cache is not None:
        from kolmocli.archive.search.program_cache import ProgramCache

        known = ProgramCache(Path(cache), options.proposer)
        options = replace(options, proposer=known)
    how = FileOptions(force=force, remove=remove, quiet=quiet, verbose=verbose, explain=explain)

    def pack(name: str) -> Result:
        nonlocal waiting
        mine, waiting = replace(options, deadline=budget.share(1 / waiting)), waiting - 1
        if together or name in folders:
            return pack_folder(names if together else [name], destination(name), mine, how, compare)
        return pack_file(name, destination(name), mine, how, compare)

    each(packed_as_one, pack, json)
    if known is not None:
        known.save()


def _together(names: Sequence[str], output: str | None, stdout: bool) -> bool:
    """Whether these become one archive with an index: several files with one output.

    Raises:
        UsageError: when that cannot be.
    """
    one = output is not None and output != "-" and not stdout
    if not one and len(names) > 1 and (stdout or output == "-") and any(map(os.path.isdir, names)):
        raise UsageError("the archive of a folder has no other behind it: pack them together with -o FILE")
    if one and len(names) > 1 and "-" in names:
        raise UsageError("standard input has no name in an archive of several files: remove -")
    return one and len(names) > 1


def _of_decompress(context: typer.Context, mode: str) -> dict[str, Any]:
    """The arguments that `kolmo decompress` has too. `mode` is the flag with which archives are read.

    Raises:
        UsageError: one of the others was given, which mean nothing then.
    """
    shared = signature(decompress).parameters
    for name in context.params.keys() - shared.keys() - {"decode"}:
        if flag := given(context, name):
            raise UsageError(f"{flag} means nothing with {mode}, which reads archives: remove it")
    return {name: value for name, value in context.params.items() if name in shared}


def _with_python(options: Options, program: str) -> Options:
    """The options with a Python program from a file, and the sandbox in which it runs."""
    from kolmocli.archive.python_mode import PythonRunner
    from kolmocli.files import read_input

    try:
        return replace(options, python=read_input(program).decode(), run_python=PythonRunner())
    except UnicodeDecodeError:
        raise UsageError(f"{program}: a Python program is UTF-8 text") from None
