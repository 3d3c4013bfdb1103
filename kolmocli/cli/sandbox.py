"""kolmo sandbox: build the image, check what is enforced, run files, serve, attack, measure, remove what was left behind."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from kolmocli.cli.attack import attack
from kolmocli.cli.output import print_json, print_line, remark
from kolmocli.console import printable
from kolmocli.errors import CheckError, UsageError
from kolmocli.files import require_regular

if TYPE_CHECKING:
    from kolmocli.sandbox import Job, Verdict
    from kolmocli.sandbox.base import Language

app = typer.Typer(
    no_args_is_help=True, help="The place where programs run: disposable containers, or worker processes."
)


SandboxOption = Annotated[
    str,
    typer.Option(
        "--sandbox",
        metavar="NAME",
        help="docker, embedded, auto (docker when an engine answers), or http://host:port of kolmo sandbox serve.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]
WorkersOption = Annotated[
    int | None,
    typer.Option("--workers", min=1, help="Containers or processes; default: one for each CPU, two at least."),
]
RuntimeOption = Annotated[
    str | None, typer.Option("--runtime", help="Another OCI runtime of the engine, such as runsc.")
]
WithOption = Annotated[
    list[str] | None,
    typer.Option("--with", help="More for programs: numpy, or a language beyond Python, cpp or node. Repeatable."),
]
_SUFFIXES: dict[str, Language] = {".cpp": "cpp", ".cc": "cpp", ".cxx": "cpp", ".js": "javascript"}


_MOST_MB = 68
"""More does not go into one frame."""


@app.command()
def build(
    base_image: Annotated[
        str | None,
        typer.Option(
            "--base-image", help="Image with Python 3.11 or newer; default: a local base, else python:3.12-slim."
        ),
    ] = None,
    tag: Annotated[
        str | None, typer.Option("--tag", help="Tag; default: kolmo-sandbox:<digest of the sources>.")
    ] = None,
    packages: WithOption = None,
    as_json: JsonOption = False,
) -> None:
    """Build the image in which programs run; cpp and node are in an image of their own."""
    from kolmocli.sandbox.docker.image import build as build_image, build_native
    from kolmocli.sandbox.docker.packages import split

    python, toolchains = split(packages or ())
    if python and toolchains and (base_image or tag):
        raise UsageError(
            f"--with {python[0]} and --with {toolchains[0]} make two images; with --base-image or --tag build one at a time"
        )
    built: dict[str, str] = {}
    if toolchains:
        built["native_image"] = build_native(toolchains, base_image, tag, log=remark)
    if python or not toolchains:
        built["image"] = build_image(base_image, tag, log=remark, packages=python)
    if as_json:
        print_json(built)
    else:
        for image in built.values():
            print_line(image)


@app.command()
def check(
    backend: SandboxOption = "auto",
    runtime: RuntimeOption = None,
    packages: WithOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say what is really enforced, as found from inside. Exit 3 when a promise does not hold."""
    from kolmocli.sandbox import open_sandbox

    with open_sandbox(backend, workers=1, runtime=runtime, packages=packages or (), warn=remark) as sandbox:
        findings, name = sandbox.check(), sandbox.health().backend
    if as_json:
        print_json({"backend": name, "ok": all(f["ok"] for f in findings), "promises": findings})
    else:
        print_line(f"sandbox: {name}")
        width = max(len(f["promise"]) for f in findings)
        for f in findings:
            print_line(
                f"{'ok ' if f['ok'] else 'NO '} {f['promise']:{width}}  {f['found']}  (promised: {f['expected']})"
            )
    broken = [f["promise"] for f in findings if not f["ok"]]
    if broken:
        raise CheckError(f"{len(broken)} promises do not hold: {', '.join(broken)}")


@app.command()
def run(
    files: Annotated[list[Path], typer.Argument(help="Programs, one per file; - is stdin.")],
    language: Annotated[
        Literal["dsl", "python"], typer.Option(help="dsl has the 24 functions in scope; python starts empty.")
    ] = "dsl",
    backend: SandboxOption = "auto",
    workers: WorkersOption = None,
    runtime: RuntimeOption = None,
    cpu_ms: Annotated[int, typer.Option(min=1, help="CPU time of one program.")] = 1_000,
    wall_ms: Annotated[int, typer.Option(min=1, help="Wall time of one program.")] = 3_000,
    memory_mb: Annotated[int, typer.Option(min=16, help="Memory of one program, in MiB.")] = 128,
    packages: WithOption = None,
    stdin: Annotated[
        Path | None, typer.Option("--stdin", help="Text that programs in C++ and JavaScript read; - is stdin.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Run files and print status, value and times of each, in order. Exit 0 whatever the programs did.

    .cpp, .cc and .cxx are C++, .js is JavaScript, and the value is what they print; all else is in --language.
    """
    from kolmocli.sandbox import Limits, open_sandbox
    from kolmocli.sandbox.base import packages_for

    jobs = _jobs(files, language, stdin)
    packages = packages_for((job.language for job in jobs), packages or ())
    limits = Limits(cpu_ms=cpu_ms, wall_ms=wall_ms, memory_mb=memory_mb)
    with open_sandbox(
        backend, limits=limits, workers=workers, runtime=runtime, packages=packages, warn=remark
    ) as sandbox:
        verdicts = [_shown(verdict) for verdict in sandbox.run(jobs)]
        name = sandbox.health().backend
    results = [
        {
            "file": str(path),
            "status": v.status.value,
            "value": v.value,
            "cpu_ms": v.cpu_ms,
            "wall_ms": v.wall_ms,
            "detail": v.detail,
            "trace": v.trace,
        }
        for path, v in zip(files, verdicts, strict=True)
    ]
    if as_json:
        print_json({"backend": name, "results": results})
        return
    for path, v in zip(files, verdicts, strict=True):
        value = v.value if isinstance(v.value, str) else " ".join(map(str, v.value or ()))
        value = printable(" ".join(value.split()))
        print_line(f"{path}: {v.status.value} {v.cpu_ms:.1f} ms {v.detail or value}".rstrip())


def _jobs(files: Sequence[Path], language: Literal["dsl", "python"], stdin: Path | None) -> list[Job]:
    from kolmocli.sandbox import Job
    from kolmocli.sandbox.base import NATIVE

    spoken = [_SUFFIXES.get(path.suffix.lower(), language) for path in files]
    if stdin is not None and not NATIVE.keys() & spoken:
        raise UsageError(
            "--stdin means nothing without a program in C++ or JavaScript: Python's is run by statements here"
        )
    if stdin is not None and str(stdin) == "-" and Path("-") in files:
        raise UsageError("--stdin - and the program - are both read from stdin; name a file for one of them")
    given = "" if stdin is None else _read(stdin)
    return [
        Job(_read(path), name, inputs=(given,) if name in NATIVE else ())
        for path, name in zip(files, spoken, strict=True)
    ]


def _shown(verdict: Verdict) -> Verdict:
    """A script that an exception ended is shown as a failure: it has one input."""
    from kolmocli.sandbox import Raised, Status

    if not isinstance(verdict.value, Raised):
        return verdict
    return replace(verdict, status=Status.RUNTIME, trace=(), detail=verdict.value.error)


def _read(path: Path) -> str:
    """Bytes that are not UTF-8 stay in the text as surrogates: the sandbox then refuses the program, not this command."""
    if str(path) == "-":
        return sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
    require_regular(path, piped=True)
    try:
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error


@app.command()
def serve(
    host: Annotated[
        str, typer.Option("--host", help="Where to listen; beyond this machine only with --token-file.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65_535, help="0: any that is free.")] = 8080,
    token_file: Annotated[
        Path | None,
        typer.Option("--token-file", help="A file with the token that clients send as Authorization: Bearer TOKEN."),
    ] = None,
    backend: Annotated[
        Literal["auto", "docker", "embedded"],
        typer.Option("--backend", help="docker, embedded, or auto: docker when an engine answers."),
    ] = "auto",
    workers: WorkersOption = None,
    runtime: RuntimeOption = None,
    packages: WithOption = None,
    cpu_ms: Annotated[int, typer.Option(min=1, help="CPU time that a job may ask for.")] = 10_000,
    wall_ms: Annotated[int, typer.Option(min=1, help="Wall time that a job may ask for.")] = 30_000,
    memory_mb: Annotated[int, typer.Option(min=16, help="Memory that a job may ask for, in MiB.")] = 1_024,
    input_mb: Annotated[
        int, typer.Option(min=1, max=_MOST_MB, help="Longest program with its calls or inputs, in MiB.")
    ] = 1,
    output_mb: Annotated[int, typer.Option(min=1, max=_MOST_MB, help="Longest output of a program, in MiB.")] = 1,
    queue: Annotated[
        int, typer.Option(min=1, help="Jobs held at once; beyond that clients are told to retry.")
    ] = 2_048,
    drain: Annotated[float, typer.Option(min=0, help="Seconds that SIGTERM waits for what was accepted.")] = 60.0,
) -> None:
    """Let others run programs here, over HTTP: POST /run_code as SandboxFusion has it, and POST /v1/jobs.

    Prints its address when it is ready. SIGTERM and Ctrl-C finish what was accepted, refuse what comes, and exit with 0.
    """
    from kolmocli.sandbox import Limits
    from kolmocli.sandbox.service.server import MOST, Settings, serve as serve_pool

    most = Limits(cpu_ms, wall_ms, memory_mb, MOST.max_items, output_mb << 20, input_mb << 20)
    settings = Settings(host, port, token_file, backend, workers, runtime, tuple(packages or ()), most, queue, drain)
    serve_pool(settings, ready=print_line, warn=remark)


app.command()(attack)


@app.command()
def bench(
    backend: SandboxOption = "auto",
    programs: Annotated[int, typer.Option(min=100, help="Programs in the throughput part.")] = 4_000,
    workers: WorkersOption = None,
    runtime: RuntimeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measure programs per second, latency, a hostile mix, and `docker run` for comparison."""
    from kolmocli.sandbox import open_sandbox
    from kolmocli.sandbox.bench import measure

    with open_sandbox(backend, workers=workers, runtime=runtime, warn=remark) as sandbox:
        report = measure(sandbox, programs, remark)
    if as_json:
        print_json(report)
    else:
        for key, value in report.items():
            print_line(f"{key:28} {value:,.2f}" if isinstance(value, float) else f"{key:28} {value}")


@app.command()
def sweep(as_json: JsonOption = False) -> None:
    """Remove containers whose owner is gone."""
    from kolmocli.sandbox.docker.image import no_engine, why_no_engine
    from kolmocli.sandbox.docker.sweeper import sweep as sweep_containers

    if reason := why_no_engine():
        raise no_engine(reason)
    swept = sweep_containers()
    if as_json:
        print_json({"removed": swept.removed, "kept": swept.kept})
    else:
        print_line(f"removed {swept.removed}, kept {swept.kept}")
