"""Every file in `examples/` runs as it stands, and prints something."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.mark.either
@pytest.mark.parametrize("example", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_an_example_runs(example: Path, tmp_path: Path) -> None:
    """Where no Docker engine answers, programs run in the embedded sandbox, and a line on stderr says so."""
    path = os.pathsep.join([str(EXAMPLES.parent), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-W", "error", example],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) > 1


def test_there_are_examples() -> None:
    assert {"archive", "sandbox"} <= {path.stem for path in EXAMPLES.glob("*.py")}
