"""Questions about the digits of a number, and about numbers in order."""

from __future__ import annotations

import random

from kolmocli.tasks.arithmetic.task import NumbersTask, listed

_PLACES = ("first", "second", "third", "fourth", "fifth", "sixth")

DIGITS = (
    ("last", 2), ("first", 3), ("last", 4), ("sum", 2), ("second", 3), ("reverse", 2), ("sum", 3), ("third", 5), ("count", 5),
    ("reverse", 3), ("sum", 4), ("reverse", 4), ("count", 8), ("sum", 6), ("reverse", 6),
)  # fmt: skip
"""(what is asked of a number, its digits) at each level."""
ORDER = (
    ("larger", 2, 9), ("larger", 2, 99), ("largest", 3, 9), ("smallest", 3, 9), ("largest", 3, 99), ("largest", 5, 99),
    ("smallest", 5, 99), ("ascending", 2, 99), ("ascending", 3, 9), ("ascending", 3, 99), ("second", 3, 99), ("descending", 3, 99),
    ("ascending", 4, 99), ("second", 5, 99), ("descending", 4, 99), ("ascending", 6, 99),
)  # fmt: skip
"""(what is asked of some numbers, how many they are, the largest of them) at each level."""

_ASKED = {
    "first": ("What is the first digit of {n}?", "Which digit does {n} begin with?"),
    "last": ("What is the last digit of {n}?", "Which digit does {n} end with?"),
    "sum": (
        "What is the sum of the digits of {n}?",
        "Add up the digits of {n}.",
        "What do the digits of {n} add up to?",
    ),
    "reverse": ("Write {n} backwards.", "What is {n} with its digits in reverse?", "Reverse the digits of {n}."),
    "count": ("How many digits does {n} have?", "What is the number of digits of {n}?"),
    "larger": ("Which number is larger, {either}?", "Which is greater: {either}?"),
    "largest": ("What is the largest of {list}?", "Which of {list} is the greatest number?"),
    "smallest": ("What is the smallest of {list}?", "Which of {list} is the least number?"),
    "second_largest": ("What is the second largest of {list}?", "Which of {list} is the second greatest?"),
    "ascending": ("Sort {list} from the smallest to the largest.", "Write {list} in ascending order."),
    "descending": ("Sort {list} from the largest to the smallest.", "Write {list} in descending order."),
}


def digits(level: int, rng: random.Random) -> NumbersTask:
    """A digit of a number, the number of its digits, their sum, or the number backwards."""
    asked, count = DIGITS[level - 1]
    number = rng.randint(10 ** (count - 1), 10**count - 1)
    if asked == "count":
        number = rng.randint(1, 10 ** rng.randint(1, count) - 1)
    if asked == "reverse" and number % 10 == 0:
        number += rng.randint(1, 9)
    written = str(number)
    right = {
        "first": int(written[0]), "last": int(written[-1]), "sum": sum(map(int, written)), "reverse": int(written[::-1]),
        "count": len(written),
    }.get(asked)  # fmt: skip
    if right is None:
        right = int(written[_PLACES.index(asked)])
        words = f"What is the {asked} digit of {{n}}?"
    else:
        words = rng.choice(_ASKED[asked])
    return NumbersTask(
        prompt=words.format(n=number), numbers=(right,), content=f"digits {number}", reference=str(right)
    )


def order(level: int, rng: random.Random) -> NumbersTask:
    """The larger, largest, smallest or second largest of some numbers, or all of them in order."""
    asked, count, largest = ORDER[level - 1]
    numbers = rng.sample(range(1, largest + 1), count)
    ranked = sorted(numbers)
    right = {
        "larger": ranked[-1:], "largest": ranked[-1:], "smallest": ranked[:1], "second": ranked[-2:-1], "ascending": ranked,
        "descending": ranked[::-1],
    }[asked]  # fmt: skip
    words = rng.choice(_ASKED["second_largest" if asked == "second" else asked])
    text = words.format(list=listed(numbers), either=f"{numbers[0]} or {numbers[-1]}")
    return NumbersTask(
        prompt=text, numbers=tuple(right), content=f"order {ranked}", reference=", ".join(map(str, right))
    )
