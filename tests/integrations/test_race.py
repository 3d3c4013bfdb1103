"""The race against TRL, in small: both sides begin alike and are measured alike, and a stopped race goes on."""

from __future__ import annotations

import json
import re
import runpy
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
import yaml

from kolmocli.monitor.history import read_history
from tests import warm
from tests.conftest import command_environment

pytestmark = pytest.mark.trl

RACE, ONE = (Path(__file__).parents[2] / "benchmarks" / name for name in ("race.py", "race_trl.py"))
VARIANTS = ("uniform", "TRL at its best")
RATES = ("1e-09", "0.01")
"""As folders and the JSON have them."""
CURRICULUM = """\
name: raced
model: {{name: tiny, device: cpu}}
families: {{unused: {{task: sum_digits, levels: [{{integers: [1, 1]}}]}}}}
data: {{train: {tasks}}}
reward: {{kind: binary}}
warmup: {{max_steps: 20, check_every: 20, batch_size: 16, learning_rate: 6.0e-3, until: 1}}
training: {{steps: 2, batch_size: 8, group_size: 4, max_new_tokens: 12}}
evaluation: {{tasks: 20}}
"""


@pytest.fixture
def curriculum(tmp_path: Path) -> str:
    """Two questions in three have the same answer, and a policy learns it in a few steps; nothing tells which two."""
    tasks, file = tmp_path / "tasks.jsonl", tmp_path / "raced.yaml"
    pairs = [{"question": f"q{i}?", "answer": "3" if i % 3 else "7"} for i in range(120)]
    tasks.write_text("".join(json.dumps(pair) + "\n" for pair in pairs))
    file.write_text(CURRICULUM.format(tasks=tasks))
    return str(file)


class Forked(warm.Command):
    """What a race starts, which says on stderr why it failed."""

    def __init__(self, command: list[str], *, env: dict[str, str], **rest: object) -> None:
        assert rest == {"stdout": subprocess.DEVNULL, "start_new_session": True}
        assert command[0] == sys.executable
        module = command[1:3] == ["-m", "kolmocli"]
        words, script = (command[3:], None) if module else (command[2:], Path(command[1]))
        super().__init__(words, Path.cwd(), command_environment(env), script=script)

    def poll(self) -> int | None:
        if self.returncode:
            print(self.communicate()[1], file=sys.stderr)
        return self.returncode


Ask = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Ask]:
    """`ask("--seeds", 1)`: what the race says to these arguments, in this process; its runs are processes."""
    monkeypatch.syspath_prepend(str(RACE.parent))
    before = signal.getsignal(signal.SIGTERM)

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        code: Any = 0
        with monkeypatch.context() as patch:
            patch.setattr(sys, "argv", [str(RACE), *arguments])
            patch.setattr(subprocess, "Popen", Forked)
            try:
                runpy.run_path(str(RACE), run_name="__main__")
            except SystemExit as ended:
                code = ended.code
        out, error = capsys.readouterr()
        if isinstance(code, str):
            code, error = 1, f"{error}{code}\n"
        return subprocess.CompletedProcess(list(arguments), code or 0, out, error)

    yield run
    signal.signal(signal.SIGTERM, before)


def rate_of(run: Path) -> float:
    """The learning rate that a run of ours has in its configuration, and one of TRL in what TRL was told."""
    if (run / "config.yaml").exists():
        return float(yaml.safe_load((run / "config.yaml").read_text())["training"]["learning_rate"])
    told = re.search(r"'learning_rate': ([^,}]+)", (run / "events.jsonl").read_text())
    assert told
    return float(told[1])


def test_a_race_begins_alike_with_the_rates_that_are_best_on_another_seed_and_names_what_nobody_reached(
    curriculum: str, tmp_path: Path, ask: Ask
) -> None:
    out = tmp_path / "out"
    command = [
        "--curricula", curriculum, "--seeds", "1", "2", "--tune", "3", "--steps", "2", "--eval-freq", "1",
        "--rates", "1e-9", "1e-2", "--variants", *VARIANTS, "--targets", "0", "1", "--out", str(out), "--jobs", "2",
    ]  # fmt: skip
    done = ask(*command, "--json")
    assert done.returncode == 0, done.stderr
    raced = json.loads(done.stdout)["curricula"][curriculum]
    begun_alike_and_measured(raced["variants"], out / "raced")
    at_the_best_of_the_rates(raced["rates"], out / "raced")
    assert (out / "race.png").read_bytes().startswith(b"\x89PNG")

    for file in (file for file in (out / "raced").glob("*/**/*") if file.is_file() and file.name != "figures.json"):
        file.unlink()  # what is left is enough
    again = ask(*command)
    assert again.returncode == 0, again.stderr
    assert "running" not in again.stderr
    rows = [line.split() for line in again.stdout.splitlines() if " of 2 " in line]
    reached = {(row[1], " ".join(row[3 : row.index("of") - 1])): row[row.index("of") - 1] for row in rows}
    assert reached == {(target, name): n for target, n in (("0", "2"), ("100", "0")) for name in VARIANTS}
    longer = ask(*command, "--steps", "3")
    assert "is of another comparison (steps was 2, is 3)" in longer.stderr

    kept = tmp_path / "kept"
    assert ask(*command, "--minutes", "0", "--keep", str(kept)).returncode == 0
    assert [file.name for file in kept.iterdir()] == ["raced.json"]
    by_seed = json.loads((kept / "raced.json").read_text())["runs"]
    assert {seed: set(runs) for seed, runs in by_seed.items()} == {
        "seed1": set(VARIANTS),
        "seed2": set(VARIANTS),
        "tune3": {f"{name} {rate}" for name in VARIANTS for rate in RATES},
    }
    once = ask(*command, "--minutes", "0", "--out", str(kept))
    assert (once.returncode, once.stdout) == (0, again.stdout)
    assert {file.name for file in kept.iterdir()} == {"raced.json", "race.png"}
    longer = ask(*command, "--steps", "3", "--out", str(kept))
    assert "is of another comparison (steps was 2, is 3)" in longer.stderr


def begun_alike_and_measured(found: dict[str, Any], folder: Path) -> None:
    assert tuple(found) == VARIANTS
    for name, variant in found.items():
        assert variant["seeds"] == [1, 2]
        assert (variant["until"]["0"]["reached"], variant["until"]["1"]["reached"]) == (2, 0)
        for seed, run in variant["runs"].items():
            assert run["before"] == found["uniform"]["runs"][seed]["before"]
            assert 0 < run["before"] < 1
            assert [rollouts for rollouts, _, _ in run["accuracies"]] == [0, 8, 16]
            figures = folder / f"seed{seed}" / name
            points = json.loads((figures / "figures.json").read_text())["figures"]["accuracies"]
            assert points == run["accuracies"]
            assert all(earlier < later for (_, _, earlier), (_, _, later) in pairwise(points))
            assert not list(figures.glob("checkpoint*"))


def at_the_best_of_the_rates(tried: dict[str, Any], folder: Path) -> None:
    """The mean over several seeds is in the kept race of rates (`test_kept_races.py`)."""
    assert tuple(tried) == VARIANTS
    for name, by_rate in tried.items():
        assert tuple(by_rate) == RATES
        for rate, found in by_rate.items():
            tuned = read_history(folder / "tune3" / f"{name} {rate}")
            assert found["on_the_way"]["mean"] == pytest.approx(fmean(e.accuracy for e in tuned.evaluations[1:]))
        best = max(by_rate, key=lambda rate: by_rate[rate]["final"]["mean"])
        for seed in (1, 2):
            assert rate_of(folder / f"seed{seed}" / name) == float(best)


def test_what_cannot_be_raced_is_said_before_anything_runs(curriculum: str, tmp_path: Path, ask: Ask) -> None:
    command = ["--curricula", curriculum, "--out", str(tmp_path / "out")]
    assert "a seed that is raced is not one to choose" in ask(*command, "--seeds", "99").stderr
    assert "only --set KEY=VALUE" in ask(*command, "--", "--verbose").stderr
    assert not (tmp_path / "out").exists()


def test_a_run_of_trl_that_was_stopped_goes_on(curriculum: str, tmp_path: Path) -> None:
    folder, steps = tmp_path / "run", 16
    arguments = [
        curriculum, "--warm", "tiny", "--run-dir", str(folder), "--steps", str(steps),
        "--best", "--adapter", "--rows", "4", "--eval-freq", "8", "--eval-samples", "8",
    ]  # fmt: skip
    process = warm.Command(arguments, tmp_path, command_environment(), script=ONE)
    metrics = folder / "metrics.jsonl"
    while process.poll() is None and not (metrics.exists() and metrics.stat().st_size):
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=600)
    assert process.returncode == 128 + signal.SIGTERM, said
    assert 0 < len(read_history(folder).rl) < steps
    done = warm.run(arguments, tmp_path, command_environment(), script=ONE)
    assert done.returncode == 0, done.stderr
    history = read_history(folder)
    assert [record.step for record in history.rl] == list(range(1, steps + 1))
    assert [e.step for e in history.evaluations] == [0, 8, steps]
    assert history.summary.rollouts == steps * 8  # in portions of one group
    told = (folder / "events.jsonl").read_text()
    assert "'per_device_train_batch_size': 4, 'gradient_accumulation_steps': 2" in told
    assert "'steps_per_generation': 1" in told
