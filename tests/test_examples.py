"""Every file in `examples/` runs as it stands, and prints something."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests import warm

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))
FIRST_WORDS = {"own_controller": ["base", "rasch", "ratchet", "shock", "rasch", "ratchet"]}
OPENING = [e for e in EXAMPLES if any(call in e.read_text("utf-8") for call in ("open_sandbox(", "make_env("))]


def run(example: Path, folder: Path) -> None:
    done = warm.run([], folder, dict(os.environ), 300, script=example, before=warm.warnings_are_errors)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) > 1
    if example.stem in FIRST_WORDS:
        assert [line.split()[0] for line in lines] == FIRST_WORDS[example.stem]


@pytest.mark.parametrize("example", [e for e in EXAMPLES if e not in OPENING], ids=lambda path: path.stem)
def test_an_example_runs(example: Path, tmp_path: Path) -> None:
    run(example, tmp_path)


@pytest.mark.either
@pytest.mark.parametrize("example", OPENING, ids=lambda path: path.stem)
def test_an_example_with_a_sandbox_runs(example: Path, tmp_path: Path) -> None:
    """Where no Docker engine answers, programs run in the embedded sandbox, and a line on stderr says so."""
    run(example, tmp_path)


def test_there_are_examples() -> None:
    assert {"archive", "sandbox"} <= {path.stem for path in EXAMPLES}
