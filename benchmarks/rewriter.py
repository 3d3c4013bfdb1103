"""The environment of rewriting, before anything is learnt: lines of the shortest program so far are replaced at random.

    python benchmarks/rewriter.py --pairs 100 --seed 3

State: the shortest program that makes the sequence, at first the one that the search finds, or with `--from-sampler` the one
that the sampler drew. Action: a line is replaced by a call drawn uniformly, of earlier lines and of integers that the program
has or that are one off, or it goes, and an earlier line stands in for it. An action passes if the program still makes the
sequence and has become shorter; that is the pass rate with which learning would begin.
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Sequence

from paired import positive

import kolmocli as kolmo
from kolmocli.language.coder import coded_bits
from kolmocli.language.interpreter import ExecutionError, evaluate
from kolmocli.language.program import PREDICATES, SIGNATURES, Argument, Call, Kind, Program, Ref, Statement, canonical
from kolmocli.language.sampler import sample
from kolmocli.language.sampler_settings import PUBLISHED

FUNCTIONS = [name for name, kinds in SIGNATURES.items() if Kind.LIST not in kinds]


def integers(program: Program) -> list[int]:
    constants = {
        a for call in program.statements if isinstance(call, Call) for a in call.arguments if isinstance(a, int)
    }
    return sorted({value + more for value in constants | {0, 1} for more in (-1, 0, 1)})


def drawn_call(at: int, constants: Sequence[int], rng: random.Random) -> Call:
    """A call for the line at this index."""
    function = rng.choice(FUNCTIONS if at else [name for name in FUNCTIONS if Kind.REF not in SIGNATURES[name]])
    draw = {
        Kind.INT: lambda: rng.choice(constants),
        Kind.REF: lambda: Ref(rng.randrange(at)),
        Kind.PREDICATE: lambda: rng.choice(PREDICATES),
    }
    arguments: list[Argument] = [draw[kind]() for kind in SIGNATURES[function]]
    return Call(function, tuple(arguments))


def without(program: Program, at: int, instead: int) -> Program:
    """The program without this line; an earlier one stands in for it."""

    def moved(statement: Statement) -> Statement:
        assert isinstance(statement, Call)
        new = [
            Ref(instead if a.index == at else a.index - (a.index > at)) if isinstance(a, Ref) else a
            for a in statement.arguments
        ]
        return Call(statement.function, tuple(new))

    return Program((*program.statements[:at], *map(moved, program.statements[at + 1 :])))


def rewritten(program: Program, rng: random.Random) -> Program:
    at = rng.randrange(len(program))
    if at and at < len(program) - 1 and rng.random() < 0.3:
        return without(program, at, rng.randrange(at))
    call = drawn_call(at, integers(program), rng)
    return Program((*program.statements[:at], call, *program.statements[at + 1 :]))


def walked(program: Program, actions: int, rng: random.Random) -> tuple[int, int, int]:
    """Bits at the end, and of the actions those that made the sequence, and those that passed."""
    value, best = evaluate(program), canonical(program)
    bits, right, passed = coded_bits(best), 0, 0
    for _ in range(actions):
        candidate = rewritten(best, rng)
        try:
            if candidate == best or evaluate(candidate) != value:
                continue
        except ExecutionError:
            continue
        right += 1
        if coded_bits(shorter := canonical(candidate)) < bits:
            best, bits, passed = shorter, coded_bits(shorter), passed + 1
    return bits, right, passed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=positive, default=100)
    parser.add_argument("--actions", type=positive, default=20_000, help="for each program (default: %(default)s)")
    parser.add_argument("--steps", type=positive, default=1_000_000, help="of the search (default: %(default)s)")
    parser.add_argument("--from-sampler", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    o = parser.parse_args()
    rng, before, after, right, passed, shortened = random.Random(o.seed), 0, 0, 0, 0, 0
    for _ in range(o.pairs):
        pair = sample(rng, PUBLISHED)
        drawn = pair.program if o.from_sampler else kolmo.solve(pair.sequence, seconds=math.inf, steps=o.steps).program
        program = canonical(drawn)
        bits, *counts = walked(program, o.actions, rng)
        before, after = before + coded_bits(program), after + bits
        right, passed, shortened = right + counts[0], passed + counts[1], shortened + bool(counts[1])
    actions = o.pairs * o.actions
    print(f"{o.pairs} programs of {'the sampler' if o.from_sampler else 'the search'}, {o.actions:,} actions each")
    print(f"make the sequence {right / actions:.4%} of the actions; pass {passed} of {actions:,}")
    print(f"shortened {shortened} programs; bits {after / before:.4f} of those before")


if __name__ == "__main__":
    main()
