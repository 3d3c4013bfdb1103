"""`kolmo solve`: the shortest program that a search, and perhaps a policy, finds for a sequence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kolmocli.cli.given import given
from kolmocli.cli.output import print_json, print_line, remark, show
from kolmocli.errors import UsageError

if TYPE_CHECKING:
    from rich.table import Table

    from kolmocli.language.program import Program
    from kolmocli.language.search.likely import Guide
    from kolmocli.language.search.solver import Solution

GUIDE = "guide"
"""The name of a model that writes no programs."""
ARGUMENTS = {"ignore_unknown_options": True}
"""So that -3 is a number. An argument that looks like a flag and is none is refused here."""
_WIDEST = 24
"""Items of a sequence that a line shows."""
_ORIGINS = {
    "literal": "nothing shorter than the literal list was found",
    "search": "found by search",
    "policy": "written by the policy",
    "both": "the policy's program, shortened by search",
}
_AT_ONCE = 64
"""Sequences that a policy is asked for before the search goes through them."""


def solve(
    context: typer.Context,
    integers: Annotated[
        list[str] | None, typer.Argument(metavar="INTEGERS...", help="the sequence, such as 3 4 5 3 4 5 or [3,4,5]")
    ] = None,
    data: Annotated[
        str | None,
        typer.Option("--data", metavar="FILE", help="every sequence of a file instead; - is standard input"),
    ] = None,
    seconds: Annotated[
        float, typer.Option("--seconds", min=0, metavar="S", help="how long to search for each sequence")
    ] = 1.0,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            metavar="NAME",
            help="guide, which ranks ways to take a sequence apart; or shipped, a run, checkpoint or model whose programs join the search",
        ),
    ] = None,
    samples: Annotated[
        int, typer.Option("--samples", min=1, metavar="K", help="programs that the model writes for each sequence")
    ] = 8,
    seed: Annotated[int, typer.Option("--seed", min=0, metavar="N", help="seed of the model's samples")] = 0,
    device: Annotated[str, typer.Option("--device", metavar="NAME", help="auto, cpu, cuda or mps")] = "auto",
    strict: Annotated[bool, typer.Option("--strict", help="with --data: stop at the first bad line")] = False,
    json: Annotated[bool, typer.Option("--json", help="print one JSON object")] = False,
) -> None:
    """Find a short program that makes a sequence. Every program has been run and compared before it is shown."""
    if (integers is None) == (data is None):
        raise UsageError("solve takes a sequence of integers, or --data with a file of them; see kolmo solve --help")
    if not seconds < float("inf"):
        raise UsageError(f"--seconds {seconds:g}: must be a number of seconds")
    _refuse_what_means_nothing(context, model, data)
    proposer = guide = None
    if model == GUIDE:
        from kolmocli.language.guide import shipped_guide

        guide = shipped_guide()
    elif model is not None:
        from kolmocli.policy.proposer import open_proposer

        proposer = open_proposer(model, device)
    sequences = [read_integers(integers)] if integers is not None else _of_file(str(data), strict)
    found = _solved(sequences, seconds, proposer, samples, seed, guide)
    if json:
        results = [_facts(sequence, solution) for sequence, solution in found]
        print_json({"data": data, "results": results, "total": _total(results)} if data is not None else results[0])
    elif data is None:
        for sequence, solution in found:
            print_line(solution, "\n")
            show("", f"{_ORIGINS[solution.source]} in {solution.seconds:.2f} s; run: it makes the sequence", "")
            show(_table(_facts(sequence, solution)))
    else:
        _show_each(found)


def read_integers(words: Sequence[str]) -> tuple[int, ...]:
    """The integers of the command line, with commas and brackets or without.

    Raises:
        UsageError: a word is no integer, or there is none.
    """
    text = " ".join(words).strip()
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1]
    items = [word for word in re.split(r"[\s,]+", text) if word]
    for place, word in enumerate(items, start=1):
        if not re.fullmatch(r"[+-]?[0-9]+", word):
            said = "no such flag" if word.startswith("--") else f"item {place} is no integer"
            raise UsageError(f"solve: {word[:40]}: {said}; see kolmo solve --help")
        if len(word) > _LONGEST_WORD:
            raise UsageError(f"solve: item {place} has {len(word)} digits; solve takes integers of up to 17")
    if not items:
        raise UsageError("solve takes at least one integer; the sequence is empty")
    return tuple(map(int, items))


_LONGEST_WORD = 400
"""Characters of an integer; Python refuses to read one of thousands."""


def _of_file(name: str, strict: bool) -> Iterator[tuple[int, ...]]:
    from kolmocli.language.search.solver import solvable
    from kolmocli.tasks.files.entries import read_entries
    from kolmocli.tasks.files.problems import Problems
    from kolmocli.tasks.files.records import nothing_in

    problems, count = Problems(name, remark, strict), 0
    for where, entry in read_entries(name, problems):
        try:
            sequence = solvable(entry.sequence)
        except UsageError as error:
            problems.bad(where, error)
            continue
        count += 1
        yield sequence
    problems.close(f"{count:,}")
    if not count:
        raise nothing_in(problems)


def _solved(
    sequences: Iterable[tuple[int, ...]], seconds: float, proposer: Any, samples: int, seed: int, guide: Guide | None
) -> Iterator[tuple[tuple[int, ...], Solution]]:
    from kolmocli.language.search.solver import solvable, solve as search

    waiting, size = iter(sequences), 1 if proposer is None else _AT_ONCE
    while batch := [solvable(sequence) for sequence in islice(waiting, size)]:
        known: Sequence[Sequence[Program]] = [()] * len(batch)
        if proposer is not None:
            known = proposer.propose(batch, samples, seed)
            seed += _AT_ONCE
        for sequence, programs in zip(batch, known, strict=True):
            yield sequence, search(sequence, seconds=seconds, known=programs, guide=guide)


def _facts(sequence: Sequence[int], solution: Solution) -> dict[str, Any]:
    """One result, JSON-ready."""
    from kolmocli.evaluation.baselines import codecs
    from kolmocli.language.raw import pack

    raw = pack(sequence)
    return {
        "program": str(solution.program),
        "bits": solution.bits,
        "literal_bits": solution.literal_bits,
        "raw_bits": 8 * len(raw),
        "codecs": {name: 8 * len(codec(raw)) for name, codec in codecs().items()},
        "checked": solution.value == tuple(sequence),
        "seconds": round(solution.seconds, 3),
        "from": solution.source,
    }


def _total(results: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Bits of all sequences, each stored by itself, and where the programs come from."""
    sources = ("literal", "search", "policy", "both")
    return {
        "sequences": len(results),
        **{key: sum(result[key] for result in results) for key in ("bits", "literal_bits", "raw_bits")},
        "codecs": {name: sum(result["codecs"][name] for result in results) for name in results[0]["codecs"]},
        "from": {source: sum(result["from"] == source for result in results) for source in sources},
    }


def _table(facts: dict[str, Any]) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim")
    table.add_column(justify="right")
    table.add_column(justify="right")
    rows = {"program": facts["bits"], "literal": facts["literal_bits"], **facts["codecs"], "raw": facts["raw_bits"]}
    for name, bits in rows.items():
        style = "bold" if name == "program" else ""
        table.add_row(name, Text(f"{bits:,} bits", style), f"{bits / facts['raw_bits']:.2f} of raw")
    return table


def _show_each(found: Iterable[tuple[tuple[int, ...], Solution]]) -> None:
    """Each program as it is found, and all bits at the end."""
    from rich.table import Table

    results = []
    for number, (sequence, solution) in enumerate(found, start=1):
        facts = _facts(sequence, solution)
        results.append(facts)
        more = f" … {len(sequence):,} items" if len(sequence) > _WIDEST else ""
        print_line(f"{number}: {' '.join(map(str, sequence[:_WIDEST]))}{more}")
        print_line(f"   {solution.bits:,} bits, literal {solution.literal_bits:,}, from {solution.source}")
        print_line("\n".join(f"   {line}" for line in facts["program"].split("\n")), "\n")
    total = _total(results)
    table = Table(box=None, pad_edge=False)
    columns = {
        "programs": total["bits"],
        "literals": total["literal_bits"],
        **total["codecs"],
        "raw": total["raw_bits"],
    }
    for name in columns:
        table.add_column(name, justify="right")
    table.add_row(*(f"{bits:,}" for bits in columns.values()))
    origins = ", ".join(f"{n:,} from {source}" for source, n in total["from"].items() if n)
    show("", f"{len(results):,} sequences ({origins}); bits, each sequence by itself:", table)


def _refuse_what_means_nothing(context: typer.Context, model: str | None, data: str | None) -> None:
    for name in ("samples", "seed", "device"):
        if model in (None, GUIDE) and (mine := given(context, name)):
            raise UsageError(f"{mine} means nothing without --model, or with --model {GUIDE}")
    if data is None and (mine := given(context, "strict")):
        raise UsageError(f"{mine} means nothing without --data")
