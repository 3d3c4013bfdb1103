"""The prefix code: decodable, self-delimiting, and as short as claimed."""

import math
import random

import pytest
from hypothesis import given, strategies as st

from kolmocli.language.coder import CodeError, coded_bits, decode, decode_prefix, encode, literal_bits
from kolmocli.language.opcodes import LENGTHS, SYMBOLS, canonical_code
from kolmocli.language.program import Program, canonical, parse
from kolmocli.language.sampler import sample

from .strategies import programs

bit_strings = st.text(alphabet="01", max_size=200)


@given(programs())
def test_decode_inverts_encode(program):
    assert decode(encode(program)) == program
    assert coded_bits(program) == len(encode(program))


@given(programs(), bit_strings)
def test_a_code_ends_by_itself(program, rest):
    code = encode(program)
    assert decode_prefix(code + rest) == (program, len(code))


@given(programs())
def test_no_beginning_of_a_code_is_a_code(program):
    code = encode(program)
    for end in range(len(code)):
        with pytest.raises(CodeError):
            decode_prefix(code[:end])


@given(st.text(alphabet="01", max_size=400))
def test_any_bits_are_a_program_or_a_clean_error(bits):
    try:
        program, used = decode_prefix(bits)
    except CodeError:
        return
    assert used <= len(bits)
    assert decode(encode(program)) == program


def test_bits_after_the_end_are_refused():
    with pytest.raises(CodeError, match="2 bits after"):
        decode(encode(parse("x = range_func_up(1, 9)")) + "01")


def test_sampled_programs_round_trip():
    for seed in range(2_000):
        program = sample(random.Random(seed)).program
        assert decode(encode(program)) == program, f"seed {seed}"


@pytest.mark.parametrize("lengths", LENGTHS)
def test_each_context_has_a_complete_code(lengths):
    """Kraft's sum is 1: no bit pattern is wasted, and none is ambiguous."""
    assert sum(2.0**-n for n in lengths if n) == 1.0
    words = [w for w in canonical_code(lengths) if w]
    assert not any(a != b and b.startswith(a) for a in words for b in words)
    assert len(lengths) == len(SYMBOLS)


@pytest.mark.parametrize("length", [1, 5, 31, 32, 128, 1000])
def test_a_literal_costs_its_bytes_and_little_more(length):
    rng = random.Random(length)
    sequence = [rng.randrange(256) for _ in range(length)]
    assert 0 < literal_bits(sequence) - 8 * length <= 12 + 2 * math.log2(length)


THREE = "a = set_list([1, 2, 3])\n"


@pytest.mark.parametrize(
    ("text", "bits"),
    [
        ("range_func_up(5, 5)", 18),
        ("range_func_up(5, 4)", 25),
        ("range_func_up(255, 255)", 18),
        ("range_func_up(256, 256)", 49),
        ("repeat_num(1, 255)", 18),
        ("repeat_num(0, 255)", 29),
        ("repeat_num(1, 256)", 33),
        ("repeat_num(31, 7)", 18),
        ("repeat_num(32, 7)", 19),
        ("set_list([255])", 19),
        ("set_list([256])", 31),
        ("range_func_interval(5, 7, 2)", 21),
        ("range_func_interval(5, 8, 2)", 24),
        ("range_func_interval(5, 5, 2)", 24),
        ("range_func_interval(5, 10, 5)", 21),
        ("range_func_interval(5, 11, 6)", 34),
        ("range_func_interval(5, 257, 2)", 34),
        ("range_func_interval(5, 256, 2)", 42),
        (f"{THREE}repeat_list(1, a)", 54),
        (f"{THREE}repeat_list(2, a)", 47),
        (f"{THREE}repeat_list(5, a)", 47),
        (f"{THREE}repeat_list(6, a)", 58),
        (f"{THREE}get_subsequence_between_indices(a, 0, 1)", 56),
        (f"{THREE}get_subsequence_between_indices(a, 1, 1)", 57),
    ],
)
def test_short_forms_reach_to_the_edges_that_the_page_gives(text, bits):
    """Counts, bytes, steps and ranges just within them, and just beyond, where the wide form takes over."""
    program = parse(text)
    assert coded_bits(program) == len(encode(program)) == bits
    assert decode(encode(program)) == program


def test_a_rule_is_shorter_than_its_literal():
    assert coded_bits(parse("x = range_func_interval(3, 93, 3)")) < literal_bits(list(range(3, 93, 3))) / 5


def test_useless_statements_cost():
    program = parse("x = range_func_up(1, 9)\ny = reverse_list(x)\noutput = x")
    assert coded_bits(canonical(program)) < coded_bits(program)


def test_the_empty_program_has_a_code():
    assert decode(encode(Program(()))) == Program(())
