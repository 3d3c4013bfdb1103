"""A question whose answer is one number or a list of numbers, read without regard to form: the last numbers count.

A model that can read answers in a sentence, in a formula or with the bare number. Form is not what is taught here, so none
is asked for: the last number of the text is the answer, and of a list the last numbers in their order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kolmocli.tasks.answers.task import Reading, ReadTask
from kolmocli.tasks.answers.trees import Equal

_READ = 2_000
"""Characters at the end of a text that are looked at."""
_LONGEST = 18
"""Digits of a number. Longer ones answer nothing."""
_NUMBER = re.compile(r"(?:(?<![\w.,)])-)?(?<![0-9.])[0-9]++(?:\.[0-9]+)?")
_THOUSANDS = re.compile(r"(?<![0-9,.])([0-9]{1,3})((?:,[0-9]{3})+)(?![0-9,])")
_ENUMERATION = re.compile(r"(?m)^[ \t]*[0-9]{1,2}[.)][ \t]+(?=-?[0-9])")


@dataclass(frozen=True, slots=True, kw_only=True)
class NumbersTask(ReadTask):
    """It passes when the last numbers of the text are `numbers`, all of them and in this order."""

    numbers: tuple[int, ...]
    content: str
    """Operands, which make two questions the same whatever their words. Questions are held out by it."""

    def read(self, text: str, equal: Equal | None = None) -> Reading:
        found = last_numbers(text, len(self.numbers))
        right = found == self.numbers
        return Reading(found is not None, right, right, found is not None, found[-1] if found else None)


def last_numbers(text: str, count: int) -> tuple[int, ...] | None:
    """The last `count` numbers of a text; None where it has fewer, or where one of them is no whole number.

    `1,234` is one number where one is asked for, and two in a list. The numbers of a numbered list do not count.
    """
    end = text[-_READ:]
    if count == 1:
        end = _THOUSANDS.sub(lambda found: found[1] + found[2].replace(",", ""), end)
    else:
        end = _ENUMERATION.sub("", end)
    found = [number[0] for number in _NUMBER.finditer(end)][-count:]
    if len(found) < count or any("." in number and number.rstrip("0")[-1] != "." for number in found):
        return None
    whole = [number.partition(".")[0] for number in found]
    return None if any(len(number) > _LONGEST for number in whole) else tuple(int(number) for number in whole)


def listed(numbers: Sequence[int]) -> str:
    """`3, 5 and 8`."""
    return ", ".join(map(str, numbers[:-1])) + f" and {numbers[-1]}"
