from __future__ import annotations

from hypothesis import given, strategies as st

from kolmocli.language.program import FUNCTION_NAMES, Program
from kolmocli.policy.policy import Policy
from kolmocli.policy.presets import VOCABULARIES
from kolmocli.policy.prompts import preset_prompt
from kolmocli.policy.tokenizer import UNKNOWN, VARIABLES, build_tokenizer
from tests.language.strategies import programs
from tests.policies import prompts

TOKENIZER = build_tokenizer()
WIDE = st.one_of(st.integers(-300, 300), st.integers(-(10**17), 10**17))


def encode(text: str) -> list[int]:
    return TOKENIZER(text, add_special_tokens=False).input_ids


def test_the_vocabulary_is_as_large_as_the_presets_say() -> None:
    assert len(TOKENIZER) == VOCABULARIES["programs"]


@given(programs(ints=WIDE))
def test_decoding_gives_the_encoded_program_character_by_character(program: Program) -> None:
    ids = encode(f"{program}\n")
    assert TOKENIZER.unk_token_id not in ids
    assert TOKENIZER.decode(ids) == f"{program}\n"
    assert TOKENIZER.decode([*ids, TOKENIZER.eos_token_id], skip_special_tokens=True) == f"{program}\n"


def test_bytes_functions_and_variables_are_one_token_each() -> None:
    for word in (*map(str, range(256)), *FUNCTION_NAMES, *VARIABLES, "output"):
        assert len(encode(word)) == 1, word


def test_integers_beyond_a_byte_are_written_digit_by_digit() -> None:
    assert TOKENIZER.convert_ids_to_tokens(encode("256, -1000")) == ["2", "5", "6", ", ", "-", "1", "0", "0", "0"]


@given(st.lists(WIDE, min_size=1, max_size=30), st.lists(WIDE, min_size=1, max_size=30))
def test_two_sequences_never_have_the_same_prompt(a: list[int], b: list[int]) -> None:
    ids = [encode(preset_prompt(prompt, "programs")) for prompt in prompts([a, b])]
    assert (ids[0] == ids[1]) == (a == b)
    assert TOKENIZER.convert_tokens_to_ids(UNKNOWN) not in ids[0]


def test_a_plain_prompt_spends_one_token_per_item(policy: Policy) -> None:
    assert len(policy.prompt_ids(*prompts([(1, 2, 255)]))) == 5
