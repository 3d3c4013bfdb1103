"""The prompt for a model behind an endpoint: the task of the KoLMogorov Test (Yoran et al. 2025, its plain prompt), in own words.

The prompt keeps what the benchmark's evaluation relies on: the result in `output`, `###` as the end, no code fence, and
the heading above the list by which readers of predictions find the sequence again.
"""

from __future__ import annotations

from collections.abc import Sequence

_SYSTEM = "You write Python programs that reproduce a given sequence of integers exactly and are as short as possible."

_USER = """\
Write a Python program whose result is the sequence below.

1. Use several lines of assignments and, where they help, function definitions.
2. Look for patterns in the sequence, and use them to make the program as short as you can.
3. Put the result, a list of integers, into a variable named `output`. Do not print or return it.
4. The program must run as it stands. Write nothing before it, and no code fence around it.
5. End your answer with the line ###

### Input Sequence:
{sequence}

### Program:
"""


def program_messages(sequence: Sequence[int]) -> list[dict[str, str]]:
    """The conversation that asks for a program, as chat endpoints take it."""
    return [
        {"role": "system", "content": _SYSTEM},
        {"role": "user", "content": _USER.format(sequence=list(sequence))},
    ]
