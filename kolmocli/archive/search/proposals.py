"""Programs from a policy: asked for once per literal, verified, repaired where nearly right, and kept where cheaper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from kolmocli.archive.format.stored import Fresh, Stored, StoredCall, stored
from kolmocli.archive.search.repairs import repair
from kolmocli.archive.time_budget import TimeBudget
from kolmocli.language.coder import coded_bits
from kolmocli.language.interpreter import Bounds, ExecutionError, evaluate
from kolmocli.language.program import Program, canonical

TARGET_ITEMS = 32
"""Longer literals are cut: policies are trained on sequences of about this length."""
_MIN_TARGET = 6
_MOST_TARGETS = 128
"""Literals that are asked for per member; uncut ones come first, since what the search has cut out by itself has edges."""
_AT_ONCE = 64


class Proposer(Protocol):
    """Something that writes programs for sequences: a trained policy, or a test's stand-in."""

    def propose(self, targets: Sequence[tuple[int, ...]], samples: int, seed: int) -> list[list[Program]]:
        """`samples` programs or fewer for each target, right or wrong: the archive verifies every one."""
        ...


@runtime_checkable
class LearningProposer(Protocol):
    """A proposer that wants to know which programs were found right."""

    def learn(self, target: tuple[int, ...], program: Program) -> None: ...


@dataclass(frozen=True, slots=True)
class Piece:
    """A program, the items it takes from the residual, and how many items it makes."""

    program: Stored
    fresh: Sequence[int]
    count: int
    proposed: bool = False

    @property
    def literal(self) -> bool:
        return len(self.fresh) == self.count


def literal(count: int) -> Stored:
    """The program that takes `count` items from the residual."""
    return (StoredCall("set_list", (Fresh(count),)),)


@dataclass(frozen=True, slots=True)
class Proposal:
    """The cheapest verified program for a target: right as it was proposed, or repaired."""

    program: Stored
    fresh: tuple[int, ...]
    bits: float


@dataclass(slots=True)
class Proposals:
    """A proposer, and the programs that it has proposed so far."""

    proposer: Proposer
    samples: int
    seed: int
    budget: TimeBudget
    found: dict[tuple[int, ...], Proposal | None] = field(default_factory=dict)

    def replace(self, pieces: list[Piece], literal_bits: float) -> list[Piece]:
        """The pieces, with a program in place of each literal for which a right and cheaper one was proposed."""
        split = [part for piece in pieces for part in _cut(piece)]
        whole = [tuple(p.fresh) for p in pieces if p.literal and p.count <= TARGET_ITEMS]
        cut = [tuple(p.fresh) for p in split if p.literal]
        self._ask([t for t in dict.fromkeys([*whole, *cut]) if len(t) >= _MIN_TARGET], literal_bits)
        out = []
        for piece in split:
            found = self.found.get(tuple(piece.fresh)) if piece.literal else None
            if found is not None and found.bits < literal_bits * piece.count:
                piece = Piece(found.program, found.fresh, piece.count, proposed=True)
            out.append(piece)
        return out

    def _ask(self, targets: list[tuple[int, ...]], literal_bits: float) -> None:
        new = [t for t in targets if t not in self.found][: max(_MOST_TARGETS - len(self.found), 0)]
        for first in range(0, len(new), _AT_ONCE):
            if self.budget.late():
                return
            batch = new[first : first + _AT_ONCE]
            proposed = self.proposer.propose(batch, self.samples, self.seed + first)
            for target, programs in zip(batch, proposed, strict=True):
                self.found[target] = self._cheapest(programs, target, literal_bits)

    def _cheapest(self, programs: Sequence[Program], target: tuple[int, ...], literal_bits: float) -> Proposal | None:
        """The verified program with the fewest bits, repairs and the items that they write included."""
        right = []
        for program in programs:
            try:
                made = tuple(evaluate(program, Bounds(items=1 << 16))) if len(program) else ()
            except ExecutionError:
                continue
            if not made:
                continue
            program = canonical(program)
            if made == target:
                right.append(Proposal(stored(program), (), coded_bits(program)))
                if isinstance(self.proposer, LearningProposer):
                    self.proposer.learn(target, program)
            elif mended := repair(program, made, target, literal_bits):
                right.append(Proposal(mended.program, mended.fresh, coded_bits(program) + mended.bits))
        return min(right, key=lambda proposal: proposal.bits, default=None)


def _cut(piece: Piece) -> list[Piece]:
    if not piece.literal or piece.count <= TARGET_ITEMS:
        return [piece]
    parts = [piece.fresh[at : at + TARGET_ITEMS] for at in range(0, piece.count, TARGET_ITEMS)]
    return [Piece(literal(len(part)), part, len(part)) for part in parts]
