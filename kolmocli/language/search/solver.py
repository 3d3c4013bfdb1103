from __future__ import annotations

import heapq
import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass

from kolmocli.language.coder import coded_bits, literal_bits
from kolmocli.language.interpreter import evaluate
from kolmocli.language.program import Call, Program, canonical
from kolmocli.language.search.budget import Budget, Spent
from kolmocli.language.search.names import Naming
from kolmocli.language.search.nodes import Node, program_of
from kolmocli.language.search.order import arrange
from kolmocli.language.search.strands import plain
from kolmocli.language.search.weaves import Guess, children, estimate


@dataclass(frozen=True)
class Solution:
    program: Program
    bits: int
    literal_bits: int
    seconds: float
    source: str

    def __str__(self) -> str:
        return str(self.program)


DEBUG={}
SLACK, FIRST, EXPAND, CHILDREN = 150, 10, 3, 8
def solve(sequence: Sequence[int], *, seconds: float = 1.0, steps: int | None = None) -> Solution:
    started = time.monotonic()
    value = tuple(sequence)
    literal = literal_bits(value)
    best = Program((Call("set_list", (value,)),))
    bits = literal
    budget = Budget(steps, seconds)
    try:
        first = plain(value)
        root = (estimate(first, budget), 0, first, 0)
        to_expand, to_refine = [root], [root]
        counter = itertools.count(1)
        popped = 0
        quickest, new = 1<<60, 1<<60
        lowest = root[0]
        seen = {first}
        expansions = FIRST
        while to_refine:
            for _ in range(expansions):
                if not to_expand or to_expand[0][0] > lowest + SLACK:
                    break
                guess, _, weave, depth = heapq.heappop(to_expand)
                for child in children(weave, guess, budget)[:CHILDREN]:
                    if child.weave not in seen:
                        seen.add(child.weave)
                        entry = (child.bits, next(counter), child.weave, depth + 1)
                        lowest = min(lowest, child.bits)
                        if depth < 5:
                            heapq.heappush(to_expand, entry)
                        heapq.heappush(to_refine, entry)
            expansions = EXPAND
            guess, _, weave, depth = heapq.heappop(to_refine)
            if guess > lowest + SLACK:
                break
            naming = Naming(weave, budget)
            naming.improve()
            if naming.bits < 1.03 * quickest:
                quickest = min(quickest, naming.bits)
                order, new = arrange(naming.root(), 16)
            if new < bits:
                program = canonical(program_of(order))
                if tuple(evaluate(program)) == value:
                    best, bits = program, coded_bits(program)
                    DEBUG[value] = (budget.steps, popped, guess, depth)
            popped += 1
        DEBUG['end'] = (budget.steps, popped)
    except Spent:
        pass
    return Solution(best, bits, literal, time.monotonic() - started, "literal" if bits == literal else "search")
