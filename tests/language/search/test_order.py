"""The bits that the search counts statement by statement are those of the prefix code."""

import random

import pytest

from kolmocli.language.coder import coded_bits
from kolmocli.language.interpreter import evaluate
from kolmocli.language.program import canonical
from kolmocli.language.sampler import sample
from kolmocli.language.search.budget import Budget
from kolmocli.language.search.names import Naming
from kolmocli.language.search.nodes import program_of
from kolmocli.language.search.order import arrange
from kolmocli.language.search.strands import plain


@pytest.mark.parametrize("seed", range(12))
def test_the_bits_of_an_order_are_the_coded_bits(seed: int) -> None:
    sequence = sample(random.Random(seed)).sequence[:150]
    naming = Naming(plain(sequence), Budget(None, 600.0))
    naming.begin()
    for width in (1, 16):
        order, bits = arrange(naming.chain, width)
        program = canonical(program_of(order))
        assert tuple(evaluate(program)) == sequence
        assert bits == coded_bits(program)
    assert bits <= naming.bits  # the wide beam is no worse than the order of need
