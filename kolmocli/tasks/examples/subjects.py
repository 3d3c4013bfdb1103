"""Inputs of the functions of a subject: those that everyone sees, those of one task, and their notation.

*Landmarks* are the same for all functions of a subject, and every task has them among its inputs. Two functions that agree
on them are one function here, and are held out together; so no task of evaluation behaves like one of training.

*Probes* are shown, and let constants be read off: `x*3+57` of 1000 is 3057. A policy of a few hundred thousand weights learns to
copy digits in minutes, and arithmetic in none.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kolmocli.tasks.examples.list_programs import FILTER_PROGRAMS, FOLD_PROGRAMS, MAP_PROGRAMS
from kolmocli.tasks.examples.programs import NUMBER_PROGRAMS, PAIR_PROGRAMS, STRING_PROGRAMS
from kolmocli.tasks.examples.shapes import (
    FILTERS,
    FOLDS,
    MAPS,
    NUMBERS,
    PAIRS,
    STRINGS,
    Arguments,
    Function,
    Ladder,
    LadderName,
    SubjectName,
)


@dataclass(frozen=True, slots=True)
class Subject:
    """Subject of functions, with their inputs: `probes` are shown with every task, `landmarks` are kept, `draw` makes more."""

    parameters: str
    ladder: Ladder
    probes: Sequence[Arguments]
    landmarks: Sequence[Arguments]
    draw: Callable[[random.Random], Arguments]
    borders: Callable[[Function], Sequence[Arguments]] = lambda function: ()
    """Inputs around the numbers at which a function changes its mind, which are shown too."""
    spread: float = 0.6
    """Chance that a level draws from a further rung, as a share of that of the rung before."""

    def behaviour(self, function: Function) -> tuple[Any, ...]:
        return tuple(function(*arguments) for arguments in self.landmarks)


def _number(rng: random.Random) -> Arguments:
    return (rng.randint(-9, 99),)


def _list(rng: random.Random) -> Arguments:
    return (rng.choices(range(10), k=2),)


def _string(rng: random.Random) -> Arguments:
    return ("".join(rng.choices("abcdefgh", k=rng.randint(2, 3))),)


def _pair(rng: random.Random) -> Arguments:
    return rng.randint(0, 9), rng.randint(0, 9)


def _sorted_list(rng: random.Random) -> Arguments:
    return (sorted(rng.choices(range(100), k=3)),)


def _borders(function: Function) -> Sequence[Arguments]:
    """Every border with its neighbours, and one number far below and one far above."""
    near = {number + offset for slot, number in function.constants if slot in "nk" for offset in (-1, 0, 1)}
    return [(sorted({0, 100} | near),)]


SUBJECTS: Mapping[SubjectName, Subject] = {
    "numbers": Subject(
        "x", NUMBERS, ((1000,), (0,)),
        tuple((x,) for x in (-100, -7, -2, -1, 0, 1, 2, 3, 10, 17, 50, 88, 100, 1000)), _number,
    ),
    "maps": Subject("v", MAPS, (([1000, 0],),), (([1000, 0],), ([],), ([7],), ([-3, 5, 5, 1, 88],), ([0, 40, 99],)), _list),
    "filters": Subject(
        "v", FILTERS, (), ((list(range(101)),), ([],), ([50],), ([-5, 1000, 3, 3, 70, 20],)), _sorted_list, _borders,
    ),
    "folds": Subject(
        "v", FOLDS, (([2000, 5000, 1000],), ([0],)),
        (([2000, 5000, 1000],), ([0],), ([7],), ([-3, 5, 5, 1],), ([1, -2],), ([9, 8, 40],)), _list,
    ),
    "strings": Subject("s", STRINGS, (("ab",),), (("ab",), ("",), ("q",), ("noon",), ("abc def",)), _string),
    "pairs": Subject(
        "a,b", PAIRS, ((5000, 1000), (0, 0)),
        ((5000, 1000), (0, 0), (100, 1000), (3, 4), (4, 3), (-5, 2), (7, 7), (0, 1), (1, 0)), _pair,
    ),
}  # fmt: skip


def _longer(
    name: SubjectName, ladder: Ladder, probes: Sequence[Arguments], landmarks: Sequence[Arguments] = ()
) -> Subject:
    """The subject with its long ladder: other probes, which tell programs apart, and more landmarks."""
    short = SUBJECTS[name]
    return replace(
        short, ladder=ladder, probes=probes, landmarks=(*short.landmarks, *probes, *landmarks), spread=_SPREAD
    )


_SPREAD = 0.5
"""For a ladder with more rungs, whose ends should lie further apart."""
LONGER: Mapping[SubjectName, Subject] = {
    "numbers": _longer("numbers", NUMBER_PROGRAMS, ((1000,), (0,), (-1000,), (1001,))),
    "maps": _longer("maps", MAP_PROGRAMS, (([1000, 2000, -1000, 0],),)),
    "filters": _longer("filters", FILTER_PROGRAMS, ()),
    "folds": _longer(
        "folds", FOLD_PROGRAMS, (([2000, 10000, -11000],), ([0],))
    ),  # their sum is 1000, the largest 10000
    "strings": _longer("strings", STRING_PROGRAMS, (("ab",), ("bdac",)), (("cab",),)),
    "pairs": _longer("pairs", PAIR_PROGRAMS, ((1000, 100), (0, 0)), ((6, 4), (2, -5))),
}
LADDERS: Mapping[LadderName, Mapping[SubjectName, Subject]] = {"expressions": SUBJECTS, "programs": LONGER}
