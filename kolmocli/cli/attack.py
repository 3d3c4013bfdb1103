"""kolmo sandbox attack: hostile programs against a server, a sandbox of kolmo, or a grader; what fell, by group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from kolmocli.cli.output import print_json, remark, show
from kolmocli.errors import CheckError, EnvironmentMissing, UsageError

if TYPE_CHECKING:
    from kolmocli.sandbox.attack.campaign import Finding, Target


def attack(
    url: Annotated[
        str | None, typer.Option("--url", metavar="URL", help="A server with SandboxFusion's POST /run_code.")
    ] = None,
    backend: Annotated[
        Literal["docker", "embedded"] | None, typer.Option("--backend", help="A sandbox of kolmo.")
    ] = None,
    python: Annotated[
        str | None,
        typer.Option(
            "--python",
            metavar="MODULE:FUNCTION",
            help="A grader: function(program, tests) says whether it passed. A module, or a file.py; runs in containers.",
        ),
    ] = None,
    answers: Annotated[
        bool, typer.Option("--answers", help="The function of --python grades answers: function(answer, right answer).")
    ] = False,
    packages: Annotated[
        list[str] | None,
        typer.Option("--packages", help="What the grader imports: a folder, or a package of pip. Repeatable."),
    ] = None,
    token_file: Annotated[
        Path | None, typer.Option("--token-file", help="A file with the token of the server.")
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="NAME", help="Only this hostile program, or this group. Repeatable."),
    ] = None,
    timeout: Annotated[float, typer.Option(min=1, max=600, help="Seconds that a target has for one program.")] = 60.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")] = False,
) -> None:
    """Attack a sandbox or a grader. Exit 3 where something fell, 4 where the target does not answer.

    Name one target: --url, --backend or --python. Honest programs go first: a target that refuses them all is useless.
    """
    from kolmocli.sandbox.attack.campaign import attack as run, report

    if sum(each is not None for each in (url, backend, python)) != 1:
        raise UsageError("kolmo sandbox attack: name one target: --url, --backend or --python")
    if python is None and (answers or packages):
        raise UsageError("--answers and --packages are for a grader: --python module:function")
    if url is None and token_file is not None:
        raise UsageError("--token-file is for a server: --url")
    with _target(url, backend, python, answers, packages or (), token_file, timeout) as target:
        findings = run(target, remark, only or ())
    if as_json:
        print_json(report(target, findings))
    else:
        _print(target, findings)
    _conclude(target, findings)


@contextmanager
def _target(
    url: str | None,
    backend: str | None,
    python: str | None,
    answers: bool,
    packages: Sequence[str],
    token_file: Path | None,
    timeout: float,
) -> Iterator[Target]:
    if url is not None:
        from kolmocli.sandbox.attack.url import Url
        from kolmocli.sandbox.service.access import environment_token, read_token

        yield Url(url, timeout, read_token(token_file) if token_file else environment_token())
    elif python is not None:
        from kolmocli.sandbox.attack.grader import Grader

        with Grader(python, packages, timeout, "answers" if answers else "grader") as grader:
            yield grader
    elif backend is not None:
        from kolmocli.sandbox import open_sandbox
        from kolmocli.sandbox.attack.backend import LIMITS, Backend

        with open_sandbox(backend, limits=LIMITS, workers=1, warn=remark) as sandbox:
            yield Backend(sandbox)


def _print(target: Target, findings: Sequence[Finding]) -> None:
    from rich.table import Column, Table

    from kolmocli.sandbox.attack.campaign import report

    said = report(target, findings)
    table = Table("group", *(Column(name, justify="right") for name in ("held", "fell", "faults")), title=target.name)
    for group, counts in said["groups"].items():
        table.add_row(group, *(str(counts[name]) for name in ("held", "fell", "fault")))
    show(table)
    words = (Column(name, overflow="fold") for name in ("program", "what it does", "what was seen"))
    details = Table("outcome", "group", *words)
    for each in findings:
        if each.outcome in ("fell", "fault", "refused"):
            details.add_row(each.outcome, each.probe.group, each.probe.name, each.probe.why, each.detail[:80])
    if details.row_count:
        show(details)
    honest = said["honest"]
    show(f"honest programs: {honest['passed']} of {sum(honest.values())} passed")


def _conclude(target: Target, findings: Sequence[Finding]) -> None:
    fell = [each for each in findings if each.outcome == "fell"]
    if fell:
        names = ", ".join(each.probe.name for each in fell[:5])
        more = f" and {len(fell) - 5} more" if len(fell) > 5 else ""
        raise CheckError(f"{target.name}: {len(fell)} fell: {names}{more}")
    if refused := [each for each in findings if each.outcome == "refused"]:
        names = ", ".join(each.probe.name for each in refused)
        raise CheckError(f"{target.name}: refuses honest programs: {names}")
    if faults := [each for each in findings if each.outcome == "fault"]:
        raise EnvironmentMissing(f"{target.name}: {len(faults)} got no answer: {faults[0].detail}")
