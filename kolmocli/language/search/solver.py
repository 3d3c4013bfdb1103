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
from kolmocli.language.search.weaves import children, first_guess


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
SLACK, FIRST, EXPAND, BEGIN, IMPROVE = 150, 8, 2, 2, 1
def solve(sequence: Sequence[int], *, seconds: float = 1.0, steps: int | None = None) -> Solution:
    started = time.monotonic()
    value = tuple(sequence)
    literal = literal_bits(value)
    best = Program((Call("set_list", (value,)),))
    bits = literal
    budget = Budget(steps, seconds)
    try:
        first = plain(value)
        guess = first_guess(first, budget)
        root = (guess.score, 0, guess, 0)
        to_expand, to_begin, to_improve = [root], [root], []
        counter = itertools.count(1)
        popped = 0
        quickest = 1<<60
        lowest = root[0]
        seen = {first}
        def done(naming):
            nonlocal quickest, best, bits
            if naming.bits < 1.03 * quickest:
                quickest = min(quickest, naming.bits)
                order, new = arrange(naming.root(), 16)
                if new < bits:
                    program = canonical(program_of(order))
                    if tuple(evaluate(program)) == value:
                        best, bits = program, coded_bits(program)
                        DEBUG[value] = (budget.steps, popped, [len(s.items) for s in naming.weave])
        while to_begin or to_improve or to_expand:
            for _ in range(BEGIN):
                if to_begin and to_begin[0][0] < lowest + SLACK:
                    _, _, guess, depth = heapq.heappop(to_begin)
                    naming = Naming(guess.weave, budget)
                    naming.begin()
                    done(naming)
                    heapq.heappush(to_improve, (naming.bits, next(counter), naming))
            for _ in range(IMPROVE):
                if to_improve:
                    _, _, naming = heapq.heappop(to_improve)
                    if naming.bits < 1.3 * quickest:
                        naming.improve()
                        done(naming)
                    popped += 1
            for _ in range(EXPAND if popped > 1 else FIRST):
                if not to_expand:
                    break
                if to_expand[0][0] > lowest + SLACK:
                    to_expand.clear()
                    break
                _, _, guess, depth = heapq.heappop(to_expand)
                for child in children(guess, budget):
                    if child.weave not in seen:
                        seen.add(child.weave)
                        entry = (child.score, next(counter), child, depth + 1)
                        lowest = min(lowest, child.bits)
                        if depth < 7:
                            heapq.heappush(to_expand, entry)
                        heapq.heappush(to_begin, (child.bits, *entry[1:]))
            if not to_improve and not to_expand and to_begin and to_begin[0][0] >= lowest + SLACK:
                break
        DEBUG['end'] = (budget.steps, popped)
    except Spent:
        pass
    return Solution(best, bits, literal, time.monotonic() - started, "literal" if bits == literal else "search")
