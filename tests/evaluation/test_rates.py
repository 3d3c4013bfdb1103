"""Sizes: of coded programs, of programs as text, by the uniform prior, and as a real archive."""

from __future__ import annotations

import random

from hypothesis import given, settings, strategies as st

from kolmocli.archive.format.views import BY_NAME
from kolmocli.archive.opener import decompress
from kolmocli.curriculum.base import Bucket
from kolmocli.evaluation import rates
from kolmocli.evaluation.archived import archive, archive_rate
from kolmocli.evaluation.baselines import best_solid_bits, best_stream_bits
from kolmocli.evaluation.coding import CODED, TEXT, Pair
from kolmocli.evaluation.intervals import ratio_interval
from kolmocli.language.coder import coded_bits
from kolmocli.language.interpreter import evaluate
from kolmocli.language.program import parse
from kolmocli.language.raw import pack, raw_bits
from kolmocli.language.sampler import sample
from kolmocli.language.uniform_prior import uniform_prior_bits
from kolmocli.sandbox import Status
from kolmocli.tasks.outcome import Outcome
from kolmocli.tasks.sequences.task import sequence_task

BYTES = BY_NAME["u8"]
NOISE = tuple((i * i * 7919) % 251 for i in range(40))


def right(text: str, target: tuple[int, ...] | None = None) -> Pair:
    program = parse(text)
    bits = coded_bits(program)
    made = tuple(evaluate(program)) if target is None else target
    return sequence_task(Bucket("a", 1), 0, made), Outcome(text, 1, True, Status.OK, 1.0, True, program, bits)


def wrong(target: tuple[int, ...]) -> Pair:
    return sequence_task(Bucket("a", 1), 0, target), Outcome("x", 1, False, Status.OK, 0.0, True)


RAMP = right("range_func_up(0, 99)")
COPY = right(f"set_list({list(NOISE)})")


def test_the_uniform_prior_replaces_what_programs_cost() -> None:
    pairs = [RAMP, COPY, wrong(NOISE)]
    prior = uniform_prior_bits(parse("range_func_up(0, 99)"))
    assert rates.uniform_prior(pairs) == (prior + best_solid_bits([NOISE, NOISE]) + 3) / (8 * 180)
    assert rates.uniform_prior([]) is None


def test_text_is_stored_where_it_is_smaller_than_a_codec_makes_the_sequence() -> None:
    """A long program of a short sequence is left out, although it is correct."""
    long = (
        sequence_task(Bucket("a", 1), 0, (1, 2)),
        Outcome("output = [1, 2] # " + "x" * 90, 1, True, Status.OK, 1.0, True),
    )
    short = (RAMP[0], Outcome("output=[*range(100)]", 1, True, Status.OK, 1.0, True))
    text = b"output=[*range(100)]\0"
    total = best_stream_bits(text) + best_solid_bits([(1, 2), NOISE]) + 3
    assert rates.compression([long, short, wrong(NOISE)], TEXT).value == total / raw_bits(
        [(1, 2), RAMP[0].target, NOISE]
    )
    useless = rates.compression([long, wrong(NOISE)], TEXT).value
    assert useless == (best_solid_bits([(1, 2), NOISE]) + 2) / raw_bits([(1, 2), NOISE])


@settings(max_examples=25)
@given(st.lists(st.tuples(st.booleans(), st.integers(2, 40), st.integers(0, 90)), min_size=1, max_size=8))
def test_no_selection_of_programs_is_smaller_than_the_one_that_is_taken(kinds: list[tuple[bool, int, int]]) -> None:
    """Against all choices, each with its own streams."""
    pairs = []
    for i, (passed, items, comment) in enumerate(kinds):
        target = tuple((i + 1) * 37 * k % 256 for k in range(items))
        text = f"output = [{i + 1} * 37 * k % 256 for k in range({items})]#" + "c" * comment
        pairs.append((sequence_task(Bucket("a", 1), i, target), Outcome(text, 1, passed, Status.OK, 1.0, True)))
    sizes = []
    for chosen in TEXT.choices([(task, o) for task, o in pairs if o.passed]):
        rest = [task.target for task, o in pairs if all(o is not used for _, used in chosen)]
        text = b"".join(o.text.encode() + b"\0" for _, o in chosen)
        sizes.append(best_stream_bits(text) + best_solid_bits(rest) + len(pairs))
    assert rates.compression(pairs, TEXT).value == min(sizes) / raw_bits(task.target for task, _ in pairs)


def test_the_interval_holds_the_rate_of_other_samples_of_tasks() -> None:
    """19 of 20 intervals of 40 tasks should hold the rate of all 2,000; solid streams differ a little by size."""
    rng = random.Random(5)
    found = []
    for _ in range(2000):
        pair = sample(rng)
        text = str(pair.program)
        correct = rng.random() < 0.5
        found.append(right(text) if correct else wrong(tuple(pair.sequence)))
    coded = [p for p in found if p[1].passed]
    whole = sum(p[1].bits or 0 for p in coded) / raw_bits(t.target for t, _ in coded)
    hits = 0
    for start in range(0, 800, 40):
        group = coded[start : start + 40]
        spread = ratio_interval([p[1].bits or 0 for p in group], [raw_bits([t.target]) for t, _ in group])
        assert spread is not None
        hits += spread[0] <= whole <= spread[1]
    assert 16 <= hits <= 20


def test_one_task_has_no_spread() -> None:
    assert rates.compression([RAMP], CODED).interval is None
    assert rates.precision([RAMP], "gzip", CODED).interval is None
    spread = rates.compression([RAMP, wrong(NOISE), COPY], CODED)
    assert spread.interval is not None and spread.value is not None
    assert spread.interval[0] < spread.value < spread.interval[1]


def test_an_archive_holds_the_programs_that_are_used() -> None:
    pairs = [RAMP, wrong(NOISE), COPY, RAMP]
    data = archive(pairs, BYTES)
    assert decompress(data) == b"".join(pack(task.target) for task, _ in pairs)
    assert archive_rate(pairs) == 8 * len(data) / (8 * 280)
    # Two ramps as programs cost less than as bytes; the noise is in the residual, wherever it came from.
    assert len(data) < len(archive([wrong(task.target) for task, _ in pairs], BYTES))
    assert archive_rate([]) is None


@settings(max_examples=20)
@given(st.lists(st.integers(-(1 << 62), 1 << 62), min_size=1, max_size=9).map(tuple))
def test_an_archive_of_any_integers(target: tuple[int, ...]) -> None:
    assert archive_rate([wrong(target), RAMP])


def test_what_no_archive_holds() -> None:
    assert archive_rate([wrong((1 << 70,))]) is None


def test_a_program_that_makes_much_on_the_way_is_left_to_the_residual() -> None:
    """A decoder has limits to what the programs of an archive may make."""
    pairs = [right("a = range_func_up(0, 90000)\nget_subsequence_with_jumps(a, 10000)")] * 9
    assert (
        decompress(archive(pairs, BY_NAME["i32le"]))
        == b"".join(x.to_bytes(4, "little") for x in pairs[0][0].target) * 9
    )
