"""A kind of task of one's own: write Python that makes the first primes above a number.

    python examples/own_family.py
    kolmo train --plugin examples/own_family.py examples/own_family.yaml

The check runs here, on the plain value that the program ended with; the program itself runs in the sandbox.
"""

import random
import tempfile
from pathlib import Path

import kolmocli as kolmo


def primes_above(start: int, count: int) -> list[int]:
    found: list[int] = []
    number = start + 1
    while len(found) < count:
        if number > 1 and all(number % divisor for divisor in range(2, int(number**0.5) + 1)):
            found.append(number)
        number += 1
    return found


@kolmo.family("primes", levels=3)
def primes(level: int, rng: random.Random, *, count: int = 2) -> kolmo.Task:
    """`count` becomes a key of the family's section in a curriculum file."""
    start = rng.randrange(10**level)
    right = primes_above(start, count)
    return kolmo.Task(
        prompt=f"{count} primes above {start}",
        check=lambda value: list(value) == right,
        reference=f"output = {right}",
    )


def main() -> None:
    curriculum = {
        "name": "primes",
        "families": {"primes": {"count": 1}},
        "model": {"name": "tiny"},
        "warmup": {"max_steps": 40, "until": 0.2},
        "training": {"steps": 4, "batch_size": 32, "max_new_tokens": 24},
        "evaluation": {"tasks": 12},
        "report": False,
    }
    with tempfile.TemporaryDirectory() as folder:
        summary = kolmo.train(curriculum, families=[primes], run_dir=Path(folder) / "run")
        report = kolmo.evaluate(Path(folder) / "run", families=[primes], tasks=12)
    print(f"{summary['rollouts']} programs were run, {summary['pass_rate']['mean']:.0%} of them passed")
    print(f"held-out accuracy {report['accuracy']:.0%} of {report['n']} tasks, after {summary['steps']} steps")


if __name__ == "__main__":
    main()
