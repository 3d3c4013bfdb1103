"""The numbers of an evaluation, from tasks and what became of them; `rates.py` has those about sizes.

Rollouts that the sandbox lost say nothing about the policy: they are counted and left out of everything else.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from kolmocli.evaluation import rates
from kolmocli.evaluation.baselines import CODEC_NAMES, Baselines, measure
from kolmocli.evaluation.coding import CODED, Coding, Pair
from kolmocli.evaluation.intervals import Interval, mean_interval, wilson
from kolmocli.language.raw import raw_bits
from kolmocli.tasks.answers.task import AnswerTask
from kolmocli.tasks.base import Task
from kolmocli.tasks.figures import means
from kolmocli.tasks.outcome import Outcome
from kolmocli.tasks.sequences.task import SequenceTask

Key = TypeVar("Key")

PREFIXES = (16, 32, 64, 128)
"""Items at which the KoLMogorov Test compares beginnings."""


def summarise(
    pairs: Sequence[tuple[Task, Outcome]], coding: Coding = CODED, baselines: Baselines | None = None
) -> dict[str, Any]:
    """The report of an evaluation with one outcome per task, JSON-ready; docs/metrics.md explains each key.

    A number that does not exist (a share of nothing) is None. With several samples of a task, reduce
    them by `best_of` first. `coding` is how programs are stored; `baselines` may have begun to count.
    """
    judged = [(task, outcome) for task, outcome in pairs if not is_masked(outcome)]
    outcomes = [outcome for _, outcome in judged]
    n, correct = len(judged), sum(o.passed for o in outcomes)
    written = of_sequences(judged)
    targets, copies = [task.target for task, _ in written], [outcome for _, outcome in written]
    programs = [outcome for task, outcome in judged if task.language != "text"]
    raw = raw_bits(targets)
    # The codecs work outside the interpreter's lock, and the slowest of one stream would hold up the next.
    with ThreadPoolExecutor() as threads:
        measured = threads.submit(baselines.measure if baselines else measure, targets)
        waiting = {
            "precision": threads.submit(rates.precision, written, "gzip", coding),
            "precision_xz": threads.submit(rates.precision, written, "xz", coding),
            "compression_rate": threads.submit(rates.compression, written, coding),
        }
    sizes, ratios = measured.result(), {name: ratio.result() for name, ratio in waiting.items()}
    counts = {
        "executable": (sum(o.executable for o in programs), len(programs)),
        "format_rate": (sum(o.formatted for o in outcomes), n),
        "copy_rate": (sum(o.copied for o in copies if o.passed), sum(o.passed for o in copies)),
    }
    if lenient := [o.lenient for o in outcomes if o.lenient is not None]:
        counts["accuracy_lenient"] = (sum(lenient), len(lenient))
    rewards = [o.reward or 0.0 for o in outcomes]
    prefixes = {str(k): prefix_matches(written, k) for k in PREFIXES}
    return {
        "n": n,
        "masked": len(pairs) - n,
        "accuracy": share(correct, n),
        "accuracy_ci": list(wilson(correct, n)),
        **{name: share(k, of) for name, (k, of) in counts.items()},
        **{name: ratio.value for name, ratio in ratios.items()},
        "average_reward": share(math.fsum(rewards), n),
        **({"metrics": figures} if (figures := means(outcomes)) else {}),
        "prefix_accuracy": {k: share(hits, len(written)) for k, hits in prefixes.items()},
        "intervals": {
            **{name: _listed(wilson(k, of) if of else None) for name, (k, of) in counts.items()},
            **{name: _listed(ratio.interval) for name, ratio in ratios.items()},
            "average_reward": _listed(mean_interval(rewards) if n > 1 else None),
            "prefix_accuracy": {
                k: _listed(wilson(hits, len(written)) if written else None) for k, hits in prefixes.items()
            },
        },
        **({"answer_judge": named} if (named := judges(judged)) else {}),
        "raw_bits": raw,
        "buckets": _buckets(judged),
        "baselines": {codec: {kind: share(bits, raw) for kind, bits in size.items()} for codec, size in sizes.items()},
        "baselines_missing": [name for name in CODEC_NAMES if name not in sizes],
    }


def of_sequences(pairs: Sequence[tuple[Task, Outcome]]) -> list[Pair]:
    """Those in which a sequence was to be made: only they have sizes."""
    return [(task, outcome) for task, outcome in pairs if isinstance(task, SequenceTask)]


def judges(pairs: Sequence[tuple[Task, Outcome]]) -> str | None:
    """Judges of the questions, by name and version; None without questions."""
    names = {task.judged_by for task, _ in pairs if isinstance(task, AnswerTask)}
    return "; ".join(sorted(name for name in names if name)) or None


def is_masked(outcome: Outcome) -> bool:
    """True when the sandbox failed: no reward was given and none may be counted."""
    return outcome.reward is None


def prefix_matches(pairs: Sequence[Pair], items: int) -> int:
    """Tasks whose program makes the first `items` items; all of them, where the sequence has no more."""
    made = ((task.target, made_by(task, outcome)) for task, outcome in pairs)
    return sum(value is not None and value[:items] == target[:items] for target, value in made)


def made_by(task: SequenceTask, outcome: Outcome) -> tuple[int, ...] | None:
    """The program's sequence; None when it did not end normally, or made none."""
    return task.target if outcome.passed else outcome.value


def modalities(pairs: Sequence[tuple[Task, Outcome]], coding: Coding = CODED) -> dict[str, dict[str, Any]]:
    """Accuracy and compression of each modality that a file names, in the order in which they first appear."""
    groups: dict[str, list[Pair]] = {}
    for task, outcome in of_sequences(pairs):
        if task.modality is not None and not is_masked(outcome):
            groups.setdefault(task.modality, []).append((task, outcome))
    return {name: _modality(group, coding) for name, group in groups.items()}


def _modality(pairs: Sequence[Pair], coding: Coding) -> dict[str, Any]:
    hits, n = sum(outcome.passed for _, outcome in pairs), len(pairs)
    rate = rates.compression(pairs, coding)
    return {
        "accuracy": hits / n,
        "n": n,
        "ci": list(wilson(hits, n)),
        "compression_rate": rate.value,
        "compression_rate_ci": _listed(rate.interval),
    }


def families(pairs: Sequence[tuple[Task, Outcome]]) -> dict[str, dict[str, Any]]:
    """Accuracy of each family, in the order in which they first appear."""
    passed = _passed((task.bucket.family, outcome) for task, outcome in pairs if not is_masked(outcome))
    return {
        name: {"n": len(hits), "accuracy": sum(hits) / len(hits), "accuracy_ci": list(wilson(sum(hits), len(hits)))}
        for name, hits in passed.items()
    }


def _buckets(judged: Sequence[tuple[Task, Outcome]]) -> dict[str, dict[str, Any]]:
    """Per bucket, families in the order in which they first appear, levels ascending."""
    passed = _passed((task.bucket, outcome) for task, outcome in judged)
    families = list(dict.fromkeys(bucket.family for bucket in passed))
    return {
        str(bucket): {
            "accuracy": sum(hits) / len(hits),
            "n": len(hits),
            "ci": list(wilson(sum(hits), len(hits))),
        }
        for bucket, hits in sorted(passed.items(), key=lambda item: (families.index(item[0].family), item[0].level))
    }


def _passed(outcomes: Iterable[tuple[Key, Outcome]]) -> dict[Key, list[bool]]:
    """Which of each key passed, keys in the order in which they first appear."""
    passed: dict[Key, list[bool]] = {}
    for key, outcome in outcomes:
        passed.setdefault(key, []).append(outcome.passed)
    return passed


def share(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def _listed(interval: Interval | None) -> list[float] | None:
    return None if interval is None else list(interval)
