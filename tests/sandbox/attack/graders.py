"""Graders for tests: a weak one, one that is honest about nothing, and some that do not work."""

import time


def weak(program: str, tests: str) -> bool:
    """Runs all in its own process, and believes an exit with status 0."""
    try:
        exec(program + "\n" + tests, {"__name__": "solution"})
    except SystemExit as end:
        return not end.code
    except Exception:
        return False
    return True


def refuses(program: str, tests: str) -> bool:
    return False


def raises(program: str, tests: str) -> bool:
    raise ValueError("a grader of\x1b[2J no use")


def hangs(program: str, tests: str) -> bool:
    while True:
        time.sleep(1)


def exact(answer: str, right: str) -> bool:
    return answer.strip() == right


def contains(answer: str, right: str) -> float:
    return float(right in answer)


def words(program: str, tests: str) -> str:
    return "passed"
