"""Every hostile program in C++ and JavaScript gets its verdict, and the program after it does not notice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kolmocli.sandbox import Job, Raised, Sandbox, Status, Verdict
from kolmocli.sandbox.base import Language

FOLDER = Path(__file__).with_name("hostile")
LANGUAGES: dict[str, Language] = {".cpp": "cpp", ".js": "javascript"}
ALL = sorted(path for path in FOLDER.iterdir() if path.suffix in LANGUAGES)
NORMAL = {
    "cpp": '#include <stdio.h>\nint main() { int n; scanf("%d", &n); printf("%d\\n", n + 1); }',
    "javascript": "console.log(Number(require('fs').readFileSync(0, 'utf8')) + 1);",
}


def head(program: str) -> dict[str, str]:
    lines = (line.removeprefix("// ").partition(": ") for line in program.splitlines() if line.startswith("// "))
    return {key: value for key, _, value in lines}


def came_to(verdict: Verdict) -> str:
    """Its status, or what its one run raised."""
    if verdict.status is Status.OK and isinstance(verdict.value, Raised):
        return f"RAISED {verdict.value.error}"
    return verdict.status.value


LEAST = {"cpp": {"cpu_ms": 300, "wall_ms": 1_000}, "javascript": {"cpu_ms": 800, "wall_ms": 2_000}}
"""Node needs some time before it begins."""


def listed(path: Path) -> Any:
    marks = [pytest.mark.slow] if "slow" in head(path.read_text("utf-8")) else []
    return pytest.param(path, id=path.name, marks=marks)


@pytest.mark.native
@pytest.mark.parametrize("path", [*map(listed, ALL)])
def test_a_hostile_program(native_sandbox: Sandbox, path: Path) -> None:
    program = path.read_text("utf-8")
    expected, language = head(program), LANGUAGES[path.suffix]
    assert expected["why"]
    first, after = native_sandbox.run(
        [
            Job(program, language, inputs=("",), **LEAST[language]),
            Job(NORMAL[language], language, inputs=("41\n",)),
        ]
    )
    assert came_to(first) in expected["expected"].split("|"), first
    if "prints" in expected:
        assert first.value.strip() == expected["prints"]
    assert first.detail.startswith(expected.get("detail", ""))
    assert (after.status, after.trace) == (Status.OK, ("42\n",)), after
    assert (first.attempt, after.attempt, after.container) == (1, 1, first.container)
