"""Questions about digits, as they were asked of language models first: sums of digits, and integers in reverse.

Random-access by (bucket, index). The splits share no seed, and no question: a tenth of all, chosen by a hash of their
numbers, is asked in evaluation only.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping, Sequence
from itertools import accumulate

from kolmocli.config import DigitFamily, ReverseDigits
from kolmocli.curriculum.base import Bucket
from kolmocli.errors import UsageError
from kolmocli.language.program import Program
from kolmocli.tasks.answers.levels import ReverseDigitsLevel, SumDigitsLevel
from kolmocli.tasks.answers.parsing import TAG
from kolmocli.tasks.base import Question, Split, Task

_HELD_OUT = 10
"""One question in so many is for evaluation."""
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


class DigitTasks:
    """Tasks of the digit families of a curriculum file."""

    def __init__(self, families: Mapping[str, DigitFamily], split: Split, seed: int) -> None:
        self.families = families
        self.split: Split = split
        self.seed = seed

    def buckets(self) -> list[Bucket]:
        return [Bucket(n, i + 1) for n, family in self.families.items() for i in range(len(family.levels))]

    def task(self, bucket: Bucket, index: int) -> Task:
        """The task with this index; the same for the same seed, on every machine.

        Raises:
            UsageError: nothing in this level is left for the split.
        """
        family = self.families[bucket.family]
        level = family.levels[bucket.level - 1]
        rng = random.Random(f"{self.seed}/{self.split}/{bucket}/{index}")
        for _ in range(_ATTEMPTS):
            numbers = _draw(level, rng)
            if is_held_out(numbers) == (self.split == "eval"):
                answer, question = (reverse_digits if isinstance(family, ReverseDigits) else sum_digits)(numbers)
                return Task(bucket, index, (answer,), question=question)
        raise UsageError(
            f"families.{bucket.family}.levels[{bucket.level - 1}]: {self.split}: no question is left; allow more digits"
        )

    def size(self, bucket: Bucket) -> int | None:
        return None

    def taught(self, bucket: Bucket) -> bool:
        return True

    def admits(self, program: Program, sequence: tuple[int, ...]) -> bool:
        """Never: what a program makes is no answer to a question."""
        return False


def is_held_out(numbers: Sequence[int]) -> bool:
    """Whether these numbers are for evaluation, in whatever order and of whichever family."""
    digest = hashlib.blake2b(repr(sorted(numbers)).encode(), digest_size=8).digest()
    return int.from_bytes(digest) % _HELD_OUT == 0


def sum_digits(numbers: Sequence[int]) -> tuple[int, Question]:
    """The answer and the question: the digits of all the numbers, added up."""
    totals = accumulate(int(digit) for number in numbers for digit in str(number))
    steps = [" ".join(f"{digit}:{next(totals)}" for digit in str(number)) for number in numbers]
    total = sum(int(digit) for number in numbers for digit in str(number))
    asked = f"What is the total digit sum of {list(numbers)}?"
    return total, Question(_SUM, asked, "sum " + " ".join(map(str, numbers)), _worked(steps, total))


def reverse_digits(numbers: Sequence[int]) -> tuple[int, Question]:
    """The answer and the question: the digits of the only number backwards, without leading zeros."""
    (number,) = numbers
    backwards = str(number)[::-1]
    answer = int(backwards)
    question = Question(
        _REVERSE, f"What is {number} reversed?", f"reverse {number}", _worked([" ".join(backwards)], answer)
    )
    return answer, question


def _worked(steps: Sequence[str], answer: int) -> str:
    return "\n".join([*steps, f"{TAG} {answer}"])


def _draw(level: SumDigitsLevel | ReverseDigitsLevel, rng: random.Random) -> list[int]:
    """As many integers as the level says, each evenly from all with so many digits."""
    count = rng.randint(*level.integers) if isinstance(level, SumDigitsLevel) else 1
    least, most = level.digits
    return [rng.randint(10 ** (least - 1), 10**most - 1) for _ in range(count)]
