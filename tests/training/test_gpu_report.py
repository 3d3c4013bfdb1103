"""`benchmarks/gpu.py` on a machine without a GPU: each part is a process, and one that fails costs itself alone."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "gpu.py"


@pytest.fixture(scope="module")
def gpu() -> Any:
    spec = importlib.util.spec_from_file_location("gpu_report", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its data classes look their module up
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(SCRIPT.parent))  # for what stands beside it
        spec.loader.exec_module(module)
    return module


def test_one_report_of_all_that_was_asked_for() -> None:
    command = [sys.executable, str(SCRIPT), "--device", "cpu", "--quick", "--only", "machine", "learning", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["schema_version"], report["device"], report["quick"]) == (1, "cpu", True)
    assert {name: part["status"] for name, part in report["parts"].items()} == {"machine": "done", "learning": "done"}
    found = report["parts"]["learning"]["found"]["tiny"]
    assert found["parameters"] == 682_048
    assert found["tflops"] > 0
    assert found["share_of_promised"] is None


def test_a_part_that_hangs_is_ended(gpu: Any) -> None:
    ended = gpu.run_part("learning", gpu.parts.Size("cpu", True), 0.1)
    assert (ended["status"], ended["reason"]) == ("failed", "not done after 0 s")


def test_a_part_that_fails_says_its_last_line(gpu: Any) -> None:
    failed = gpu.run_part("machine", gpu.parts.Size("nowhere", True), 60)
    assert failed["status"] == "failed"
    assert "invalid choice: 'nowhere'" in failed["reason"]


def test_a_part_without_its_package_is_skipped(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu.parts, "missing", lambda package: f"{package} is not installed")
    assert gpu.run_part("vllm", gpu.parts.Size("cpu", True), 60) == {
        "status": "skipped",
        "reason": "vllm is not installed",
    }
