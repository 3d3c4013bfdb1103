"""Sequences in which each item follows from the ones before: polynomials, geometric and Fibonacci-like, congruential.

    x[n] = constant + c1·x[n-1] + … + ck·x[n-k]      (modulo `modulus`, where that is not 0)

A polynomial of degree d is one of order d: its d-th difference is the constant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

MOST_ORDER = 8
_LARGEST = 1 << 63


@dataclass(frozen=True, slots=True)
class Recurrence:
    """`count` items, of which the first are `seeds`, as many as there are coefficients."""

    coefficients: tuple[int, ...]
    constant: int
    modulus: int
    seeds: tuple[int, ...]
    count: int

    def items(self) -> tuple[int, ...]:
        """All items.

        Raises:
            ValueError: when an item does not fit 64 bits, or there are fewer seeds than coefficients.
        """
        if not 1 <= len(self.coefficients) == len(self.seeds) <= MOST_ORDER:
            raise ValueError("a recurrence with too many coefficients")
        items = list(self.seeds[: self.count])
        while len(items) < self.count:
            value = self.follow(items)
            if not -_LARGEST < value < _LARGEST:
                raise ValueError("an item of a recurrence is too large")
            items.append(value)
        return tuple(items)

    def follow(self, items: Sequence[int]) -> int:
        """The item behind these."""
        value = self.constant
        for back, coefficient in enumerate(self.coefficients, start=1):
            value += coefficient * items[-back]
        return value % self.modulus if self.modulus else value

    def __str__(self) -> str:
        """The rule as a formula."""
        terms = [(c, f"x[n-{k}]") for k, c in enumerate(self.coefficients, start=1) if c]
        terms += [(self.constant, "")] if self.constant or not terms else []
        text = ""
        for factor, name in terms:
            sign = (" - " if factor < 0 else " + ") if text else ("-" if factor < 0 else "")
            size = str(abs(factor)) if abs(factor) != 1 or not name else ""
            text += sign + "·".join(part for part in (size, name) if part)
        return f"x[n] = ({text}) mod {self.modulus}" if self.modulus else f"x[n] = {text}"


def binomial_recurrence(degree: int, difference: int) -> tuple[tuple[int, ...], int]:
    """Coefficients and constant of the sequences whose `degree`-th difference is `difference`."""
    row = [1]
    for _ in range(degree):
        row = [a - b for a, b in zip([*row, 0], [0, *row], strict=True)]
    return tuple(-c for c in row[1:]), difference
