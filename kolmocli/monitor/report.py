"""Write report.html, the page about a run, from its files alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from html import escape

from kolmocli.curriculum.information import per_gflop
from kolmocli.monitor.events import SAMPLES, BestEvent, FailingEvent, describe
from kolmocli.monitor.history import History
from kolmocli.monitor.page import LINES, cards, image, page, program, safe, section, table
from kolmocli.monitor.records import ReinforceRecord
from kolmocli.monitor.words import compact, decimal, duration, percent, rate

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


def render(history: History, images: Mapping[str, bytes], config: str = "") -> str:
    """The page as text. `images` are PNGs by the name of their figure; unknown names stand with the curves."""

    def pictures(*names: str) -> str:
        return "\n".join(image(images[name], _ALT.get(name, name)) for name in names if name in images)

    curves = [name for name in images if name not in (*_CONTROL, *_INFORMATION, *_SANDBOX)]
    parts = [
        _cards(history),
        *section("Learning", pictures(*curves)),
        *section("Held-out evaluation", _evaluations(history)),
        *section("Families, last step", _families(history), pictures(*_CONTROL)),
        *section("Information", _information(history), pictures(*_INFORMATION)),
        *section("Sandbox", _verdicts(history), pictures(*_SANDBOX)),
        *section("Best programs, newest first", _best(history)),
        *section("Failing programs, newest first", _failing(history)),
        *section("Events, newest first", _events(history)),
        *section(
            "Configuration",
            f"<details><summary>config.yaml</summary><pre>{safe(config, LINES)}</pre></details>" if config else "",
        ),
    ]
    return page(history.name, _state(history), parts)


def _state(history: History) -> str:
    done = f"{len(history.rl)} REINFORCE steps"
    total = history.summary.seconds.total
    return f"{done} in {duration(total)}" if total is not None else f"{done} so far"


def _cards(history: History) -> str:
    last = history.rl[-1] if history.rl else ReinforceRecord()
    evaluated = history.evaluations
    accuracy = " → ".join(percent(e.accuracy) for e in evaluated[:: max(1, len(evaluated) - 1)])
    box = history.summary.sandbox
    return cards(
        {
            "held-out accuracy": accuracy or "–",
            "steps in the target band": percent(last.in_band),
            "in band while controlled": percent(last.in_band_controlled),
            "bits per rollout": rate(history.summary.bits.per_rollout),
            "bits gathered": compact(last.bits_total),
            "compression, last step": rate(last.compression_rate),
            "sandbox": box.backend or "–",
            "programs run": compact(box.executed),
            "sandbox faults": compact(sum(r.infra or 0 for r in history.rl)),
        }
    )


def _families(history: History) -> str:
    buckets = (history.rl[-1].buckets or {}) if history.rl else {}
    rows = []
    for name, b in buckets.items():
        gathered = sum((entry.bits or 0.0) * (entry.n or 0) for _, entry in history.of_family(name))
        rows.append(
            (
                name,
                f"{rate(b.level)} / {compact(b.top)}",
                rate(b.pass_rate),
                " – ".join(map(rate, b.ci or [])),
                f"{rate(b.belief.low)} – {rate(b.belief.high)}" if b.belief else "–",
                rate(b.signal),
                rate(b.signal_share),
                rate(b.bits),
                compact(gathered),
                percent(b.weight),
                percent(b.dead),
                compact(b.shortest),
                b.state or "",
            )
        )
    head = (
        "family", "level", "pass rate", "90 %", "believed, 90 %", "signal U", "share S", "bits per rollout", "bits so far",
        "weight", "dead groups", "shortest, bits", "state",
    )  # fmt: skip
    return table(head, rows)


def _information(history: History) -> str:
    """The ways of learning side by side, in one unit."""
    warm, rl = history.warmup, history.rl
    relabelled = sum(r.answers or 0 for r in rl)
    rows = [
        _way(
            "warm start, answers: −log2 p", sum(r.answers or 0 for r in warm),
            _last(r.answer_bits_total for r in warm), sum(r.flops or 0.0 for r in warm),
        ),
        _way(
            "REINFORCE, rollouts: H(p)", sum(r.rollouts or 0 for r in rl), _last(r.bits_total for r in rl),
            sum(r.flops or 0.0 for r in rl),
        ),
        _way("hindsight, answers: −log2 p", relabelled, _last(r.answer_bits_total for r in rl), None),
    ]  # fmt: skip
    return table(
        ("what is learned from", "samples", "bits per sample", "bits in all", "GFLOP", "bits per GFLOP"),
        filter(None, rows),
    )


def _way(name: str, samples: float, bits: float, flops: float | None) -> tuple[str, ...] | None:
    if not samples:
        return None
    cost = ("in REINFORCE's", "–") if flops is None else (compact(flops / 1e9), decimal(per_gflop(bits, flops)))
    return (name, compact(samples), decimal(bits / samples), compact(bits), *cost)


def _verdicts(history: History) -> str:
    """Programs of the run, by verdict."""
    total: Counter[str] = Counter()
    for record in history.rl:
        total.update(record.verdicts or {})
    judged = +total  # a count of another hand may be 0 or less
    rows = [(what, f"{count:,}", percent(count / judged.total())) for what, count in judged.most_common()]
    return table(("what became of the programs", "programs", "share"), rows)


def _evaluations(history: History) -> str:
    rows = [
        (
            f"{e.name or ''} (step {e.step})",
            percent(e.accuracy),
            " – ".join(map(percent, e.accuracy_ci or [])),
            rate(e.compression_rate),
            compact(e.n),
        )
        for e in history.evaluations
    ]
    return table(("evaluation", "accuracy", "95 %", "size ÷ raw", "tasks"), rows)


def _best(history: History) -> str:
    return "\n".join(
        f"<p>step {e.step}, {safe(e.family or '')}: {compact(e.bits)} bits, literal {compact(e.literal_bits)}</p>\n"
        f"{program(e.target or '', e.program or '')}"
        for e in history.of_kind(BestEvent)[::-1][:_MOST_PROGRAMS]
    )


def _failing(history: History) -> str:
    return "\n".join(
        f"<p>step {e.step}, {safe(e.family or '')}, level {safe(e.level or '')}: {_missed(e)}</p>\n"
        f"{program(e.target or '', e.program or '')}"
        for e in history.of_kind(FailingEvent)[::-1][:_MOST_PROGRAMS]
    )


def _missed(event: FailingEvent) -> str:
    return safe(event.verdict or "") if event.made is None else f"it makes {safe(event.made) or 'nothing'}"


def _events(history: History) -> str:
    listed = [describe(e) for e in history.events if not isinstance(e, SAMPLES)][::-1][:_MOST_EVENTS]
    return "<ul>" + "".join(f"<li>{escape(text)}</li>" for text in listed) + "</ul>" if listed else ""


def _last(values: Iterable[float | None]) -> float:
    known = [value for value in values if value is not None]
    return known[-1] if known else 0.0
