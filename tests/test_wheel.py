"""A wheel holds all that kolmo needs: installed into an empty environment, it works far from the checkout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    # Without isolation: the build backend is here already, and nothing has to be fetched.
    _run([sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, CHECKOUT], folder)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `kolmo` of an environment with the wheel in it. What it depends on is borrowed from this one."""
    home = tmp_path_factory.mktemp("empty")
    _run([sys.executable, "-m", "venv", "--without-pip", home / "venv"], home)
    python = home / "venv" / "bin" / "python"
    _run([sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", wheel], home)
    site = Path(_run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], home).strip())
    # Only the folder itself, not its .pth files: they would bring the checkout with them.
    (site / "borrowed.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    return python.with_name("kolmo")


def test_the_wheel_holds_curricula_and_sandbox_image(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder in ("curricula", "sandbox_image"):
        for file in (CHECKOUT / folder).rglob("*"):
            if file.is_file() and "__pycache__" not in file.parts:
                assert f"kolmocli/_data/{file.relative_to(CHECKOUT)}" in names


def test_it_runs_from_another_folder(installed: Path, tmp_path: Path) -> None:
    where = _run([installed.with_name("python"), "-c", "import kolmocli; print(kolmocli.__file__)"], tmp_path)
    assert Path(where.strip()).is_relative_to(installed.parent.parent)
    assert "target pass rate" in _run([installed, "curriculum", "show", "quickstart"], tmp_path)
    assert "Usage: kolmo sandbox build" in _run([installed, "sandbox", "build", "--help"], tmp_path)


@pytest.mark.either
def test_the_shipped_policy_is_in_it(installed: Path, tmp_path: Path) -> None:
    report = json.loads(_run([installed, "eval", "shipped", "--tasks", 5, "--device", "cpu", "--json"], tmp_path))
    assert (report["model"], report["n"]) == ("shipped", 5)
    found = json.loads(
        _run([installed, "solve", *range(9), "--model", "shipped", "--device", "cpu", "--json"], tmp_path)
    )
    assert found["checked"]


def _run(command: list[object], folder: Path) -> str:
    # PYTHONPATH may name a checkout.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [str(part) for part in command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
