"""`kolmo data`: sequences cut from files, sampled pairs, references by search, and what is in such a file."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import Annotated, Any, cast, get_args

import typer

from kolmocli.cli.given import require_choice
from kolmocli.cli.output import print_json, remark, show
from kolmocli.errors import UsageError

app = typer.Typer(
    help="Make and inspect files of sequences to train and evaluate on.", no_args_is_help=True, rich_markup_mode=None
)

Output = Annotated[
    str, typer.Option("--output", "-o", metavar="FILE", help="where to; - is standard output", show_default=True)
]
Force = Annotated[bool, typer.Option("--force", "-f", help="overwrite the output if it exists")]
Strict = Annotated[bool, typer.Option("--strict", help="stop at the first bad place instead of skipping it")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="say nothing but errors and bad places")]
Json = Annotated[bool, typer.Option("--json", help="print one JSON object")]


@app.command("slice")
def slice_(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="what to cut; - is standard input")],
    modality: Annotated[
        str, typer.Option("--modality", metavar="NAME", help="text, bytes, dna, audio8, audio16, mfcc or numbers")
    ],
    length: Annotated[
        str, typer.Option("--length", metavar="N[,N...]", help="values per sequence; several lengths take turns")
    ] = "128",
    output: Output = "-",
    sequences: Annotated[
        int | None, typer.Option("--sequences", min=1, metavar="N", help="stop after this many sequences")
    ] = None,
    column: Annotated[
        str | None, typer.Option("--column", metavar="NAME", help="numbers: one column, by its name or its number")
    ] = None,
    rest: Annotated[bool, typer.Option("--rest", help="keep what is left at the end, as a shorter sequence")] = False,
    strict: Strict = False,
    force: Force = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Cut files into sequences of equal length, one per line of JSONL.

    Gzip is unpacked on the way, except for bytes. No sequence reaches from one file, or record, into the next.
    """
    from kolmocli.tasks.files.slicing import Modality, Slicing, slice_files

    require_choice("--modality", modality, get_args(Modality))
    lengths = _lengths(length)
    if column is not None and modality != "numbers":
        raise UsageError(f"--column goes with --modality numbers, not with {modality}")
    _json_needs_a_file(json, output)
    wanted = Slicing(cast(Modality, modality), lengths, rest, sequences, column, strict)
    done = slice_files(files, output, wanted, force=force, warn=remark)
    if json:
        print_json({"output": output, "modality": modality, "lengths": list(lengths), **asdict(done)})
    elif not quiet:
        left = f", {done.left_over:,} left over" if done.left_over else ""
        gaps = f", {done.gaps:,} uncertain bases skipped" if done.gaps else ""
        remark(f"{done.sequences:,} sequences of {done.values:,} values{left}{gaps}: {_place(output)}")


@app.command("synth")
def synth(
    pairs: Annotated[int, typer.Option("--pairs", min=1, metavar="N", help="how many")] = 1000,
    output: Output = "-",
    curriculum: Annotated[
        str | None,
        typer.Option(
            "--curriculum", metavar="NAME", help="its families, every level as often (default: the published sampler)"
        ),
    ] = None,
    split: Annotated[
        str, typer.Option("--split", metavar="NAME", help="all skeletons, or those of train or of eval only")
    ] = "all",
    exclude: Annotated[
        list[str] | None,
        typer.Option("--exclude", metavar="FILE", help="no sequence and no program skeleton of this file"),
    ] = None,
    distinct: Annotated[bool, typer.Option("--distinct", help="no sequence twice")] = False,
    seed: Annotated[int, typer.Option("--seed", min=0, metavar="N", help="one seed gives one file")] = 0,
    strict: Strict = False,
    force: Force = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Sample pairs of a program and the sequence that it makes, one per line of JSONL.

    The first pairs of a seed are always the same, for any --pairs.
    """
    from kolmocli.tasks.files.synthesis import Part, Synthesis, synthesise

    require_choice("--split", split, get_args(Part))
    _json_needs_a_file(json, output)
    families = {}
    if curriculum is not None:
        from kolmocli.config.file import load_config
        from kolmocli.paths import find_curriculum
        from kolmocli.tasks.sequences.settings import Family

        sections = load_config(find_curriculum(curriculum), note=remark).families
        families = {name: section for name, section in sections.items() if isinstance(section, Family)}
        if not families:
            raise UsageError(f"--curriculum {curriculum}: its tasks are questions, there are no programs to sample")
    wanted = Synthesis(pairs, seed, cast(Part, split), families, tuple(exclude or ()), distinct, strict)
    done = synthesise(wanted, output, force=force, warn=remark, progress=_counter(pairs, quiet))
    if json:
        print_json({"output": output, "seed": seed, "split": split, "curriculum": curriculum, **asdict(done)})
    elif not quiet:
        extra = "".join(
            f", {n:,} {what}" for what, n in (("excluded", done.excluded), ("repeated", done.repeated)) if n
        )
        remark(f"{done.pairs:,} pairs, {done.items:,} items{extra}: {_place(output)}")


@app.command("label")
def label_(
    file: Annotated[str, typer.Argument(help="JSONL or CSV, perhaps gzipped; - is standard input")],
    seconds: Annotated[
        float, typer.Option("--seconds", min=0, metavar="S", help="how long to search for each sequence")
    ] = 1.0,
    shorten: Annotated[
        bool, typer.Option("--shorten", help="search for shorter programs where the file has one, too")
    ] = False,
    output: Output = "-",
    resume: Annotated[bool, typer.Option("--resume", help="continue OUTPUT.partial of a stopped run")] = False,
    strict: Strict = False,
    force: Force = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Search for reference programs of sequences that come without one, in the order of the file.

    A sequence gets no program if the search finds nothing shorter than its literal list.
    """
    if not seconds < float("inf"):
        raise UsageError(f"--seconds {seconds:g}: must be a number of seconds")
    _json_needs_a_file(json, output)
    from kolmocli.tasks.files.labelling import Labelling, label

    wanted = Labelling(seconds, shorten, strict, resume)
    done = label(file, output, wanted, force=force, warn=remark, progress=_counter(None, quiet, "sequences"))
    if json:
        print_json({"file": file, "output": output, "seconds": seconds, **asdict(done)})
    elif not quiet:
        counts = {"found": done.found, "shortened": done.shortened, "kept as they are": done.kept}
        programs = ", ".join(f"{n:,} {what}" for what, n in counts.items() if n) or "none found"
        rate = f", {done.bits / done.literal_bits:.3f} of their literals" if done.literal_bits else ""
        without = f"; {done.literals:,} without" if done.literals else ""
        remark(f"{done.sequences:,} sequences: programs {programs}{rate}{without}: {_place(output)}")


@app.command("show")
def show_data(
    file: Annotated[str, typer.Argument(help="JSONL or CSV, perhaps gzipped; - is standard input")],
    examples: Annotated[int, typer.Option("--examples", min=0, metavar="N", help="records to show, at random")] = 3,
    seed: Annotated[int, typer.Option("--seed", min=0, metavar="N", help="which examples")] = 0,
    strict: Strict = False,
    json: Json = False,
) -> None:
    """Show what is in a file of sequences: sizes, values, buckets, programs, a few examples.

    Programs are checked against their sequences on the way.
    """
    from kolmocli.tasks.files.statistics import describe

    report = describe(file, examples=examples, seed=seed, strict=strict, warn=remark)
    print_json(report) if json else show(*_tables(report))


def _lengths(text: str) -> tuple[int, ...]:
    lengths = tuple(int(part) if part.strip().isdecimal() else 0 for part in text.split(","))
    if not all(0 < n <= _LONGEST for n in lengths):
        raise UsageError(f"--length {text}: a number from 1 to {_LONGEST:,}, or several, such as 8,16,32")
    return lengths


_LONGEST = 1 << 20


def _json_needs_a_file(json: bool, output: str) -> None:
    if json and output == "-":
        raise UsageError("--json prints on standard output, where the sequences go: name a file with -o")


def _counter(of: int | None, quiet: bool, what: str = "pairs") -> Callable[[int], None]:
    """Progress on a terminal's stderr: one line that is written over."""
    if quiet or not sys.stderr.isatty():
        return lambda done: None
    whole = "" if of is None else f" of {of:,}"
    return lambda done: remark(f"{done:,}{whole} {what}", "\r")


def _place(output: str) -> str:
    return "standard output" if output == "-" else output


def _tables(report: dict[str, Any]) -> Iterable[Any]:
    from rich.text import Text

    yield Text(report["file"], style="bold")
    yield _facts(report)
    if len(report["length"]["histogram"]) > 1:
        yield _histogram("items per sequence", report["length"]["histogram"])
    if report["value"]["histogram"]:
        yield _histogram("values", report["value"]["histogram"])
    if report["buckets"]:
        yield _counts("bucket", report["buckets"])
    for example in report["examples"]:
        yield Text.assemble(
            (example["program"] + "\n" if example["program"] else ""),
            (" ".join(map(str, example["sequence"])), "cyan"),
            "\n",
        )


def _facts(report: dict[str, Any]) -> Any:
    from rich.table import Column, Table

    length, value, programs = report["length"], report["value"], report["programs"]
    table = Table(Column(), Column(overflow="fold"), box=None, show_header=False, pad_edge=False)
    table.add_row("sequences", f"{report['records']:,}, {report['distinct']:,} different, {report['bad']:,} bad lines")
    table.add_row(
        "items", f"{report['items']:,}; {length['min']:,} to {length['max']:,} each, half at most {length['median']:,}"
    )
    entropy = "" if value["bits_per_item"] is None else (
        f"; {value['distinct']:,} different, {value['bits_per_item']:.2f} bits each by frequency"
    )  # fmt: skip
    table.add_row("values", f"{value['min']:,} to {value['max']:,}{entropy}")
    if report["modalities"]:
        table.add_row("modalities", ", ".join(f"{name} {n:,}" for name, n in report["modalities"].items()))
    table.add_row("as literals", f"{report['literal_rate']:.3f} of raw")
    if programs["count"]:
        words = (
            f"{programs['count']:,}, {programs['statements']:.1f} statements each, {programs['coded_rate']:.3f} of raw"
        )
        table.add_row("as programs", words)
    return table


def _histogram(title: str, bins: list[dict[str, int]]) -> Any:
    from rich import box
    from rich.bar import Bar
    from rich.table import Table

    table = Table(box=box.SIMPLE, pad_edge=False)
    table.add_column(title, justify="right")
    table.add_column("", justify="right")
    table.add_column("", max_width=_BAR, overflow="fold")
    top = max(b["count"] for b in bins)
    for b in bins:
        span = f"{b['from']:,}" if b["from"] == b["to"] else f"{b['from']:,} to {b['to']:,}"
        table.add_row(span, f"{b['count']:,}", Bar(top, 0, b["count"]))
    return table


_BAR = 40


def _counts(title: str, counts: dict[str, int]) -> Any:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE, pad_edge=False)
    table.add_column(title, overflow="fold")
    table.add_column("sequences", justify="right")
    for name, count in counts.items():
        table.add_row(Text(name), f"{count:,}")
    return table
