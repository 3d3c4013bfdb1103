"""From a sequence to a short program that makes it.

A program of the language ends in merges, so the search begins at the end: it takes the sequence apart into strands in the
ways that promise the most (`weaves.py`), and for each of them asks which values to name (`names.py`). Three queues keep the
balance between ways to look at, ways to begin with and beginnings to improve. Nothing is taken on trust: a program counts
only once the interpreter has made the sequence of it.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count
from operator import index

from kolmocli.errors import UsageError
from kolmocli.language.coder import coded_bits, literal_bits
from kolmocli.language.interpreter import DEFAULT_BOUNDS, ExecutionError, evaluate
from kolmocli.language.program import Call, Program, Ref, canonical
from kolmocli.language.search.budget import Budget, Spent
from kolmocli.language.search.known import node_of, reaching, values_of, weave_of
from kolmocli.language.search.likely import Guide, LikelyWeaves
from kolmocli.language.search.long import program_of_runs, unit_of
from kolmocli.language.search.names import Naming
from kolmocli.language.search.nodes import Value, program_of
from kolmocli.language.search.order import arrange
from kolmocli.language.search.strands import Weave, plain
from kolmocli.language.search.weaves import Guess, children, first_guess

_LONGEST = 4096
"""In a longer sequence only repetitions and ramps are searched: some moves take the square of its length."""
_LONG = 512
"""For a longer one a program is kept before anything is named, in case there is no time for that."""
_LAST_MOVE = 2e-5
"""Seconds for each item that are kept back for the move during which the time runs out."""
_QUICK = 4
"""Items looked at in one step where they are looked at once."""
_LARGEST = 10**17
"""The language writes integers of up to 18 characters, of which one may be the sign."""
_SLACK = 150
"""Ways that take this many bits more than the best are not tried."""
_FIRST, _EXPAND, _BEGIN = 100, 6, 2
"""Ways to take apart further in the first rounds and in each later one, and ways to begin with in each round."""
_DEEPEST = 7
"""Interleavings that are undone, one inside the other."""
_IMPROVABLE, _ARRANGEABLE = 1.3, 1.03
"""Limits above the best: of a beginning that is improved, and of a graph that is put in its best order."""
_IMPROVING = 1
"""Steps that may go into improving beginnings, for each one that goes into finding them."""
_WIDTH = 16
"""States that the search for that order keeps."""


@dataclass(frozen=True)
class Solution:
    """A program that makes the sequence, and what it takes."""

    program: Program
    bits: int
    """The program in the prefix code."""
    literal_bits: int
    """The sequence as one literal list."""
    seconds: float
    source: str
    """`literal` if nothing shorter than the list was found; else `search`, `policy` for a program that was known, or `both`
    for one that the search made of it."""

    def __str__(self) -> str:
        return str(self.program)

    @property
    def value(self) -> tuple[int, ...]:
        """Value of the program: the requested sequence."""
        return tuple(evaluate(self.program))


def solve(
    sequence: Sequence[int],
    *,
    seconds: float = 1.0,
    steps: int | None = None,
    known: Sequence[Program] = (),
    guide: Guide | None = None,
) -> Solution:
    """Find a short program for a sequence; at worst it is the sequence as one literal list.

    Args:
        sequence: at least one integer of up to 17 digits. Beyond 4,096 items only repetitions and ramps are found.
        seconds: when to stop. A move that has begun is finished.
        steps: where to stop, counted in work, so that the answer is the same on every machine if the time suffices.
        known: programs from elsewhere, perhaps for this sequence. Each is run and checked. The search begins with
            those that make the sequence, and looks for shorter ones with the values that they name.
        guide: ranks ways to take the sequence apart; the search begins with the likeliest of them beside its own.

    Raises:
        UsageError: if the sequence is empty, has an item of another kind, or is beyond what a program can make.
    """
    started = time.monotonic()
    value = solvable(sequence)
    literal = literal_bits(value)
    budget = Budget(steps, seconds - min(seconds / 2, _LAST_MOVE * min(len(value), _LONGEST)))
    if len(value) <= _LONGEST:
        program, bits, source = _searched(value, budget, known, guide)
    else:
        program, source = _long(value, budget, guide), "search"
        bits = coded_bits(program)
        for other in _right(known, value):
            if coded_bits(other) < bits:
                program, bits, source = other, coded_bits(other), "policy"
    if bits >= literal:
        program, bits, source = _literal(value), literal, "literal"
    return Solution(program, bits, literal, time.monotonic() - started, source)


def _searched(
    value: Value, budget: Budget, known: Sequence[Program] = (), guide: Guide | None = None
) -> tuple[Program, int, str]:
    """The best program that the budget allows, its bits, and where it is from.

    The collector of cycles rests meanwhile: a search makes none, and spent a seventh of its time on being looked through.
    """
    was = gc.isenabled()
    gc.disable()
    try:
        search = _Search(value, budget, guide)
        with suppress(Spent):
            search.run(known)
        best = search.program, search.bits, search.source
        del search  # or the collector would look through all of it once more
        return best
    finally:
        if was:
            gc.enable()


def _long(value: Value, budget: Budget, guide: Guide | None) -> Program:
    """A program for a long sequence: its unit, and how often that is repeated."""
    unit = unit_of(value)
    if len(unit) <= _LONGEST:
        program = _searched(unit, budget, guide=guide)[0]
    elif budget.affords(len(unit) // _QUICK):
        program = program_of_runs(unit)
    else:
        return _literal(value)
    if len(unit) < len(value):
        times = len(value) // len(unit)
        program = Program((*program.statements, Call("repeat_list", (times, Ref(len(program) - 1)))))
    return program if _makes(program, value) else _literal(value)


def solvable(sequence: Sequence[int]) -> Value:
    """The sequence as `solve` takes it.

    Raises:
        UsageError: it is empty, has an item of another kind, or is beyond what a program can make.
    """
    try:
        value = tuple(map(index, sequence))
    except TypeError:
        raise UsageError("solve takes a sequence of integers, such as [3, 4, 5]") from None
    if not value:
        raise UsageError("solve takes at least one integer; the sequence is empty")
    if len(value) >= DEFAULT_BOUNDS.items:
        raise UsageError(f"solve takes fewer than {DEFAULT_BOUNDS.items:,} integers: no program makes more")
    if max(map(abs, value)) >= _LARGEST:
        raise UsageError("solve takes integers of up to 17 digits and a sign; the language writes no longer ones")
    return value


def _right(programs: Sequence[Program], value: Value) -> list[Program]:
    """Those that make the value, in canonical form, the shortest first and each once."""
    found = {program: coded_bits(program) for p in programs if (program := reaching(p, value)) is not None}
    return sorted(found, key=lambda program: found[program])


def _literal(value: Value) -> Program:
    return Program((Call("set_list", (value,)),))


def _makes(program: Program, value: Value) -> bool:
    """Whether the program can be written down, and makes the value. Sums of large items may lie beyond the language."""
    calls = (statement for statement in program.statements if isinstance(statement, Call))
    constants = (argument for call in calls for argument in call.arguments if isinstance(argument, int))
    if any(abs(constant) >= _LARGEST for constant in constants):
        return False
    try:
        return tuple(evaluate(program)) == value
    except ExecutionError:
        return False


class _Search:
    """The queues, and the best program so far."""

    def __init__(self, value: Value, budget: Budget, guide: Guide | None) -> None:
        self.value = value
        self.budget = budget
        self._guide = guide
        self._likely: LikelyWeaves | None = None
        """None without a guide, and when it has nothing more to propose."""
        self._begun: set[Weave] = set()
        self.program = _literal(value)
        self.bits = literal_bits(value)
        self.source = "literal"
        self._quickest: float = float("inf")
        """The fewest bits of a graph in the order of need."""
        self._to_expand: list[list[tuple[float, int, Guess]]] = [[] for _ in range(_DEEPEST + 1)]
        """By how many interleavings are undone."""
        self._least = [float("inf")] * (_DEEPEST + 1)
        """The fewest bits of a way that was taken apart further, at each depth."""
        self._depth = 0
        self._to_begin: list[tuple[float, int, Guess]] = []
        self._to_improve: list[tuple[int, int, Naming]] = []
        self._improving = 0
        """Steps that went into beginnings to improve."""
        self._number = count()
        """Makes entries of equal bits come in the order in which they were found."""

    def run(self, known: Sequence[Program] = ()) -> None:
        """Search until nothing is left that promises anything, first of all with the help of known programs.

        Raises:
            Spent: if the budget ends before; the best program stays.
        """
        right = _right(known, self.value)
        for program in right:
            self._take(program, "policy")
        for program in right:
            self._learn(program)
        first = plain(self.value)
        guess = first_guess(first, self.budget)
        self._lowest = guess.bits
        self._seen = {first}
        heappush(self._to_expand[0], (guess.bits, next(self._number), guess))
        heappush(self._to_begin, (guess.bits, next(self._number), guess))
        if self._guide is not None:
            self._likely = LikelyWeaves(guess, self._guide, self.budget)
        rounds = 0
        while self._to_improve or any(self._to_expand) or self._promising() or self._likely:
            self._propose()
            for _ in range(_BEGIN):
                if self._promising():
                    self._begin()
            if self._improving <= _IMPROVING * (self.budget.used - self._improving) or not self._promising():
                self._improve()
            rounds += 1
            for _ in range(_EXPAND if rounds > 1 else _FIRST):
                self._expand()

    def _learn(self, program: Program) -> None:
        """Put a known program in its best order, and look for a shorter one that names what it names."""
        order, _ = arrange([("concatenate", node_of(program))], _WIDTH)
        self._take(canonical(program_of(order)), "both")
        for weave in dict.fromkeys((weave_of(program), plain(self.value))):
            naming = Naming(weave, self.budget)
            naming.offer(values_of(program))
            self._keep(naming, "both")
            naming.improve()
            self._keep(naming, "both")

    def _promising(self) -> bool:
        return bool(self._to_begin) and self._to_begin[0][0] < self._lowest + _SLACK

    def _propose(self) -> None:
        """Begin with what the guide thinks likeliest."""
        if self._likely is None:
            return
        if (weave := self._likely.next()) is None:
            self._likely = None
        else:
            self._name(weave)

    def _begin(self) -> None:
        self._name(heappop(self._to_begin)[2].weave)

    def _name(self, weave: Weave) -> None:
        """Begin to name values in this weave, unless that was done."""
        if weave in self._begun:
            return
        self._begun.add(weave)
        naming = Naming(weave, self.budget)
        if len(self.value) > _LONG:
            self._keep(naming)
        naming.begin()
        self._keep(naming)
        heappush(self._to_improve, (naming.bits, next(self._number), naming))

    def _improve(self) -> None:
        if self._to_improve:
            naming = heappop(self._to_improve)[2]
            if naming.bits < _IMPROVABLE * self._quickest:
                before = self.budget.used
                naming.improve()
                self._improving += self.budget.used - before
                self._keep(naming)

    def _expand(self) -> None:
        """Take a way apart further: the depths have their turns, so that what is wrong and looks well keeps nothing waiting."""
        if not any(self._to_expand):
            return
        while True:
            depth = self._depth
            self._depth = (depth + 1) % len(self._to_expand)
            if self._to_expand[depth]:
                break
        _, _, guess = heappop(self._to_expand[depth])
        self._least[depth] = min(self._least[depth], guess.bits)
        if guess.bits > self._least[depth] + _SLACK:
            self._to_expand[depth].clear()
            return
        for child in children(guess, self.budget):
            if child.weave not in self._seen:
                self._seen.add(child.weave)
                self._lowest = min(self._lowest, child.bits)
                number = next(self._number)
                if depth < _DEEPEST:
                    heappush(self._to_expand[depth + 1], (child.bits, number, child))
                heappush(self._to_begin, (child.bits, number, child))

    def _keep(self, naming: Naming, source: str = "search") -> None:
        """Take the program if it is the shortest so far and makes the sequence."""
        if naming.bits < _ARRANGEABLE * self._quickest:
            self._quickest = min(self._quickest, naming.bits)
            order, bits = arrange(naming.chain, _WIDTH)
            if bits < self.bits:
                self._take(canonical(program_of(order)), source)

    def _take(self, program: Program, source: str) -> None:
        bits = coded_bits(program)
        if bits < self.bits and _makes(program, self.value):
            self.program, self.bits, self.source = program, bits, source
