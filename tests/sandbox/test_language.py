"""The interpreter and the sandboxes are the same machine: thousands of sampled programs, every value of each."""

import random

from kolmocli.language.interpreter import execute
from kolmocli.language.sampler import sample
from kolmocli.sandbox import Job, Sandbox, Status

PROGRAMS = 2_000
SEED = 20_261


def test_the_values_of_sampled_programs_are_the_interpreters(sandbox: Sandbox) -> None:
    print(f"seed {SEED}")
    rng = random.Random(SEED)
    longest = sandbox.limits.max_items
    programs = [sample(rng).program for _ in range(PROGRAMS)]
    expected = [tuple(map(tuple, execute(program))) for program in programs]
    kept = [(p, e) for p, e in zip(programs, expected, strict=True) if max(map(len, e)) <= longest]
    assert len(kept) > 0.99 * PROGRAMS
    verdicts = sandbox.run([Job(str(program), "dsl") for program, _ in kept])
    wrong = [
        str(program)
        for (program, values), verdict in zip(kept, verdicts, strict=True)
        if verdict.status is not Status.OK or verdict.trace != values
    ]
    assert wrong == []
