"""`kolmo eval`: how good a policy is on held-out tasks, or programs that another model has written."""

from __future__ import annotations

import math
from typing import Annotated, Any

import typer

from kolmocli.cli.format import mostly_masked
from kolmocli.cli.given import given, require_backend, require_device
from kolmocli.cli.output import print_json, remark, show
from kolmocli.cli.plugins import Plugins, load_plugins
from kolmocli.errors import CheckError, UsageError

_MODEL, _PREDICTIONS, _ENDPOINT = "a model", "--predictions", "--endpoint"
_BELONGS_TO = {
    **dict.fromkeys(("curriculum", "tasks", "samples", "max_tokens"), (_MODEL, _ENDPOINT)),
    **dict.fromkeys(("hold_out", "temperature", "seed", "device"), (_MODEL,)),
    **dict.fromkeys(("model", "timeout", "save_predictions"), (_ENDPOINT,)),
    "language": (_PREDICTIONS,),
    **dict.fromkeys(("time_limit", "memory_limit", "packages"), (_PREDICTIONS, _ENDPOINT)),
}
"""Flags that have an effect, by source of the answers; any other is refused."""
_REPLY = 1024
"""Tokens that an endpoint may answer with."""


def evaluate(
    context: typer.Context,
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="[MODEL|RUN]",
            help="a run, a checkpoint folder, shipped, a preset, a model of `kolmo model list` or a Hugging Face id",
        ),
    ] = None,
    curriculum: Annotated[
        str | None,
        typer.Option(
            "--curriculum",
            metavar="NAME",
            help="held-out tasks of this curriculum (default: the run's own); with --data: its settings alone",
        ),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(
            "--data",
            metavar="FILE",
            help="a file of tasks, instead of a curriculum; with --predictions: the tasks that they answer",
        ),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            "--columns", metavar="WHAT=COLUMN,…", help="columns of the file of tasks: prompt=problem,answer=solution"
        ),
    ] = None,
    predictions: Annotated[
        str | None,
        typer.Option("--predictions", metavar="FILE", help="judge what is in this file, instead of a model"),
    ] = None,
    endpoint: Annotated[
        str | None,
        typer.Option("--endpoint", metavar="URL", help="ask a model behind an OpenAI-compatible chat endpoint"),
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", metavar="NAME", help="what the endpoint calls the model")
    ] = None,
    samples: Annotated[int, typer.Option("--samples", min=1, metavar="K", help="programs per task")] = 1,
    temperature: Annotated[
        float | None,
        typer.Option("--temperature", metavar="T", help="temperature of several samples (default: the curriculum's)"),
    ] = None,
    tasks: Annotated[
        int | None,
        typer.Option("--tasks", min=1, metavar="N", help="number of tasks (default: as the curriculum says)"),
    ] = None,
    hold_out: Annotated[
        int,
        typer.Option("--hold-out", min=0, metavar="N", help="keep the last N items back; does a program predict them?"),
    ] = 0,
    search: Annotated[
        float,
        typer.Option(
            "--search",
            min=0,
            metavar="SECONDS",
            help="search this long for each sequence, as a baseline (0: not at all)",
        ),
    ] = 0.0,
    kt_compatible: Annotated[
        bool, typer.Option("--kt-compatible", help="also the KoLMogorov Test's published formulas, flaws included")
    ] = False,
    language: Annotated[
        str, typer.Option("--language", metavar="NAME", help="language of predictions: python or dsl")
    ] = "python",
    time_limit: Annotated[
        float | None,
        typer.Option(
            "--time-limit",
            min=0.1,
            max=600,
            metavar="SECONDS",
            help="CPU time of one program from elsewhere, unless its task names one (default: 2, and 4 for tasks with tests)",
        ),
    ] = None,
    memory_limit: Annotated[
        int | None,
        typer.Option(
            "--memory-limit",
            min=16,
            max=2048,
            metavar="MB",
            help="memory of one program from elsewhere, unless its task names one (default: 128, and 256 for tasks with tests)",
        ),
    ] = None,
    packages: Annotated[
        list[str] | None,
        typer.Option(
            "--packages",
            metavar="NAME",
            help="what programs from elsewhere may import beyond the standard library: numpy; the languages of tasks are added",
        ),
    ] = None,
    max_tokens: Annotated[
        int | None,
        typer.Option(
            "--max-tokens",
            min=1,
            max=131_072,
            metavar="N",
            help="longest answer (default: as in training; 512 for a file and no run, 1024 for an endpoint)",
        ),
    ] = None,
    timeout: Annotated[
        float,
        typer.Option(
            "--timeout", min=1, max=86_400, metavar="SECONDS", help="time limit for a complete answer of the endpoint"
        ),
    ] = 600.0,
    save_predictions: Annotated[
        str | None,
        typer.Option("--save-predictions", metavar="FILE", help="keep what the endpoint answers, for --predictions"),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="fail on a bad line, or on data that the run was trained on")
    ] = False,
    allow_masked: Annotated[
        bool, typer.Option("--allow-masked", help="exit with 0 although a tenth of the tasks could not be judged")
    ] = False,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, metavar="N", help="seed of the sampling (default: the run's own)")
    ] = None,
    device: Annotated[str, typer.Option("--device", metavar="NAME", help="auto, cpu, cuda or mps")] = "auto",
    sandbox: Annotated[
        str, typer.Option("--sandbox", metavar="NAME", help="auto, docker, embedded or http://host:port")
    ] = "auto",
    plugins: Plugins = None,
    json: Annotated[bool, typer.Option("--json", help="print the evaluation as one JSON object")] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="no progress, only the result")] = False,
) -> None:
    """Evaluate a policy on held-out tasks, or programs of any model.

    The same sequences go through gzip, bz2, xz, zstd and brotli, for comparison.
    """
    kind = _kind({_MODEL: target, _PREDICTIONS: predictions, _ENDPOINT: endpoint})
    _refuse_what_means_nothing(context, kind)
    if columns is not None and data is None:
        raise UsageError("--columns means nothing without --data: it names columns of that file")
    if strict and data is None and predictions is None:
        raise UsageError("--strict means nothing without --data or --predictions: it is about lines of a file")
    if temperature is not None:
        _check_temperature(temperature, samples)
    require_device(device)
    require_backend(sandbox)
    if language not in ("python", "dsl"):
        raise UsageError(f"--language {language}: no such choice; there are python, dsl")
    load_plugins(plugins)
    from kolmocli.console import warn
    from kolmocli.evaluation.report import Reporting
    from kolmocli.monitor.counter import counter

    if not search < math.inf:
        raise UsageError(f"--search {search:g}: must be a number of seconds")
    reporting = Reporting(kt_compatible, hold_out, search)
    with counter("evaluate", quiet) as pace:
        if target is not None:
            from kolmocli.evaluation.command import evaluate as evaluate_policy
            from kolmocli.evaluation.selection import Wanted

            wanted = Wanted(curriculum, data, tasks, strict, columns, max_tokens)
            report = evaluate_policy(
                target,
                wanted,
                samples=samples,
                seed=seed,
                device=device,
                sandbox=sandbox,
                temperature=temperature,
                reporting=reporting,
                warn=warn,
                pace=pace,
            )
        else:
            from kolmocli.evaluation.foreign import Programs, evaluate_predictions

            named = tuple(name for text in packages or () for name in text.split(",") if name)
            programs = Programs("dsl" if language == "dsl" else "python", time_limit, sandbox, memory_limit, named)
            if predictions is not None and data is not None:
                from kolmocli.evaluation.joined import evaluate_joined

                report = evaluate_joined(
                    data, predictions, programs, strict=strict, reporting=reporting, columns=columns, pace=pace
                )
            elif predictions is not None:
                report = evaluate_predictions(predictions, programs, strict=strict, reporting=reporting, pace=pace)
            else:
                from kolmocli.evaluation.endpoint import Endpoint, key_from_environment
                from kolmocli.evaluation.prompted import evaluate_endpoint
                from kolmocli.evaluation.selection import Wanted

                if model is None:
                    raise UsageError("--endpoint needs --model: what the endpoint calls the model")
                key = key_from_environment()
                report = evaluate_endpoint(
                    Endpoint(str(endpoint), model, max_tokens or _REPLY, timeout, key=key, note=remark),
                    Wanted(curriculum, data, tasks, strict, columns),
                    programs,
                    samples=samples,
                    save=save_predictions,
                    reporting=reporting,
                    pace=pace,
                )
    _print(report, json)
    if (unjudged := mostly_masked(report)) and not allow_masked:
        raise CheckError(f"{unjudged}; the figures are of the others; --allow-masked takes them")


def _print(report: dict[str, Any], json: bool) -> None:
    if json:
        print_json(report)
        return
    from kolmocli.cli.eval_table import render

    show(*render(report).renderables)


def _kind(given: dict[str, str | None]) -> str:
    named = [name for name, value in given.items() if value is not None]
    if len(named) != 1:
        instead = f", not {' and '.join(named)}" if named else ""
        raise UsageError(f"evaluate one of {', '.join(given)}{instead}; see kolmo eval --help")
    return named[0]


def _refuse_what_means_nothing(context: typer.Context, kind: str) -> None:
    for name, kinds in _BELONGS_TO.items():
        if kind not in kinds and (flag := given(context, name)):
            raise UsageError(f"{flag} means nothing with {kind}; it goes with {' or '.join(kinds)}")


def _check_temperature(value: float, samples: int) -> None:
    if not 0 < value < math.inf:
        raise UsageError(f"--temperature {value:g}: must be above 0 and finite; --samples 1 is greedy")
    if samples == 1:
        raise UsageError("--temperature means nothing with --samples 1, which is greedy; ask for more")
