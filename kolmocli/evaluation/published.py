"""The numbers of the KoLMogorov Test (Yoran et al. 2025, arXiv 2503.13992) by its published formulas, flaws included.

They are for comparison with published figures and for nothing else; `FLAWS` is printed with them. Sequences must be
of values 0 to 255: the formulas see them as text in Latin-1.
"""

from __future__ import annotations

import gzip
import math
from collections.abc import Sequence
from typing import Any

from kolmocli.errors import UsageError
from kolmocli.evaluation.coding import Pair
from kolmocli.evaluation.metrics import PREFIXES, is_masked, made_by, prefix_matches, share
from kolmocli.language.uniform_prior import uniform_prior_bits
from kolmocli.tasks.outcome import Outcome
from kolmocli.tasks.sequences.task import SequenceTask

_JOIN = "#_#_#_#_#_#_#"
_LEAD_IN = "that generates the sequence is:"
"""Beginning of the published prompt's answers."""
_LONGEST = 256
"""A longer output was not taken for an answer."""
_SYNTHETIC_BITS = 1_000_105 * 8
"""The size of the published synthetic file: the published denominator, whatever is evaluated."""

FLAWS = (
    "a program counts as compressed when it makes any list of 1 to 256 values, right or wrong",
    "sequences are text: a value above 127 takes two bytes before gzip, which handicaps gzip",
    "programs, and sequences, are one gzip file with 13 characters, for precision a line break, between two",
    "the synthetic rate is divided by 1,000,105 bytes, whatever is evaluated",
    "the uniform prior is no code: list lengths and predicates are free",
    "answers are cut after the last 'python' and before the first '###', also inside a program",
)


def published_cut(generation: str) -> str:
    """The program in an answer, as the two published evaluations cut it out.

    The lead-in is cut by that of natural data only, the token by the synthetic one only; neither is in a program.
    """
    answer = generation.split(_LEAD_IN)[-1].replace("```", "").split("###")[0]
    return answer.split("python")[-1].split("<|end_of_text|>")[0]


def published_report(pairs: Sequence[Pair]) -> dict[str, Any]:
    """The published numbers of one outcome per task; `synthetic` only where all programs are of the language.

    Raises:
        UsageError: an item that the formulas cannot see.
    """
    judged = [(task, outcome) for task, outcome in pairs if not is_masked(outcome)]
    odd = next((x for task, _ in judged for x in task.target if not 0 <= x <= 255), None)
    if odd is not None:
        raise UsageError(f"--kt-compatible: the value {odd}; the published formulas know 0 to 255 only")
    of_language = all(o.program is not None for _, o in judged if o.passed)
    return {
        "natural": _natural(judged),
        "synthetic": _synthetic(judged) if of_language else None,
        "flaws": list(FLAWS),
    }


def _natural(judged: Sequence[Pair]) -> dict[str, Any]:
    used = [_used(task, outcome) for task, outcome in judged]
    programs = [o.text for (_, o), use in zip(judged, used, strict=True) if use]
    rest = [_latin(t) for (t, _), use in zip(judged, used, strict=True) if not use]
    correct = [(task, outcome) for task, outcome in judged if outcome.passed]
    bits = _gzip(_JOIN.join(programs)) + _gzip(_JOIN.join(rest)) + _gzip(str([int(u) for u in used])) + len(rest)
    sequences_of_correct = _gzip("\n".join(_latin(task) for task, _ in correct))
    return {
        "accuracy": share(len(correct), len(judged)),
        "accuracy_of_executable": share(len(correct), sum(used)),
        "executable": share(sum(used), len(judged)),
        "precision": share(_gzip("\n".join(o.text for _, o in correct)), sequences_of_correct) if correct else None,
        "compression_rate": share(bits, 8 * sum(len(task.target) for task, _ in judged)),
    }


def _synthetic(judged: Sequence[Pair]) -> dict[str, Any]:
    correct = [o for _, o in judged if o.passed]
    failed = [_latin(task) for task, outcome in judged if not outcome.passed]
    prior = math.fsum(uniform_prior_bits(o.program) for o in correct if o.program is not None)
    bits = math.ceil(prior + _gzip("\n".join(failed)) + len(judged))
    return {
        "accuracy": share(len(correct), len(judged)),
        "prefix_accuracy": {str(k): share(prefix_matches(judged, k), len(judged)) for k in PREFIXES},
        "compression_rate": share(bits, 8 * sum(len(task.target) for task, _ in judged)),
        "compression_rate_of_published_size": bits / _SYNTHETIC_BITS,
    }


def _used(task: SequenceTask, outcome: Outcome) -> bool:
    made = made_by(task, outcome)
    return made is not None and 1 <= len(made) <= _LONGEST


def _latin(task: SequenceTask) -> str:
    return bytes(task.target).decode("latin-1")


def _gzip(text: str) -> int:
    """Bits of the text in UTF-8 after Python's gzip at its default level."""
    return 8 * len(gzip.compress(text.encode("utf-8", "surrogatepass"), mtime=0))
