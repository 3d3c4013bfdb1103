"""report.html of a run: one file, pictures inlined, no script and no network. It opens from the disk.

Whatever a model or a curriculum wrote is escaped; nothing in the page can run.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from kolmocli.monitor.events import describe
from kolmocli.monitor.figures import Run
from kolmocli.monitor.plots import pictures, read_run
from kolmocli.monitor.words import compact, duration, number, percent, printable, rate
from kolmocli.monitor.writer import write_atomically

_STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; color: #222; background: #fff; max-width: 1040px;
       margin: 2.5rem auto; padding: 0 1.2rem; }
h1 { font-size: 1.7rem; margin: 0; } h2 { font-size: 1.15rem; margin: 2.4rem 0 .6rem; }
p.state { color: #666; margin: .2rem 0 1.4rem; }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: .8rem; margin: 0; }
dl div { border: 1px solid #e2e2e2; border-radius: 8px; padding: .6rem .8rem; }
dt { color: #666; font-size: .82rem; } dd { margin: 0; font-size: 1.3rem; font-weight: 600; }
img { width: 100%; height: auto; border: 1px solid #eee; border-radius: 8px; margin: .5rem 0; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: .25rem .9rem .25rem 0; border-bottom: 1px solid #eee; }
th { color: #666; font-weight: 500; font-size: .85rem; } th:first-child, td:first-child { text-align: left; }
pre { background: #f6f6f6; border-radius: 8px; padding: .8rem; overflow-x: auto; font-size: .85rem; }
ul { padding-left: 1.2rem; } li { margin: .1rem 0; }
"""
_ALT = {
    "compression_rate": "Compression rate over the steps",
    "accuracy": "Held-out accuracy before, during and after",
    "reward": "Mean reward over the steps",
    "loss": "Loss of the warm start and of REINFORCE",
    "pass_rate": "Pass rate of each family over the steps, with the target band",
    "bits": "Bits per sample against pass rate, and bits gathered",
}
_MOST_EVENTS = 200


def write_report(run_dir: Path) -> Path:
    """Write `report.html` into the run folder and return its path. Raises UsageError when there is no such folder."""
    run_dir = Path(run_dir)
    run = read_run(run_dir)
    config = run_dir / "config.yaml"
    text = config.read_text(encoding="utf-8") if config.exists() else ""
    path = run_dir / "report.html"
    write_atomically(path, render(run_dir.resolve().name, run, pictures(run), text))
    return path


def render(name: str, run: Run, images: Mapping[str, bytes], config: str = "") -> str:
    """The page as text. `images` are PNGs by the name of their figure."""
    parts = [
        f"<h1>{_safe(name)}</h1>",
        f'<p class="state">{_safe(_state(run))}</p>',
        _cards(run),
        *_section("Curves", _images(images)),
        *_section("Families, last step", _families(run)),
        *_section("Held-out evaluation", _evaluations(run)),
        *_section("Best programs, newest first", _programs(run)),
        *_section("Events, newest first", _events(run)),
        *_section("Configuration", f"<pre>{escape(config)}</pre>" if config else ""),
    ]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; img-src data:; '
        "style-src 'unsafe-inline'\">\n"
        f"<title>{_safe(name)} – kolmo</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(parts)
        + "\n</body>\n</html>\n"
    )


def _section(title: str, body: str) -> list[str]:
    return [f"<h2>{title}</h2>", body] if body else []


def _state(run: Run) -> str:
    done = f"{len(run.rl)} REINFORCE steps"
    total = number(run.summary.get("seconds"), "total")
    return f"{done} in {duration(total)}" if total is not None else f"{done} so far"


def _cards(run: Run) -> str:
    last = run.rl[-1] if run.rl else {}
    evaluated = run.evaluations
    accuracy = " → ".join(percent(number(e, "accuracy")) for e in evaluated[:: max(1, len(evaluated) - 1)])
    sandbox = run.summary.get("sandbox") or {}
    cards = {
        "held-out accuracy": accuracy or "–",
        "steps in the target band": percent(number(last, "in_band")),
        "bits per rollout": rate(number(run.summary.get("bits"), "per_rollout")),
        "bits gathered": compact(number(last, "bits_total")),
        "compression, last step": rate(number(last, "compression_rate")),
        "sandbox": str(sandbox.get("backend") or "–"),
        "programs run": compact(number(sandbox, "executed")),
        "sandbox faults": compact(sum(number(r, "infra") or 0 for r in run.rl)),
    }
    return "<dl>" + "".join(f"<div><dt>{k}</dt><dd>{_safe(v)}</dd></div>" for k, v in cards.items()) + "</dl>"


def _images(images: Mapping[str, bytes]) -> str:
    return "\n".join(
        f'<img alt="{escape(_ALT.get(name, name))}" src="data:image/png;base64,{base64.b64encode(image).decode()}">'
        for name, image in images.items()
    )


def _families(run: Run) -> str:
    buckets: Mapping[str, Any] = (run.rl[-1].get("buckets") or {}) if run.rl else {}
    rows = [
        (
            name,
            f"{rate(number(b, 'level'))} / {compact(number(b, 'top'))}",
            rate(number(b, "pass_rate")),
            " – ".join(map(rate, b.get("ci") or [])),
            rate(number(b, "signal")),
            percent(number(b, "weight")),
            percent(number(b, "dead")),
            compact(number(b, "shortest")),
            str(b.get("state") or ""),
        )
        for name, b in buckets.items()
    ]
    head = ("family", "level", "pass rate", "90 %", "signal", "weight", "dead groups", "shortest, bits", "state")
    return _table(head, rows)


def _evaluations(run: Run) -> str:
    rows = [
        (
            f"{e.get('name') or ''} (step {e['step']})",
            percent(number(e, "accuracy")),
            " – ".join(map(percent, e.get("accuracy_ci") or [])),
            rate(number(e, "compression_rate")),
            compact(number(e, "n")),
        )
        for e in run.evaluations
    ]
    return _table(("evaluation", "accuracy", "95 %", "size ÷ raw", "tasks"), rows)


def _programs(run: Run) -> str:
    best = [e for e in run.events if e.get("kind") == "best"][::-1]
    return "\n".join(
        f"<p>step {e.get('step', 0)}, {_safe(e.get('family', ''))}: {compact(number(e, 'bits'))} bits, literal "
        f"{compact(number(e, 'literal_bits'))}</p>\n<pre># {_safe(e.get('target', ''))}\n{_lines(e.get('program', ''))}</pre>"
        for e in best[:5]
    )


def _events(run: Run) -> str:
    told = [describe(e) for e in run.events if e.get("kind") != "best"][::-1][:_MOST_EVENTS]
    return "<ul>" + "".join(f"<li>{escape(text)}</li>" for text in told) + "</ul>" if told else ""


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    body = "".join("<tr>" + "".join(f"<td>{_safe(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    top = "".join(f"<th>{cell}</th>" for cell in head)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>" if body else ""


def _safe(text: object) -> str:
    return escape(printable(str(text)))


def _lines(program: object) -> str:
    return "\n".join(_safe(line) for line in str(program).split("\n"))
