"""What can be said of a program by its text alone."""

from __future__ import annotations

import re


def without_comments(program: str) -> str:
    """A program of the language without the comments in which the published generator notes values."""
    return "\n".join(line.partition("#")[0].rstrip() for line in program.split("\n"))


def spells_out(program: str, target: tuple[int, ...]) -> bool:
    """Whether the text of a program holds its target as a literal: its numbers in a row, or its characters.

    By the text alone, without parsing: programs of strangers are parsed in the sandbox and nowhere else.
    """
    numbers = [int(n) for n in re.findall(r"-?\d{1,20}", program)]
    width = len(target)
    if any(tuple(numbers[i : i + width]) == target for i in range(len(numbers) - width + 1) if numbers[i] == target[0]):
        return True
    if min(target) < 0 or max(target) > 255:
        return False
    text = bytes(target)
    return repr(text)[2:-1] in program or repr(text.decode("latin-1"))[1:-1] in program
