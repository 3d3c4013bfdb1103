"""`kolmo eval`: how good a policy is on held-out tasks."""

from __future__ import annotations

from typing import Annotated

import typer

from kolmocli.cli.output import print_json, show
from kolmocli.errors import UsageError


def evaluate(
    target: Annotated[
        str, typer.Argument(metavar="MODEL|RUN", help="a run, a checkpoint folder, a preset or a Hugging Face id")
    ],
    curriculum: Annotated[
        str | None,
        typer.Option("--curriculum", metavar="NAME", help="held-out tasks of this curriculum (default: the run's own)"),
    ] = None,
    data: Annotated[
        str | None, typer.Option("--data", metavar="FILE", help="sequences from a JSONL file, instead of a curriculum")
    ] = None,
    samples: Annotated[int, typer.Option("--samples", min=1, metavar="K", help="programs per task")] = 1,
    tasks: Annotated[
        int | None,
        typer.Option("--tasks", min=1, metavar="N", help="number of tasks (default: as the curriculum says)"),
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, metavar="N", help="seed of the sampling (default: the run's own)")
    ] = None,
    device: Annotated[str, typer.Option("--device", metavar="NAME", help="auto, cpu, cuda or mps")] = "auto",
    sandbox: Annotated[str, typer.Option("--sandbox", metavar="NAME", help="auto, docker or embedded")] = "auto",
    json: Annotated[bool, typer.Option("--json", help="print the evaluation as one JSON object")] = False,
) -> None:
    """Evaluate a policy on held-out tasks.

    The same sequences go through gzip, bz2, xz, zstd and brotli, for comparison.
    """
    if curriculum is not None and data is not None:
        raise UsageError("--curriculum and --data exclude each other")
    _one_of("--device", "model.device", device)
    _one_of("--sandbox", "sandbox.backend", sandbox)
    from kolmocli.evaluation.command import evaluate as run_evaluation

    report = run_evaluation(
        target,
        curriculum=curriculum,
        data=data,
        samples=samples,
        tasks=tasks,
        seed=seed,
        device=device,
        sandbox=sandbox,
    )
    if json:
        print_json(report)
        return
    from kolmocli.evaluation.table import render

    show(render(report))


def _one_of(flag: str, key: str, value: str) -> None:
    """Refuse a word that the schema does not have under `key`."""
    from kolmocli.config_schema import choices, field, suggest

    words = choices(field(key).annotation)
    if value not in words:
        raise UsageError(f"{flag} {value}: no such choice; {suggest(value, words)}")
