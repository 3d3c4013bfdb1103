"""Word problems of one to four steps, from templates with many surfaces: people, things, places, and what happens."""

from __future__ import annotations

import random

from kolmocli.tasks.arithmetic.task import NumbersTask

_PEOPLE = [
    "Anna",
    "Ben",
    "Clara",
    "David",
    "Emma",
    "Felix",
    "Grace",
    "Henry",
    "Iris",
    "Jack",
    "Kate",
    "Leo",
    "Maria",
    "Nina",
    "Oscar",
    "Paul",
    "Quinn",
    "Rosa",
    "Sam",
    "Tom",
    "Uma",
    "Victor",
    "Wendy",
    "Zoe",
]
_THINGS = [
    "apples",
    "books",
    "coins",
    "stickers",
    "marbles",
    "eggs",
    "pens",
    "cards",
    "shells",
    "stamps",
    "oranges",
    "cookies",
    "balloons",
    "candles",
    "flowers",
    "buttons",
    "bottles",
    "tickets",
    "pencils",
    "nuts",
]
_GAIN = (
    "{who} gets {n} more.", "{other} gives {who} {n} {things}.", "{who} buys {n} {things}.", "{who} finds {n} more {things}.",
    "Then {n} {things} are added.", "{who} wins {n} {things} from {other}.",
)  # fmt: skip
_LOSS = (
    "{who} gives {n} {things} to {other}.", "{who} loses {n} of them.", "{who} sells {n} {things}.",
    "{other} takes {n} {things} away.", "Then {n} {things} are lost.", "{who} throws {n} {things} away.",
)  # fmt: skip
_DOUBLE = ("Then the number of {things} doubles.", "{other} doubles what {who} has.")
_TIMES = (
    "There are {n} boxes with {each} {things} in each.",
    "{who} has {n} bags, and every bag holds {each} {things}.",
)
_START = ("{who} has {n} {things}.", "There are {n} {things} in {who}'s box.", "{who} starts with {n} {things}.")
_ASK = (
    "How many {things} does {who} have now?", "How many {things} are there in the end?", "How many {things} are left?",
)  # fmt: skip

STORIES = (
    (("+",), 7), (("+",), 9), (("-",), 9), (("+",), 20), (("-",), 20), (("+", "+"), 5), (("+", "-"), 9), (("-", "-"), 12),
    (("*",), 9), (("+",), 99), (("-",), 99), (("*", "+"), 9), (("*", "-"), 9), (("+", "2"), 9), (("+", "-", "+"), 9),
    (("+", "-"), 50), (("*", "-", "+"), 9), (("+", "-", "+", "-"), 9), (("*", "+", "-", "2"), 9),
)  # fmt: skip
"""(what happens, the largest number) at each level: + gains, - losses, 2 a doubling, * a number of equal boxes at first."""


def stories(level: int, rng: random.Random) -> NumbersTask:
    """Questions about the number of somebody's things after one to four events."""
    events, largest = STORIES[level - 1]
    who, other = rng.sample(_PEOPLE, 2)
    things = rng.choice(_THINGS)
    said: list[str] = []
    operands: list[str] = []

    def say(templates: tuple[str, ...], n: int = 0, each: int = 0) -> None:
        named = things[:-1] if n == 1 else things
        said.append(rng.choice(templates).format(who=who, other=other, things=named, n=n, each=each))

    if events[0] == "*":
        boxes, each = rng.randint(2, largest), rng.randint(2, largest)
        count = boxes * each
        operands.append(f"{boxes}*{each}")
        say(_TIMES, boxes, each)
    else:
        count = rng.randint(2, largest)
        operands.append(str(count))
        say(_START, count)
    for event in events[1:] if events[0] == "*" else events:
        if event == "2":
            count *= 2
            say(_DOUBLE)
        elif event == "+" or count < 2:
            event, n = "+", rng.randint(2, largest)
            count += n
            say(_GAIN, n)
        else:
            n = rng.randint(1, min(largest, count - 1))
            count -= n
            say(_LOSS, n)
        operands.append("2" if event == "2" else f"{event}{n}")
    say(_ASK)
    return NumbersTask(
        prompt=" ".join(said), numbers=(count,), content="story " + " ".join(operands), reference=str(count)
    )
