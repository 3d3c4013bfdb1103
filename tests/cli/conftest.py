"""A curriculum that trains in seconds, and how a refused command looks."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import warm
from tests.conftest import command_environment

SMALL = """\
name: small
model: {name: tiny, device: cpu}
families:
  runs:
    sampler: {modifiers: [0, 0], reuse: 0, interleave: 0, base_length: [3, 9], initiators: {repeat_num: 1}}
    levels: [{bases: [1, 1]}, {bases: [2, 2]}]
warmup: {max_steps: 2, check_every: 2, batch_size: 8}
training: {steps: 3, batch_size: 8, group_size: 4, max_new_tokens: 24}
evaluation: {tasks: 4}
sandbox: {backend: embedded, workers: 2}
report: false
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(SMALL)
    return path


@dataclass(frozen=True)
class Trained:
    """A finished run of three steps, and what the command printed."""

    done: subprocess.CompletedProcess[str]
    folder: Path


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    home = tmp_path_factory.mktemp("trained")
    (home / "small.yaml").write_text(SMALL)
    words = ["train", "small.yaml", "--json", "--seed", "3", "--run_dir", "run"]
    done = warm.run(words, home, command_environment())
    assert done.returncode == 0, done.stderr
    return Trained(done, home / "run")


def refused(done: subprocess.CompletedProcess[str], code: int) -> str:
    """The one line on stderr of a command that ended with `code` and printed no result."""
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("kolmo: error: ")
    return lines[0].removeprefix("kolmo: error: ")
