"""`kolmo compress` and `kolmo decompress`: files in, files out, with the habits of gzip, xz and zstd."""

from __future__ import annotations

import re
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from kolmocli.cli.output import print_json
from kolmocli.errors import EXIT_OK, KolmoError, UsageError

if TYPE_CHECKING:
    from kolmocli.archive.attempts import Options
    from kolmocli.archive.decompress import RunPython
    from kolmocli.archive.proposals import Proposer

_KINDS = {16: "programs", 17: "python"}
Files = Annotated[list[str] | None, typer.Argument(metavar="[FILE]...", help="files; none or - is standard input")]
Output = Annotated[
    str | None, typer.Option("--output", "-o", metavar="FILE", help="where it goes; - is standard output")
]
Stdout = Annotated[bool, typer.Option("--stdout", "-c", help="write to standard output")]
Force = Annotated[bool, typer.Option("--force", "-f", help="overwrite outputs; write an archive to a terminal")]
Keep = Annotated[bool, typer.Option("--keep", "-k", help="keep the input (the default; undoes --rm)")]
Remove = Annotated[bool, typer.Option("--rm", help="remove the input once its output is safely on disk")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="no summary and no progress")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="say what was tried and what takes the space")]
Test = Annotated[bool, typer.Option("--test", "-t", help="decode archives and write nothing")]
List = Annotated[bool, typer.Option("--list", "-l", help="list archives without decoding them")]
AllowPython = Annotated[
    bool, typer.Option("--allow-python", help="run the Python program of an archive, in the sandbox only")
]
Json = Annotated[bool, typer.Option("--json", help="print one JSON object")]
Explain = Annotated[bool, typer.Option("--explain", help="print the program behind each block")]
MaxOutput = Annotated[str, typer.Option("--max-output", metavar="SIZE", help="largest original, such as 500M")]


class CompressCommand(TyperCommand):
    """Reads the levels -0 to -9, each of which is short for `--level`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        levels = [f"--level={a[1]}" if re.fullmatch("-[0-9]", a) else a for a in args[:end]]
        return super().parse_args(ctx, levels + args[end:])


_ONLY_PACKING = ("level", "model", "samples", "seed", "device", "format_", "time_budget", "compare", "cache", "program")
"""Parameters that mean nothing where archives are read."""


def compress(
    context: typer.Context,
    files: Files = None,
    output: Output = None,
    stdout: Stdout = False,
    level: Annotated[int, typer.Option("--level", min=0, max=9, help="0 (codecs only) to 9; also -0 … -9")] = 6,
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
    time_budget: Annotated[
        str | None, typer.Option("--time-budget", metavar="TIME", help="begin no attempt after this, such as 60s or 2m")
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
    decode: Annotated[bool, typer.Option("--decompress", "-d", help="decompress, like `kolmo decompress`")] = False,
    test: Test = False,
    list_: List = False,
    explain: Explain = False,
    compare: Annotated[bool, typer.Option("--compare", help="show gzip, bz2, xz, zstd and brotli beside it")] = False,
    max_output: MaxOutput = "1G",
    json: Json = False,
) -> None:
    """Pack files into archives that any machine can open without the model.

    The archive is decoded and compared before it is written, and never much larger than the best standard codec.
    """
    if decode or test or list_:
        _refuse_what_means_nothing(context, "-d" if decode else "-t" if test else "-l")
        return decompress(
            files,
            output,
            stdout,
            allow_python,
            force,
            keep,
            remove,
            quiet,
            verbose,
            test,
            list_,
            explain,
            max_output,
            json,
        )
    from kolmocli.archive.attempts import Options
    from kolmocli.archive.files import packed_name
    from kolmocli.archive.views import FORMATS

    if format_ != "auto" and format_ not in FORMATS:
        raise UsageError(f"--format {format_}: there are auto, {', '.join(FORMATS)}")
    deadline = None if time_budget is None else time.monotonic() + _seconds(time_budget)
    proposer: Proposer | None = None
    if model is not None:
        from kolmocli.policy.proposer import open_proposer

        proposer = open_proposer(model, device=device)
    remembered = None
    if cache is not None:
        from kolmocli.archive.remembered import Remembered

        proposer = remembered = Remembered(Path(cache), proposer)
    if (program is not None) != allow_python:
        raise UsageError("--program and --allow-python go together when packing: give both, or none")
    source = "" if program is None else _source(program)
    options = Options(level, format_, proposer, samples, seed, source, _runner(allow_python), deadline)

    def work(name: str, target: str) -> dict[str, Any]:
        return _pack(name, target, options, force, remove and not keep, quiet, verbose, explain, compare)

    _each(files, output, stdout, packed_name, work, json, explain or compare)
    if remembered is not None:
        remembered.save()


def _source(name: str) -> str:
    from kolmocli.archive.files import read_input

    try:
        return read_input(name).decode()
    except UnicodeDecodeError:
        raise UsageError(f"{name}: a Python program is UTF-8 text") from None


def _runner(allow_python: bool) -> RunPython | None:
    if not allow_python:
        return None
    from kolmocli.archive.python_mode import PythonRunner

    return PythonRunner()


def _refuse_what_means_nothing(context: typer.Context, mode: str) -> None:
    for name in _ONLY_PACKING:
        source = context.get_parameter_source(name)
        if source is not None and source.name != "DEFAULT":
            flag = "--" + name.strip("_").replace("_", "-")
            raise UsageError(f"{flag} means nothing with {mode}, which reads archives: leave it out")


def decompress(
    files: Files = None,
    output: Output = None,
    stdout: Stdout = False,
    allow_python: AllowPython = False,
    force: Force = False,
    keep: Keep = False,
    remove: Remove = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    test: Test = False,
    list_: List = False,
    explain: Explain = False,
    max_output: MaxOutput = "1G",
    json: Json = False,
) -> None:
    """Restore the originals of archives. Needs no model; runs no code from the archive."""
    from kolmocli.archive.files import unpacked_name

    limit, runner = _bytes(max_output), _runner(allow_python)
    if test or list_:
        if remove or output or stdout:
            raise UsageError("--test and --list write and remove nothing: leave out -o, -c and --rm")

        def look(name: str, _target: str) -> dict[str, Any]:
            if list_:
                return _list(name, limit, quiet or json, explain)
            return _test(name, limit, quiet or json, explain, runner)

        _each(files, None, False, _nowhere, look, json, False)
        return

    def unpack(name: str, target: str) -> dict[str, Any]:
        return _unpack(name, target, limit, runner, force, remove and not keep, quiet, verbose, explain)

    _each(files, output, stdout, unpacked_name, unpack, json, explain)


def _nowhere(_name: str) -> str:
    return ""


def _each(
    files: list[str] | None, output: str | None, stdout: bool, name_of: Any, work: Any, json: bool, prints: bool
) -> None:
    """Work on each file; the first error decides the exit code, the other files are still worked on."""
    from kolmocli.cli.main import complain

    names = files or ["-"]
    if output is not None and stdout and output != "-":
        raise UsageError("-c and -o name two outputs: take one")
    if output is not None and output != "-" and len(names) > 1:
        raise UsageError(f"-o {output} cannot take {len(names)} files: leave it out, or use -c to put them together")
    results, code = [], EXIT_OK
    for name in names:
        try:
            target = "-" if stdout else output if output is not None else name_of(name)
            if target == "-" and (json or prints):
                raise UsageError("--json, --explain and --compare print on standard output: name a file with -o")
            results.append(work(name, target))
        except KolmoError as error:
            if len(names) == 1:
                raise
            complain(str(error))
            code = code or error.exit_code
    if json:
        print_json({"files": results})
    if code:
        raise typer.Exit(code)


def _pack(
    name: str,
    target: str,
    options: Options,
    force: bool,
    remove: bool,
    quiet: bool,
    verbose: bool,
    explain: bool,
    compare: bool,
) -> dict[str, Any]:
    from kolmocli.archive.compress import compress as pack
    from kolmocli.archive.files import check_output, read_input, remove_input, write_output

    check_output(name, target, force, binary=True)
    data = read_input(name)
    started = time.monotonic()
    archive, reports = pack(data, options, _progress(name, quiet))
    write_output(target, archive, like=name)
    if remove:
        remove_input(name, target, archive)
    result: dict[str, Any] = {"input": name, "output": target, "size": len(data), "packed": len(archive)}
    result |= {"seconds": round(time.monotonic() - started, 3), "members": [asdict(r) for r in reports]}
    if not quiet:
        _say(f"{name}: {len(data)} → {len(archive)} bytes{_share(len(archive), len(data))}, {target}")
    if verbose:
        for r in reports:
            _say(
                f"  {r.view}, {r.programs} programs for {r.covered} items ({r.proposed} by the model), residual {r.codec}"
            )
            _say("  " + ", ".join(f"{k} {v}" for k, v in sorted(r.attempts.items(), key=lambda kv: kv[1])))
    searched = any(way.startswith("programs") for r in reports for way in r.attempts)
    if not quiet and options.view != "auto" and not searched:
        _say(f"{name}: no program was found with --format {options.view}; packed by {reports[0].codec}")
    if compare:
        from kolmocli.evaluation.baselines import codecs

        result["compare"] = {codec: len(encode(data)) for codec, encode in codecs().items()}
        for label, size in sorted([("kolmo", len(archive)), *result["compare"].items()], key=lambda kv: kv[1]):
            print(f"{label:8} {size:>12}{_share(size, len(data))}")
    if explain:
        _print_programs(archive, len(data))
    return result


def _unpack(
    name: str,
    target: str,
    limit: int,
    runner: RunPython | None,
    force: bool,
    remove: bool,
    quiet: bool,
    verbose: bool,
    explain: bool,
) -> dict[str, Any]:
    from kolmocli.archive.decompress import decompress as unpack
    from kolmocli.archive.files import check_output, read_input, remove_input, write_output

    check_output(name, target, force, binary=False)
    archive = read_input(name)
    started = time.monotonic()
    data = _named(name, lambda: unpack(archive, limit, runner))
    write_output(target, data, like=name)
    if remove:
        remove_input(name, target, data)
    seconds = round(time.monotonic() - started, 3)
    if verbose and not quiet:
        _say(f"{name}: {len(archive)} → {len(data)} bytes in {seconds} s, {target}")
    if explain:
        _print_programs(archive, limit)
    return {"input": name, "output": target, "size": len(data), "packed": len(archive), "seconds": seconds}


def _test(name: str, limit: int, quiet: bool, explain: bool, runner: RunPython | None) -> dict[str, Any]:
    from kolmocli.archive.decompress import decompress as unpack
    from kolmocli.archive.files import read_input

    archive = read_input(name)
    size = len(_named(name, lambda: unpack(archive, limit, runner)))
    if not quiet:
        _say(f"{name}: {size} bytes, OK")
    if explain:
        _print_programs(archive, limit)
    return {"input": name, "ok": True, "size": size, "packed": len(archive)}


def _list(name: str, limit: int, quiet: bool, explain: bool) -> dict[str, Any]:
    from kolmocli.archive.codecs import CODECS
    from kolmocli.archive.decompress import members
    from kolmocli.archive.files import read_input

    archive = read_input(name)
    found = _named(name, lambda: members(archive, limit))
    size = sum(m.size for m in found)
    sections = [
        {"kind": CODECS[s.tag].name if s.tag in CODECS else _KINDS.get(s.tag, "optional"), "bytes": len(s.payload)}
        for m in found
        for s in m.sections
    ]
    if not quiet:
        kinds = ", ".join(f"{s['kind']} {s['bytes']}" for s in sections) or "empty"
        print(
            f"{name}: {size} bytes in {len(archive)}{_share(len(archive), size)}, {len(found)} member{'s' * (len(found) > 1)}: {kinds}"
        )
    if explain:
        _print_programs(archive, limit)
    return {"input": name, "members": len(found), "size": size, "packed": len(archive), "sections": sections}


def _named(name: str, decode: Any) -> Any:
    """Run a decoder; its errors name the file."""
    try:
        return decode()
    except KolmoError as error:
        raise type(error)(f"{name}: {error}") from None


def _print_programs(archive: bytes, limit: int) -> None:
    from kolmocli.archive.explain import explain
    from kolmocli.cli.output import stdout

    console = stdout()
    if not console.is_terminal:
        for line in explain(archive, limit):
            print(line)
        return
    from rich.syntax import Syntax

    for line in explain(archive, limit):
        console.print(Syntax(line, "python", background_color="default"))


def _progress(name: str, quiet: bool) -> Any:
    """Progress on a terminal's stderr, one line that is written over."""
    if quiet or not sys.stderr.isatty():
        return None
    return lambda stage: print(f"\r\033[K{name}: {stage}", end="\r", file=sys.stderr, flush=True)


def _say(line: str) -> None:
    print(f"\r\033[K{line}" if sys.stderr.isatty() else line, file=sys.stderr)


def _share(part: int, whole: int) -> str:
    return f" ({100 * part / whole:.1f} %)" if whole else ""


def _seconds(text: str) -> float:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(s|m|h|)", text)
    if found is None:
        raise UsageError(f"--time-budget {text}: a number with s, m or h, such as 60s")
    return float(found[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[found[2]]


def _bytes(text: str) -> int:
    found = re.fullmatch(r"(\d+)([KMGT]?)(?:i?B)?", text)
    if found is None:
        raise UsageError(f"--max-output {text}: a number of bytes, such as 1000000, 500M or 2G")
    return int(found[1]) << {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}[found[2]]
