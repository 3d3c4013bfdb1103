"""The result of `kolmo train`, and the plan of `--dry-run`, for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kolmocli.cli.format import UNKNOWN, percent, rounded
from kolmocli.console import printable
from kolmocli.curriculum.room import room_line

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from kolmocli.config import Config


def summary_panel(summary: Mapping[str, Any]) -> RenderableType:
    """The numbers of `summary.json` that answer: did it learn, was it held at the target, what did it cost?"""
    from rich.panel import Panel

    rate, bits, sandbox = summary["pass_rate"], summary["bits"], summary["sandbox"]
    evaluations = summary["eval"]
    rows = {
        "held-out accuracy": _accuracy(evaluations["before"], evaluations["after"]),
        **_leniently(evaluations["before"], evaluations["after"]),
        "pass rate": _held(rate),
        **({"ladders": ends} if (ends := _ends(summary)) else {}),
        **({"room": room_line(summary["room"])} if summary["room"]["uniform"] is not None else {}),
        "information": f"{rounded(bits['per_rollout'])} bits per rollout, {rounded(bits['total'])} bits in all",
        "programs": f"{sandbox['executed']:,} run ({sandbox['backend']}), {sandbox['infra']} lost by the sandbox"
        if sandbox["backend"] != "none"
        else "none: answers in words",
        "time": f"{summary['seconds']['total']:.0f} s for {summary['steps']} steps, {summary['rollouts']:,} rollouts",
        "checkpoint": summary["checkpoint"] or "none yet",
    }
    return Panel(_two_columns(rows), title="result", title_align="left", expand=False)


def plan_text(planned: Mapping[str, Any], config: Config) -> str:
    """Plan of a run as comments above the resolved configuration: all of it a curriculum file."""
    from kolmocli.config.file import dump_config

    rows = _flat(planned)
    width = max(len(name) for name, _ in rows)
    return "".join(f"# {name:{width}}  {value}\n" for name, value in rows) + dump_config(config)


def _held(rate: Mapping[str, Any]) -> str:
    text = f"mean {percent(rate['mean'])}, within {percent(rate['target'])} ± 10 for {percent(rate['in_band'])} of the steps"
    if rate["controlled"] in (None, 1.0):
        return text
    return (
        f"{text}; for {percent(rate['in_band_controlled'])} of the steps with something to control "
        f"({percent(rate['controlled'])} of all)"
    )


def _ends(summary: Mapping[str, Any]) -> str | None:
    """Families at an end of their ladder, with advice."""
    ends = summary["ends"] or {}
    said = []
    for state, remedy in (("mastered", "add levels"), ("out of reach", "add easier levels or a warm start")):
        if names := [printable(name) for name, at in ends.items() if at == state]:
            said.append(f"{state}: {', '.join(names)}; {remedy}")
    return ". ".join(said) or None


def _accuracy(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> str:
    if before is None or after is None:
        return "not measured yet" if before is None else f"{percent(before['accuracy'])} before RL, not measured since"
    said = f"{percent(before['accuracy'])} before RL, {percent(after['accuracy'])} after"
    if after["gain"] is None:  # the sandbox lost all tasks
        return said
    low, high = after["gain_ci"]
    return f"{said} ({100 * after['gain']:+.1f} points, 95 % interval {100 * low:+.1f} to {100 * high:+.1f})"


def _leniently(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> dict[str, str]:
    """For answers in words: the shares that are right in any form, and that have the form asked for."""
    if before is None or "accuracy_lenient" not in before:
        return {}
    reports = {"before RL": before} if after is None else {"before RL": before, "after": after}
    names = {"in any form": "accuracy_lenient", "with an answer in place": "format_rate"}
    return {
        row: ", ".join(f"{percent(r[key])} {when} ({_interval(r, key)})" for when, r in reports.items())
        for row, key in names.items()
    }


def _interval(report: Mapping[str, Any], key: str) -> str:
    low, high = report["intervals"][key] or (None, None)
    return f"{percent(low)} to {percent(high)}"


def _two_columns(rows: Mapping[str, str]) -> Table:
    from rich.table import Column, Table
    from rich.text import Text

    table = Table.grid(Column(), Column(overflow="fold"), padding=(0, 2))
    for name, value in rows.items():
        table.add_row(Text(name, style="dim"), Text(value))
    return table


def _flat(facts: Mapping[str, Any], above: str = "") -> list[tuple[str, str]]:
    """Nested facts as dotted names with values; a list has a row per item."""
    rows: list[tuple[str, str]] = []
    for name, value in facts.items():
        if isinstance(value, Mapping):
            rows += _flat(value, f"{above}{name}.")
        elif isinstance(value, list):
            rows += [(above + name, str(item)) for item in value]
        else:
            rows.append((above + name, UNKNOWN if value is None else str(value)))
    return rows
