"""Transcripts: what a policy is shown, as a program that is right for every sequence."""

from __future__ import annotations

import random

from hypothesis import given, strategies as st

from kolmocli.language.coder import coded_bits, literal_bits
from kolmocli.language.interpreter import evaluate
from kolmocli.language.sampler import sample
from kolmocli.language.sampler_settings import PUBLISHED
from kolmocli.policy.transcript import transcript


def test_segments_and_interleavings_become_calls() -> None:
    sequence = [5, 5, 5, 5, 10, 12, 14, 16, 1, 90, 2, 91, 3, 92, 4, 93, 5, 94]
    assert str(transcript(sequence)).splitlines() == [
        "sequence_1 = repeat_num(4, 5)",
        "sequence_2 = range_func_interval(10, 18, 2)",
        "sequence_3 = range_func_up(1, 5)",
        "sequence_4 = range_func_up(90, 94)",
        "sequence_5 = interleave(sequence_3, sequence_4)",
        "sequence_6 = concatenate(sequence_1, sequence_2)",
        "sequence_7 = concatenate(sequence_6, sequence_5)",
    ]


def test_single_items_are_one_list_and_what_comes_twice_is_written_once() -> None:
    assert str(transcript([9, 1, 7])) == "sequence_1 = set_list([9, 1, 7])"
    assert str(transcript([4, 4, 4, 4, 9, 1, 4, 4, 4, 4, 9, 1])).count("repeat_num") == 1
    assert str(transcript([4, 4, 4, 4, 9, 1, 4, 4, 4, 4, 9, 1])).count("set_list") == 1


@given(st.lists(st.integers(0, 255) | st.integers(0, 3), min_size=1, max_size=80))
def test_every_transcript_makes_its_sequence(sequence: list[int]) -> None:
    assert evaluate(transcript(sequence)) == sequence


def test_transcripts_of_sampled_sequences_are_right_and_save_half() -> None:
    rng = random.Random(3)
    sequences = [sample(rng, PUBLISHED).sequence for _ in range(300)]
    programs = [transcript(sequence) for sequence in sequences]
    assert [tuple(evaluate(program)) for program in programs] == [tuple(sequence) for sequence in sequences]
    assert sum(map(coded_bits, programs)) < 0.6 * sum(map(literal_bits, sequences))
