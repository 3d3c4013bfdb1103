"""Which programs need the template with all modules: found in their text, in time linear in it."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from collections.abc import Callable

import pytest
from hypothesis import given, strategies as st

from kolmocli.sandbox import Job, Sandbox, Status
from kolmocli.sandbox.docker.image import image_source

from .conftest import NORMAL, NORMAL_TRACE

NAMES = ("copy", "json", "numpy.linalg")
AS_ONE_PATTERN = re.compile(
    rb"\bimport\b[^\n]*(?:\b(?:copy|json|numpy.linalg)\b|\\)|\bfrom[ \t]+(?:copy|json|numpy.linalg)\b"
    rb"|\b(?:__import__|exec|eval)\b"
)
"""What is looked for, as short as it can be said. It takes time quadratic in the length of a line."""
PIECES = [
    *b"import from copy json numpy.linalg math exec eval __import__ x".split(),
    b" ",
    b"\t",
    b"\n",
    b"\\",
    b",",
    b"\r",
]
LONG = {
    "imports": "import " * 140_000,
    "imports of something": "import math, " * 75_000,
    "lines of imports": "import\n" * 140_000,
    "from": "from " * 200_000,
    "blanks": "from" + " " * 900_000,
    "names": "copy " * 200_000,
}


@pytest.fixture(scope="module")
def imports() -> Callable[[bytes], bool]:
    spec = importlib.util.spec_from_file_location("imports", image_source() / "imports.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: Callable[[bytes], bool] = module.search_for(NAMES)
    return found


@pytest.mark.parametrize(
    ("program", "needs_more"),
    [
        (b"import math, json", True),
        (b"import \\\nmath", True),
        (b"x = 1; import  copy as c", True),
        (b"import math\nfrom\t json import dumps", True),
        (b"f = __import__('js' + 'on')", True),
        (b"exec(text)", True),
        (b"import math\ncopy = [1]", False),
        (b"copy = 1; import math", False),
        (b"import jsonish, math", False),
        (b"important = 'json'", False),
        (b"evaluated = 1", False),
        (b"", False),
    ],
)
def test_what_a_program_imports(imports: Callable[[bytes], bool], program: bytes, needs_more: bool) -> None:
    assert imports(program) is needs_more


@given(st.lists(st.sampled_from(PIECES), max_size=12).map(b"".join))
def test_every_text_is_read_like_the_pattern(imports: Callable[[bytes], bool], program: bytes) -> None:
    assert imports(program) is bool(AS_ONE_PATTERN.search(program))


def test_a_long_text_takes_no_longer_than_it_is_long() -> None:
    """The pattern would take hours for the first. In a process of its own, as nothing else stops a regular expression."""
    script = (
        "import sys, imports\n"
        "found = imports.search_for(['copy', 'json'])\n"
        "for program in eval(sys.stdin.read()).values():\n"
        "    found(program.encode())\n"
    )
    subprocess.run(
        [sys.executable, "-c", script], cwd=image_source(), input=repr(LONG), text=True, check=True, timeout=60
    )


@pytest.mark.docker
@pytest.mark.parametrize("name", LONG)
def test_a_long_text_holds_up_no_container(docker_sandbox: Sandbox, name: str) -> None:
    before = docker_sandbox.health().replaced
    first, *others = docker_sandbox.run([Job(LONG[name]), *[NORMAL] * 20])
    assert first.status in (Status.SYNTAX, Status.MLE), first.detail
    assert first.attempt == 1
    assert all((other.status, other.trace) == (Status.OK, NORMAL_TRACE) for other in others)
    assert docker_sandbox.health().replaced == before
