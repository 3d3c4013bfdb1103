"""Skeletons: constants count roughly, shape fully; the split is stable."""

import random

from kolmocli.language.interpreter import execute
from kolmocli.language.program import parse
from kolmocli.language.sampler import sample
from kolmocli.language.sampler_settings import SamplerConfig
from kolmocli.language.skeleton import held_out, skeleton


def shape(text):
    program = parse(text)
    return skeleton(program, execute(program))


def test_a_skeleton_shows_calls_wiring_and_lengths():
    text = "a = range_func_up(1, 9)\nb = filter(is_odd, a)\nc = repeat_list(3, b)\noutput = c"
    assert shape(text) == "range_func_up(~0,~0):9;filter(is_odd,1):5;repeat_list(~0,2):15;3:15"


def test_constants_count_by_their_sixteenth():
    assert shape("x = range_func_up(1, 9)") == shape("x = range_func_up(3, 11)")
    assert shape("x = range_func_up(1, 9)") != shape("x = range_func_up(101, 109)")
    assert shape("x = set_list([1, 200])") != shape("x = set_list([1, 100])")


def test_lengths_count():
    assert shape("x = range_func_up(1, 9)") != shape("x = range_func_up(1, 8)")


def test_the_split_is_the_same_everywhere():
    chosen = [n for n in range(12) if held_out(f"range_func_up(~0,~0):{n}")]
    assert chosen == [3, 7]


def test_the_share_is_held():
    rng = random.Random(17)
    config = SamplerConfig(bases=(2, 4))
    shapes = set()
    while len(shapes) < 3_000:
        program = sample(rng, config).program
        shapes.add(skeleton(program, execute(program)))
    assert 0.22 < sum(map(held_out, shapes)) / len(shapes) < 0.28
    assert not any(held_out(s, 0.0) for s in shapes)
    assert all(held_out(s, 1.0) for s in shapes)
