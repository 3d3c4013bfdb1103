"""Every file in `examples/` runs as it stands, and prints something."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests import warm

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.mark.either
@pytest.mark.parametrize("example", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_an_example_runs(example: Path, tmp_path: Path) -> None:
    """Where no Docker engine answers, programs run in the embedded sandbox, and a line on stderr says so."""
    done = warm.run([], tmp_path, dict(os.environ), 300, script=example, before=warm.warnings_are_errors)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) > 1


def test_there_are_examples() -> None:
    assert {"archive", "sandbox"} <= {path.stem for path in EXAMPLES.glob("*.py")}
