"""What report.html says of a run, from its files alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from html import escape
from typing import Any

from kolmocli.curriculum.information import per_gflop
from kolmocli.monitor.events import SAMPLES, describe
from kolmocli.monitor.page import cards, image, page, program, safe, section, table
from kolmocli.monitor.run import Record, Run
from kolmocli.monitor.words import compact, decimal, duration, number, percent, rate

_ALT = {
    "accuracy": "Held-out accuracy before, during and after",
    "compression_rate": "Compression rate over the steps",
    "reward": "Mean reward over the steps",
    "loss": "Loss of the warm start and of REINFORCE",
    "pass_rate": "Pass rate of each family over the steps, with the target band",
    "bucket_map": "Level and pass rate of every family over the steps, as a map",
    "bits": "Bits per sample against pass rate, on a linear and on a logarithmic axis",
    "bits_per_gflop": "Bits per GFLOP, and bits gathered, over the computation",
    "gradient_noise": "Length of a group's gradient against its pass rate, and the noise scale over the steps",
    "sandbox": "What became of the programs, and programs per second",
}
_CONTROL = ("pass_rate", "bucket_map")
_INFORMATION = ("bits", "bits_per_gflop", "gradient_noise")
_SANDBOX = ("sandbox",)
_MOST_EVENTS = 200
_MOST_PROGRAMS = 5


def render(run: Run, images: Mapping[str, bytes], config: str = "") -> str:
    """The page as text. `images` are PNGs by the name of their figure; unknown names stand with the curves."""

    def pictures(*names: str) -> str:
        return "\n".join(image(images[name], _ALT.get(name, name)) for name in names if name in images)

    curves = [name for name in images if name not in (*_CONTROL, *_INFORMATION, *_SANDBOX)]
    parts = [
        _cards(run),
        *section("Learning", pictures(*curves)),
        *section("Held-out evaluation", _evaluations(run)),
        *section("Families, last step", _families(run), pictures(*_CONTROL)),
        *section("Information", _information(run), pictures(*_INFORMATION)),
        *section("Sandbox", _verdicts(run), pictures(*_SANDBOX)),
        *section("Best programs, newest first", _best(run)),
        *section("Failing programs, newest first", _failing(run)),
        *section("Events, newest first", _events(run)),
        *section(
            "Configuration",
            f"<details><summary>config.yaml</summary><pre>{escape(config)}</pre></details>" if config else "",
        ),
    ]
    return page(run.name, _state(run), parts)


def _state(run: Run) -> str:
    done = f"{len(run.rl)} REINFORCE steps"
    total = number(run.summary.get("seconds"), "total")
    return f"{done} in {duration(total)}" if total is not None else f"{done} so far"


def _cards(run: Run) -> str:
    last = run.rl[-1] if run.rl else {}
    evaluated = run.evaluations
    accuracy = " → ".join(percent(number(e, "accuracy")) for e in evaluated[:: max(1, len(evaluated) - 1)])
    box = run.summary.get("sandbox") or {}
    return cards(
        {
            "held-out accuracy": accuracy or "–",
            "steps in the target band": percent(number(last, "in_band")),
            "bits per rollout": rate(number(run.summary.get("bits"), "per_rollout")),
            "bits gathered": compact(number(last, "bits_total")),
            "compression, last step": rate(number(last, "compression_rate")),
            "sandbox": str(box.get("backend") or "–"),
            "programs run": compact(number(box, "executed")),
            "sandbox faults": compact(_sum(run.rl, "infra")),
        }
    )


def _families(run: Run) -> str:
    buckets: Mapping[str, Any] = (run.rl[-1].get("buckets") or {}) if run.rl else {}
    rows = []
    for name, b in buckets.items():
        belief = b.get("belief") or {}
        rows.append(
            (
                name,
                f"{rate(number(b, 'level'))} / {compact(number(b, 'top'))}",
                rate(number(b, "pass_rate")),
                " – ".join(map(rate, b.get("ci") or [])),
                f"{rate(number(belief, 'low'))} – {rate(number(belief, 'high'))}" if belief else "–",
                rate(number(b, "signal")),
                rate(number(b, "signal_share")),
                rate(number(b, "bits")),
                compact(sum((number(r, "bits") or 0.0) * (number(r, "n") or 0.0) for r in run.of_family(name))),
                percent(number(b, "weight")),
                percent(number(b, "dead")),
                compact(number(b, "shortest")),
                str(b.get("state") or ""),
            )
        )
    head = (
        "family", "level", "pass rate", "90 %", "believed, 90 %", "signal U", "share S", "bits per rollout", "bits so far",
        "weight", "dead groups", "shortest, bits", "state",
    )  # fmt: skip
    return table(head, rows)


def _information(run: Run) -> str:
    """The ways of learning side by side, in one unit."""
    taught, played = _sum(run.warmup, "answers"), _sum(run.rl, "rollouts")
    told, relabelled = _last(run.warmup, "answer_bits_total"), _last(run.rl, "answer_bits_total")
    rows = [
        _way("warm start, answers: −log2 p", taught, told, _sum(run.warmup, "flops")),
        _way("REINFORCE, rollouts: H(p)", played, _last(run.rl, "bits_total"), _sum(run.rl, "flops")),
        _way("hindsight, answers: −log2 p", _sum(run.rl, "answers"), relabelled, None),
    ]
    return table(
        ("what is learnt from", "samples", "bits per sample", "bits in all", "GFLOP", "bits per GFLOP"),
        filter(None, rows),
    )


def _way(name: str, samples: float, bits: float, flops: float | None) -> tuple[str, ...] | None:
    if not samples:
        return None
    cost = ("in REINFORCE's", "–") if flops is None else (compact(flops / 1e9), decimal(per_gflop(bits, flops)))
    return (name, compact(samples), decimal(bits / samples), compact(bits), *cost)


def _verdicts(run: Run) -> str:
    """How many programs of the whole run ended how."""
    total: Counter[str] = Counter()
    for record in run.rl:
        total.update(record.get("verdicts") or {})
    rows = [(what, f"{count:,}", percent(count / total.total())) for what, count in total.most_common()]
    return table(("what became of the programs", "programs", "share"), rows)


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
    return table(("evaluation", "accuracy", "95 %", "size ÷ raw", "tasks"), rows)


def _best(run: Run) -> str:
    return "\n".join(
        f"<p>step {e.get('step', 0)}, {safe(e.get('family', ''))}: {compact(number(e, 'bits'))} bits, literal "
        f"{compact(number(e, 'literal_bits'))}</p>\n{program(e.get('target', ''), e.get('program', ''))}"
        for e in run.of_kind("best")[::-1][:_MOST_PROGRAMS]
    )


def _failing(run: Run) -> str:
    return "\n".join(
        f"<p>step {e.get('step', 0)}, {safe(e.get('family', ''))}, level {safe(e.get('level', ''))}: {_missed(e)}</p>\n"
        f"{program(e.get('target', ''), e.get('program', ''))}"
        for e in run.of_kind("failing")[::-1][:_MOST_PROGRAMS]
    )


def _missed(event: Record) -> str:
    made = event.get("made")
    return safe(event.get("verdict", "")) if made is None else f"it makes {safe(made) or 'nothing'}"


def _events(run: Run) -> str:
    told = [describe(e) for e in run.events if e.get("kind") not in SAMPLES][::-1][:_MOST_EVENTS]
    return "<ul>" + "".join(f"<li>{escape(text)}</li>" for text in told) + "</ul>" if told else ""


def _sum(records: list[Record], key: str) -> float:
    return sum(number(r, key) or 0.0 for r in records)


def _last(records: list[Record], key: str) -> float:
    known = [value for r in records if (value := number(r, key)) is not None]
    return known[-1] if known else 0.0
