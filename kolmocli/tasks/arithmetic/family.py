"""The six families of `arithmetic`, registered."""

from __future__ import annotations

from kolmocli.tasks.arithmetic import calculation, integers, stories
from kolmocli.tasks.family import FunctionKind, families

_LADDERS = (
    (calculation.sums, calculation.SUMS),
    (calculation.addition, calculation.ADDITION),
    (calculation.subtraction, calculation.SUBTRACTION),
    (calculation.products, calculation.PRODUCTS),
    (integers.digits, integers.DIGITS),
    (integers.order, integers.ORDER),
    (stories.stories, stories.STORIES),
)

for _generator, _levels in _LADDERS:
    _name = f"arithmetic/{_generator.__name__}"
    families.add(_name, FunctionKind(_name, _generator, len(_levels), "text", True), builtin=True)
