"""math-verify: parse both, and verify, as its README does."""

from math_verify import parse, verify


def grade(answer, right):
    return verify(parse(f"${right}$"), parse(answer))
