"""Sequences as segments: what is written says what every item is, and a saved policy reads what it was trained on."""

from __future__ import annotations

import random
import re
from pathlib import Path

from hypothesis import given, strategies as st

from kolmocli.language.functions import interleave, range_func_interval, range_func_up, repeat_num
from kolmocli.language.sampler import sample
from kolmocli.language.sampler_settings import PUBLISHED
from kolmocli.policy.building import tokenizer_of
from kolmocli.policy.loading import load_policy
from kolmocli.policy.prompts import preset_prompt
from kolmocli.policy.segmenting import segmented
from kolmocli.policy.tokenizer import UNKNOWN
from kolmocli.tasks.sequences.prompt import sequence_prompt

_CALLS = {
    "repeat_num": (repeat_num, 2),
    "range_func_up": (range_func_up, 2),
    "range_func_interval": (range_func_interval, 3),
}


def read(words: list[str]) -> list[int]:
    """The items that the words stand for, up to a mark that closes an interleaving."""
    items: list[int] = []
    while words and words[0] not in (",", ")"):
        word = words.pop(0)
        if word == "interleave":
            assert words.pop(0) == "("
            first = read(words)
            assert words.pop(0) == ","
            second = read(words)
            assert words.pop(0) == ")"
            items += interleave(first, second)
        elif word in _CALLS:
            function, count = _CALLS[word]
            items += function(*(int(words.pop(0)) for _ in range(count)))
        else:
            items.append(int(word))
    return items


def items_of(text: str) -> list[int]:
    return read(re.findall(r"-?\d+|[a-z_]+|[(),]", text))


def test_each_kind() -> None:
    assert segmented([7, 7, 7, 7]) == "repeat_num 4 7"
    assert segmented([3, 4, 5, 6, 1]) == "range_func_up 3 6 1"
    assert segmented([9, 6, 3, 0]) == "range_func_interval 9 -3 -3"
    assert segmented([1, 90, 2, 80, 3, 85, 4, 81, 5, 7]) == "interleave(range_func_up 1 5, 90 80 85 81 7)"


def test_what_goes_on_item_by_item_ends_an_interleaving() -> None:
    woven = [1, 90, 2, 80, 3, 85, 4, 81, 5, 7, 6, 22]
    assert segmented([*woven, *range(7, 40)]).endswith(", 90 80 85 81 7 22) range_func_up 7 39")


def test_an_interleaving_in_an_interleaving() -> None:
    rng = random.Random(0)
    inner = interleave(range_func_up(10, 29), [rng.randrange(256) for _ in range(20)])
    text = segmented(interleave(inner, range_func_interval(200, 80, -3)))
    assert text.startswith("interleave(interleave(range_func_up 10 29, ")
    assert text.endswith(", range_func_interval 200 80 -3)")


@given(st.lists(st.integers(0, 255) | st.integers(0, 3), max_size=60))
def test_nothing_is_lost(sequence: list[int]) -> None:
    assert items_of(segmented(sequence)) == sequence


def test_sampled_sequences_are_shorter_and_all_known_to_the_tokenizer() -> None:
    rng, tokenizer = random.Random(5), tokenizer_of("programs", reads_segments=True)
    plain = shown = 0
    for _ in range(300):
        sequence = sample(rng, PUBLISHED).sequence
        prompt = sequence_prompt(sequence, "dsl")
        assert items_of(segmented(sequence)) == list(sequence)
        ids = tokenizer(preset_prompt(prompt, "programs", True), add_special_tokens=False).input_ids
        assert tokenizer.convert_tokens_to_ids(UNKNOWN) not in ids
        plain += len(tokenizer(preset_prompt(prompt, "programs"), add_special_tokens=False).input_ids)
        shown += len(ids)
    assert shown < 0.6 * plain


def test_only_sequences_of_bytes_are_rewritten() -> None:
    wide = sequence_prompt([1000, 1001, 1002, 1003], "dsl")
    assert preset_prompt(wide, "programs", True) == preset_prompt(wide, "programs")


def test_a_saved_policy_reads_segments_again(tmp_path: Path) -> None:
    for name, reads in (("tiny-segments", True), ("tiny", False)):
        policy = load_policy(name, device="cpu")
        policy.save(tmp_path / name)
        again = load_policy(str(tmp_path / name), device="cpu")
        assert (policy.reads_segments, again.reads_segments) == (reads, reads)
        prompt = sequence_prompt([5] * 40, "dsl")
        assert policy.prompt_ids(prompt) == again.prompt_ids(prompt)
        assert (len(again.prompt_ids(prompt)) < 10) == reads


def test_questions_have_no_segments() -> None:
    assert not load_policy("tiny-segments", device="cpu", alphabet="characters").reads_segments
