"""An evaluation report as a table for people, readable at 80 columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kolmocli.cli.format import UNKNOWN, decimals, mostly_masked, percent

if TYPE_CHECKING:
    from rich.console import Group, RenderableType
    from rich.table import Table
    from rich.text import Text

_BUCKETS_PER_ROW = 2
_USUAL_KS = (10, 100)
_BUCKET = 16
"""Characters of the name of a bucket."""


def render(report: Mapping[str, Any]) -> Group:
    """The report as small tables: what passed, what it saved, where it passed, and what else was asked for.

    A number that does not exist is shown as "–".
    """
    from rich.console import Group
    from rich.text import Text

    unjudged = mostly_masked(report)
    parts: list[RenderableType] = [Text(unjudged, style="bold")] if unjudged else []
    parts += [_headline(report), *_more(report)]
    if report["raw_bits"]:
        parts += [Text(), _rates(report)]
        if report["baselines_missing"]:
            parts.append(Text(f"not installed: {', '.join(report['baselines_missing'])}", style="dim"))
    if len(report.get("modalities", ())) > 1:
        parts += [Text(), _modalities(report["modalities"])]
    families = report.get("families", {})
    if len(families) > 1:
        parts += [Text(), _families(families)]
    if report["buckets"] and len(report["buckets"]) != len(families):
        parts += [Text(), _buckets(report["buckets"])]
    if "published" in report:
        parts += [Text(), _published(report["published"])]
    return Group(*parts)


def _grid() -> Table:
    from rich.table import Table

    grid = Table.grid(padding=(0, 2))
    for _ in range(3):
        grid.add_column(style="dim", no_wrap=True)
        grid.add_column(justify="right", no_wrap=True)
    return grid


def _headline(report: Mapping[str, Any]) -> Table:
    from rich.text import Text

    low, high = report["accuracy_ci"]
    grid = _grid()
    known = report["accuracy"] is not None
    spread = f"  ({100 * low:.1f}–{100 * high:.1f})" if known else ""
    accuracy = Text.assemble((percent(report["accuracy"]), "bold"), (spread, "dim"))
    grid.add_row(
        "accuracy",
        accuracy,
        "executable",
        percent(report["executable"]),
        "format",
        percent(report["format_rate"]),
    )
    tasks = str(report["n"]) + (f"  (+{report['masked']} lost)" if report["masked"] else "")
    grid.add_row("tasks", tasks, "copies", percent(report["copy_rate"]), "reward", decimals(report["average_reward"]))
    return grid


def _more(report: Mapping[str, Any]) -> list[Text]:
    """A line for each kind of number that not every evaluation has."""
    from rich.text import Text

    rows = {}
    if "accuracy_lenient" in report:
        rows["any form"] = _spread(report, "accuracy_lenient")
        rows["tagged"] = _spread(report, "format_rate")
    if report["raw_bits"]:
        prefixes = (f"@{k} {percent(value)}" for k, value in report["prefix_accuracy"].items())
        rows["first items right"] = "  ".join(prefixes)
    if "pass_at_k" in report:
        rows["one of k passes"] = "  ".join(f"@{k} {percent(value)}" for k, value in report["pass_at_k"].items())
    if "continuation_rate" in report:
        rows["continuations"] = f"{percent(report['continuation_rate'])} of {report['continuation_n']} predicted"
    if report["intervals"]["compression_rate"] is not None:
        low, high = report["intervals"]["compression_rate"]
        rows["rate, 95 %"] = f"{report['compression_rate']:.3f}  ({low:.3f}–{high:.3f})"
    others = {"as an archive": report.get("rate_archive"), "uniform prior": report.get("rate_uniform_prior")}
    known = [f"{name} {decimals(value)}" for name, value in others.items() if value is not None]
    if known:
        rows["rate"] = "  ".join(known)
    if report.get("cut_off"):
        rows["cut off"] = f"{report['cut_off']} answers ran out of tokens"
    if report.get("shared"):
        rows["left out"] = f"{report['shared']} records that the run was trained on"
    if report.get("unanswered") or report.get("unknown"):
        rows["not joined"] = (
            f"{report['unanswered']} tasks without a prediction, {report['unknown']} predictions without a task"
        )
    return [Text.assemble((f"{name:<19}", "dim"), value) for name, value in rows.items()]


def _spread(report: Mapping[str, Any], name: str) -> str:
    """A share with its interval."""
    if report[name] is None:
        return percent(None)
    low, high = report["intervals"][name]
    return f"{percent(report[name])}  ({100 * low:.1f}–{100 * high:.1f})"


def _families(families: Mapping[str, Mapping[str, Any]]) -> Table:
    """Accuracy of each family. For a file also pass@k, for the usual k where there are enough samples, else for the first few."""
    from rich import box
    from rich.table import Table

    chances = {name: family.get("pass_at_k", {}) for name, family in families.items()}
    known = sorted({int(k) for of_family in chances.values() for k in of_family} - {1})
    ks = [k for k in known if k in _USUAL_KS] or known[:3]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("family", no_wrap=True, overflow="ellipsis", max_width=24)
    for name in ("pass@1" if any(chances.values()) else "accuracy", "95 %", "n", *(f"pass@{k}" for k in ks)):
        table.add_column(name, justify="right", no_wrap=True, style="dim" if name in ("95 %", "n") else "")
    for name, family in families.items():
        low, high = family["accuracy_ci"]
        more = (percent(chances[name].get(str(k))) for k in ks)
        table.add_row(name, percent(family["accuracy"]), f"{100 * low:.0f}–{100 * high:.0f}", str(family["n"]), *more)
    return table


def _modalities(modalities: Mapping[str, Mapping[str, Any]]) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("modality", no_wrap=True)
    for name in ("accuracy", "95 %", "n", "rate", "95 %"):
        table.add_column(name, justify="right", no_wrap=True, style="dim" if name in ("95 %", "n") else "")
    for name, m in modalities.items():
        spread = m["compression_rate_ci"]
        accuracy = f"{100 * m['ci'][0]:.0f}–{100 * m['ci'][1]:.0f}"
        rate = UNKNOWN if spread is None else f"{spread[0]:.3f}–{spread[1]:.3f}"
        table.add_row(name, percent(m["accuracy"]), accuracy, str(m["n"]), decimals(m["compression_rate"]), rate)
    return table


def _published(published: Mapping[str, Any]) -> RenderableType:
    """The numbers by the published formulas, and what is wrong with these."""
    from rich.console import Group
    from rich.text import Text

    lines = [Text("by the published formulas of the KoLMogorov Test")]
    for name in ("natural", "synthetic"):
        numbers = published[name]
        if numbers is None:
            continue
        shown = [f"accuracy {percent(numbers['accuracy'])}", f"rate {decimals(numbers['compression_rate'])}"]
        if "precision" in numbers:
            shown += [f"executable {percent(numbers['executable'])}", f"precision {decimals(numbers['precision'])}"]
        else:
            shown.append(f"÷ 1,000,105 bytes {numbers['compression_rate_of_published_size']:.5f}")
        lines.append(Text.assemble((f"  {name:<17}", "dim"), "  ".join(shown)))
    lines += [Text(f"  flaw: {flaw}", style="dim") for flaw in published["flaws"]]
    return Group(*lines)


def _rates(report: Mapping[str, Any]) -> Table:
    """Compressed size ÷ raw size, of programs and of the codecs; the smallest of each column is bold."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("size ÷ raw", no_wrap=True)
    columns = {"programs": {"solid": report["compression_rate"], "per_block": None}, **report["baselines"]}
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True)
    for kind, label in (("solid", "all as one"), ("per_block", "one by one")):
        values = [column[kind] for column in columns.values()]
        least = min((v for v in values if v is not None), default=None)
        table.add_row(label, *(Text(decimals(v), style="bold" if v is not None and v == least else "") for v in values))
    ratios = {"gzip": report["precision"], "xz": report["precision_xz"]}
    if any(value is not None for value in ratios.values()):
        cells = [decimals(ratios[name]) if name in ratios else "" for name in report["baselines"]]
        table.add_row("precision", "", *cells, style="dim")
    return table


def _buckets(buckets: Mapping[str, Mapping[str, Any]]) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    columns = min(_BUCKETS_PER_ROW, len(buckets))
    for _ in range(columns):
        table.add_column("bucket", no_wrap=True)
        table.add_column("accuracy", justify="right", no_wrap=True)
        table.add_column("95 %", justify="right", no_wrap=True, style="dim")
        table.add_column("n", justify="right", no_wrap=True, style="dim")
    cells = [
        (_shortened(name), percent(b["accuracy"]), f"{100 * b['ci'][0]:.0f}–{100 * b['ci'][1]:.0f}", str(b["n"]))
        for name, b in buckets.items()
    ]
    # Down the columns, so that the levels of a family stay together.
    rows = -(-len(cells) // columns)
    for i in range(rows):
        table.add_row(*(text for j in range(i, len(cells), rows) for text in cells[j]))
    return table


def _shortened(bucket: str) -> str:
    """With its level, which tells the rows of a family apart."""
    family, _, level = bucket.rpartition("/")
    room = _BUCKET - len(level) - 1
    return bucket if len(bucket) <= _BUCKET else f"{family[: max(0, room - 1)]}…/{level}"
