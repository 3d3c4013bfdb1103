"""Questions about digits, as they were asked of language models first: sums of digits, and integers in reverse.

Random-access by (bucket, index). The splits share no seed, and no question: a tenth of all, chosen by a hash of their
numbers, is asked in evaluation only.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from kolmocli.curriculum.base import Bucket
from kolmocli.errors import UsageError
from kolmocli.seeds import content_key
from kolmocli.tasks.answers.parsing import TAG, extract_answer, is_tagged, strict_answer
from kolmocli.tasks.answers.settings import ReverseDigits, ReverseDigitsLevel, SumDigits, SumDigitsLevel
from kolmocli.tasks.answers.task import AnswerTask, Reading
from kolmocli.tasks.answers.trees import Equal
from kolmocli.tasks.base import Language, Prompt, Split
from kolmocli.tasks.family import Family, families
from kolmocli.tasks.files.separation import Taken

_HELD_OUT = 10
"""One question in this many is for evaluation."""
_ATTEMPTS = 2_000

_SUM = f"""\
You add up digits. Go through all digits of all integers, from left to right. For each write the digit, a colon and the \
total so far, with a line for each integer. Then write the line "{TAG} " with the last total, and nothing after it.

Example. What is the total digit sum of [31, 508]?
3:3 1:4
5:9 0:9 8:17
{TAG} 17"""

_REVERSE = f"""\
You write integers backwards. First write the digits from the last to the first, with a blank between them. Then write \
the line "{TAG} " with the digits as one integer, without the zeros that it would begin with, and nothing after it.

Example. What is 90720 reversed?
0 2 7 0 9
{TAG} 2709"""


@dataclass(frozen=True, slots=True, kw_only=True)
class DigitTask(AnswerTask):
    """A question whose answer is one integer, read by the rules that these tasks were founded with: the tag alone counts."""

    answer: int

    @property
    def length(self) -> int:
        """The same for all: a question is short."""
        return 1

    @property
    def judged_by(self) -> str | None:
        return None

    def read(self, text: str, equal: Equal | None = None) -> Reading:
        strict, found = strict_answer(text), extract_answer(text)
        return Reading(strict is not None, strict == self.answer, found == self.answer, is_tagged(text), found)


Ask = Callable[[Sequence[int]], DigitTask]
"""From some integers to the question about them."""


class DigitTasks(Family):
    """The tasks of one section."""

    def __init__(self, name: str, settings: SumDigits | ReverseDigits, ask: Ask, split: Split, seed: int) -> None:
        self.name, self.settings, self.split, self.seed = name, settings, split, seed
        self._ask = ask

    def task(self, level: int, index: int) -> DigitTask:
        """Raises UsageError when nothing in this level is left for the split."""
        bucket = Bucket(self.name, level)
        rng = random.Random(f"{self.seed}/{self.split}/{bucket}/{index}")
        for _ in range(_ATTEMPTS):
            numbers = _draw(self.settings.levels[level - 1], rng)
            if is_held_out(numbers) == (self.split == "eval"):
                return replace(self._ask(numbers), bucket=bucket, index=index)
        raise UsageError(
            f"families.{self.name}.levels[{level - 1}]: {self.split}: no question is left; allow more digits"
        )


@dataclass(frozen=True)
class DigitKind:
    """Questions about the digits of integers."""

    name: str
    settings: type[SumDigits | ReverseDigits]
    ask: Ask
    language: Language = "text"

    def open(
        self, bucket_family: str, settings: SumDigits | ReverseDigits, split: Split, seed: int, taken: Taken
    ) -> DigitTasks:
        return DigitTasks(bucket_family, settings, self.ask, split, seed)


def is_held_out(numbers: Sequence[int]) -> bool:
    """Whether these numbers are for evaluation, in whatever order and of whichever family."""
    return content_key(repr(sorted(numbers))) % _HELD_OUT == 0


def sum_digits(numbers: Sequence[int]) -> DigitTask:
    """The digits of all the numbers, added up."""
    totals = accumulate(int(digit) for number in numbers for digit in str(number))
    steps = [" ".join(f"{digit}:{next(totals)}" for digit in str(number)) for number in numbers]
    total = sum(int(digit) for number in numbers for digit in str(number))
    asked = f"What is the total digit sum of {list(numbers)}?"
    return _question(_SUM, asked, "sum " + " ".join(map(str, numbers)), steps, total)


def reverse_digits(numbers: Sequence[int]) -> DigitTask:
    """The digits of the only number backwards, without leading zeros."""
    (number,) = numbers
    backwards = str(number)[::-1]
    return _question(
        _REVERSE, f"What is {number} reversed?", f"reverse {number}", [" ".join(backwards)], int(backwards)
    )


def _question(system: str, text: str, short: str, steps: Sequence[str], answer: int) -> DigitTask:
    """`steps` are the lines of the worked answer before the last one."""
    worked = "\n".join([*steps, f"{TAG} {answer}"])
    return DigitTask(prompt=Prompt(text, system, short), answer=answer, reference=worked)


def _draw(level: SumDigitsLevel | ReverseDigitsLevel, rng: random.Random) -> list[int]:
    """As many integers as the level says, each drawn evenly from all with its number of digits."""
    count = rng.randint(*level.integers) if isinstance(level, SumDigitsLevel) else 1
    least, most = level.digits
    return [rng.randint(10 ** (least - 1), 10**most - 1) for _ in range(count)]


SUM_DIGITS = families.add("sum_digits", DigitKind("sum_digits", SumDigits, sum_digits), builtin=True)
REVERSE_DIGITS = families.add(
    "reverse_digits", DigitKind("reverse_digits", ReverseDigits, reverse_digits), builtin=True
)
