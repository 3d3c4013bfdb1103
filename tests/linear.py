"""Rules for texts of strangers, held to take no longer than a text is long."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping

import pytest


def assert_it_ends(before: str, read: str, hostile: Mapping[str, tuple[str, str]], seconds: int) -> None:
    """Run the lines `before` once, and those of `read` with each of these: the `unit` and the `start` of a text.

    A quadratic rule takes hours, and all of these together seconds, so that the limit is no measure of a machine. In a
    process of its own, as nothing else stops a regular expression.
    """
    loop = "import sys\nfor name, (unit, start) in eval(sys.argv[1]).items():\n    print(name, flush=True)\n"
    script = before + loop + "".join(f"    {line}\n" for line in read.splitlines())
    try:
        subprocess.run(
            [sys.executable, "-c", script, repr(dict(hostile))], check=True, timeout=seconds, stdout=subprocess.PIPE
        )
    except subprocess.TimeoutExpired as late:
        pytest.fail(f"{seconds} s were not enough for: {(late.stdout or b'').decode().splitlines()[-1]}")
