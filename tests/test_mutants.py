"""The table of faults that `benchmarks/mutants.py` puts into the code still fits the code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
FAULTS: list[dict[str, Any]] = yaml.safe_load((ROOT / "benchmarks" / "mutants.yaml").read_text("utf-8"))


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault["name"])
def test_a_fault_has_one_place_and_tests(fault: dict[str, Any]) -> None:
    assert (ROOT / fault["file"]).read_text("utf-8").count(fault["take"]) == 1
    assert fault["put"] != fault["take"]
    assert all((ROOT / test).exists() for test in fault["tests"].split())
