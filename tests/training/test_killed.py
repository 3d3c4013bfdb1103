"""Runs that are killed, and disks that are full: nothing is lost but the steps since the last checkpoint."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import functools
import hashlib
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kolmocli.checkpoints import checkpoints, latest_checkpoint
from tests.conftest import KOLMO, NO_ENGINE, command_environment
from tests.training.runs import CURRICULUM, events, metrics
from tests.warm import Command

EVERY = 3
"""Steps between the checkpoints of `CURRICULUM`."""
SMALL = CURRICULUM.replace("max_steps: 25, check_every: 25", "max_steps: 12, check_every: 12")


def start(folder: Path, *arguments: object, before: Callable[[], object] | None = None) -> Command:
    """`kolmo train` at work."""
    return Command(["train", *map(str, arguments), "-q"], folder, command_environment(), before=before)


def finish(process: Command) -> str:
    """What it said on stderr, when it has ended; nothing of it is left running."""
    try:
        return process.communicate(3600)[1]
    finally:
        end_group(process)


def end_group(process: Command | subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "small.yaml").write_text(SMALL)
    return tmp_path


def unbroken(here: Path, steps: int) -> list[dict[str, Any]]:
    process = start(here, "small.yaml", "--steps", steps, "--run-dir", "whole")
    assert finish(process) == ""
    return metrics(here / "whole")


# --- kill -9


def contents(run: Path) -> dict[str, str]:
    """Digests of the files of all complete checkpoints, and of the configuration."""
    files = [file for folder in checkpoints(run) for file in sorted(folder.iterdir())]
    files += [run / "config.yaml"] * (run / "config.yaml").exists()
    # A checkpoint that was finished but not yet named gets its name when the run goes on.
    return {
        f"{file.parent.name.lstrip('.').partition('.')[0]}/{file.name}": hashlib.sha256(file.read_bytes()).hexdigest()
        for file in files
    }


def newest(run: Path) -> tuple[int, int]:
    """The step of the newest checkpoint, and of the warm start before."""
    found = latest_checkpoint(run)
    if found is None:
        return 0, 0
    state = json.loads((found / "trainer.json").read_text())["run"]
    return state["step"], state["warm_steps"]


def newest_step(run: Path) -> int:
    return newest(run)[0]


def newest_metrics_step(run: Path) -> int:
    return max((r["step"] for r in metrics(run) if r["phase"] == "rl"), default=0)


def start_or_resume(here: Path, steps: int) -> Command:
    resuming = (here / "run" / "config.yaml").exists()
    return start(here, *(["--resume"] if resuming else ["small.yaml", "--steps", steps]), "--run-dir", "run")


def kill(process: Command) -> bool:
    """Whether it was still running."""
    running = process.poll() is None
    process.kill()
    error = process.communicate(3600)[1]
    assert process.returncode in (-signal.SIGKILL, 0), error
    return running


def kill_at_random(here: Path, steps: int, rng: random.Random) -> bool:
    """Start or resume the run and kill it, most often at work. False when it was done before."""
    run = here / "run"
    events = run / "events.jsonl"
    size, done = events.stat().st_size if events.exists() else 0, newest_step(run)
    process = start_or_resume(here, steps)
    try:
        if rng.random() < 0.8:  # else somewhere in its beginning
            while process.poll() is None and (not events.exists() or events.stat().st_size <= size):
                time.sleep(0.01)
            # By steps and not by seconds: a busy machine would never reach a checkpoint.
            goal = done + rng.randint(0, 2 * EVERY)
            while process.poll() is None and newest_metrics_step(run) < goal:
                time.sleep(0.01)
        time.sleep(rng.uniform(0.0, 0.5))
        return kill(process)
    finally:
        end_group(process)


def unfinished(run: Path) -> set[str]:
    """What is being written, or lies aside while it is exchanged."""
    place = run / "checkpoints"
    return {name for name in (os.listdir(place) if place.exists() else ()) if name.startswith(".")}


def kill_in_checkpoint(here: Path, steps: int, rng: random.Random) -> bool:
    """Start or resume the run and kill it while it writes its first, second or third checkpoint from there. False when the
    checkpoint was complete by then, or the run done."""
    run = here / "run"
    left = unfinished(run)  # by the one before, until the run has begun
    process = start_or_resume(here, steps)
    try:
        for further in range(rng.randint(1, 3), 0, -1):
            while process.poll() is None and not unfinished(run) - left:
                left &= unfinished(run)
                time.sleep(0.001)
            while further > 1 and process.poll() is None and unfinished(run) - left:
                time.sleep(0.001)
        time.sleep(rng.uniform(0.0, 0.05))
        return kill(process) and bool(unfinished(run))
    finally:
        end_group(process)


@pytest.mark.parametrize(
    ("kills", "within", "steps"), [(2, 1, 20), pytest.param(50, 20, 500, marks=[pytest.mark.slow])]
)
def test_a_killed_run_loses_at_most_the_steps_since_the_last_checkpoint(
    here: Path, kills: int, within: int, steps: int
) -> None:
    """So many kills -9, of which `within` while a checkpoint is written."""
    expected, rng, run = unbroken(here, steps), random.Random(kills), here / "run"
    kept: dict[str, str] = {}
    killed = inside = at_work = 0
    while killed < kills or inside < within:
        before = newest(run)
        if inside < within:
            hit = kill_in_checkpoint(here, steps, rng)
            inside += hit
        else:
            hit = kill_at_random(here, steps, rng)
        killed += 1
        now, written = newest(run), metrics(run)
        assert now >= before
        assert newest_metrics_step(run) - now[0] <= EVERY
        assert written == expected[: len(written)]
        found = contents(run)
        if now[1] > before[1]:  # the checkpoint of a warm start that goes on is written again
            kept = {file: digest for file, digest in kept.items() if not file.startswith("step_000000/")}
        assert kept.items() <= found.items(), "a file of a complete checkpoint was lost or changed"
        kept = found
        at_work += hit and now[0] > before[0]
        assert now[0] < steps, "the run was done before it was killed often enough: make it longer"
    assert at_work >= kills // 4, "the run was seldom killed at work: make it longer"
    assert finish(start(here, "--resume", "--run-dir", "run")) == ""
    assert metrics(run) == expected
    names = {folder.name for folder in (run / "checkpoints").iterdir()}
    assert not {name for name in names if name.startswith(".")}, "what a killed writer left is cleared up"
    assert {"config.yaml", "summary.json", "metrics.jsonl", "events.jsonl"} <= {file.name for file in run.iterdir()}


# --- a full disk


@pytest.fixture(scope="module")
def six(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of six steps, `whole`, and the same stopped after two, `run`."""
    folder = tmp_path_factory.mktemp("six")
    (folder / "small.yaml").write_text(SMALL)
    unbroken(folder, 6)
    assert finish(start(folder, "small.yaml", "--steps", 6, "--run-dir", "run", "--stop-at", 2)) == ""
    return folder


@pytest.fixture
def stopped(six: Path, here: Path) -> Path:
    return Path(shutil.copytree(six / "run", here / "run"))


@pytest.mark.parametrize(
    ("room", "said"),
    [
        (1_000_000, "run/checkpoints/step_000003: checkpoint not written ("),
        (500, "run/events.jsonl: File too large; make room and go on with --resume"),
    ],
    ids=["for the log, not for a checkpoint", "not for a line"],
)
def test_a_disk_without_room_is_one_line_and_the_run_goes_on_later(
    here: Path, six: Path, stopped: Path, room: int, said: str
) -> None:
    before = contents(stopped)
    process = start(here, "--resume", "--run-dir", "run", before=functools.partial(limit_files, room))
    error = finish(process)
    assert process.returncode == 1
    assert len(error.splitlines()) == 1, error
    assert error.startswith(f"kolmo: error: {said}")
    assert contents(stopped) == before
    assert finish(start(here, "--resume", "--run-dir", "run")) == ""
    assert metrics(stopped) == metrics(six / "whole")


def limit_files(room: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))


def mount(*arguments: object) -> None:
    done = subprocess.run(["mount", *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"nothing may be mounted here: {done.stderr.strip()}")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with room for one checkpoint of the tiny preset and not for two (8.3 MB each)."""
    place = tmp_path / "disk"
    place.mkdir()
    mount("-t", "tmpfs", "-o", "size=14m", "none", place)
    yield place
    subprocess.run(["umount", "--lazy", place], check=True)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root may mount a small disk")
def test_a_really_full_disk(here: Path, six: Path, small_disk: Path) -> None:
    run = small_disk / "run"
    process = start(here, "small.yaml", "--steps", 6, "--run-dir", run)
    error = finish(process)
    assert process.returncode == 1
    assert len(error.splitlines()) == 1, error
    assert "checkpoint not written (" in error
    assert "make room and use --resume, earlier ones are intact" in error
    assert newest_step(run) == 0
    assert [folder.name for folder in (run / "checkpoints").iterdir()] == ["step_000000"]
    subprocess.run(["mount", "-o", "remount,size=64m", small_disk], check=True)
    assert finish(start(here, "--resume", "--run-dir", run)) == ""
    assert metrics(run) == metrics(six / "whole")


# --- a folder that turns read-only


class Capabilities(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint32) for name in ("effective", "permitted", "inheritable")]


def without_privileges() -> None:
    """Root may write anywhere; without two capabilities it asks for permission as everybody does."""
    libc = ctypes.CDLL(None, use_errno=True)
    head, now = (ctypes.c_uint32 * 2)(0x20080522, 0), (Capabilities * 2)()  # version 3, this process
    for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        libc.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP, for what it starts
    assert libc.capget(head, now) == 0
    now[0].effective &= ~0b110
    now[0].permitted &= ~0b110
    assert libc.capset(head, now) == 0, os.strerror(ctypes.get_errno())


@pytest.mark.parametrize(
    ("place", "code", "said"),
    [
        ("checkpoints", 1, "run/checkpoints/step_000003: checkpoint not written (Permission denied); make it writable"),
        (".", 2, "run: cannot be used as a run folder: Permission denied"),
    ],
)
def test_a_folder_without_permission_is_one_line_and_the_run_goes_on_later(
    here: Path, six: Path, stopped: Path, place: str, code: int, said: str
) -> None:
    before = contents(stopped)
    (stopped / ".lock").unlink()
    (stopped / place).chmod(0o555)
    process = start(here, "--resume", "--run-dir", "run", before=without_privileges)
    error = finish(process)
    (stopped / place).chmod(0o755)
    assert process.returncode == code
    assert len(error.splitlines()) == 1, error
    assert error.startswith(f"kolmo: error: {said}")
    assert contents(stopped) == before
    if code == 1:
        assert finish(start(here, "--resume", "--run-dir", "run")) == ""
        assert metrics(stopped) == metrics(six / "whole")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root may mount over a folder")
def test_a_folder_that_turns_read_only_below_a_run(here: Path, six: Path, stopped: Path) -> None:
    """Its files that are open stay so, and nothing new can be made in it."""
    before = contents(stopped)
    process = start(here, "--resume", "--run-dir", "run")
    try:
        while process.poll() is None and newest_metrics_step(stopped) < 3:
            time.sleep(0.001)
        process.send_signal(signal.SIGSTOP)
        mount("--bind", stopped, stopped)
        mount("-o", "remount,bind,ro", stopped)
        process.send_signal(signal.SIGCONT)
        error = finish(process)
    finally:
        end_group(process)
        subprocess.run(["umount", "--lazy", stopped], capture_output=True, check=False)
    assert process.returncode == 1
    assert len(error.splitlines()) == 1, error
    assert re.match(
        r"kolmo: error: run/checkpoints/step_00000\d: checkpoint not written \(Read-only file system\); make it writable "
        "and use --resume, earlier ones are intact",
        error,
    )
    assert before.items() <= contents(stopped).items()
    assert finish(start(here, "--resume", "--run-dir", "run")) == ""
    assert metrics(stopped) == metrics(six / "whole")


# --- a terminal that is closed


def test_a_closed_terminal_saves(here: Path) -> None:
    """Its session is told by the system, and its jobs by the shell too; what they would write goes nowhere."""
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        [KOLMO, "train", "small.yaml", "--steps", "100000", "--run-dir", "run"],
        cwd=here,
        env={**command_environment({"TERM": "xterm", "PYTHONIOENCODING": "utf-8"}), "NO_COLOR": ""},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0) and None,
    )
    try:
        os.close(theirs)
        os.set_blocking(ours, False)
        shown = b""
        while process.poll() is None and not metrics(here / "run"):
            with contextlib.suppress(BlockingIOError):
                shown += os.read(ours, 1 << 20)
            time.sleep(0.01)
        assert b"\x1b[" in shown, "the live table was drawn"
        os.close(ours)
        time.sleep(0.01)
        process.send_signal(signal.SIGHUP)
        assert process.wait(600) == 128 + signal.SIGHUP
    finally:
        end_group(process)
    summary = json.loads((here / "run" / "summary.json").read_text())
    assert summary["warmup_steps"] == metrics(here / "run")[-1]["step"]
    assert latest_checkpoint(here / "run") is not None
    assert events(here / "run", "stopped")[-1]["text"] == "stopped by SIGHUP"


# --- the demo, literally


@pytest.mark.slow
def test_the_quickstart_twice_and_split_by_a_resume(tmp_path: Path) -> None:
    """`kolmo train quickstart --steps 40 --seed 3`, with what an engine would change left out."""

    def kolmo(*arguments: object) -> None:
        done = subprocess.run(
            [KOLMO, "train", *map(str, arguments)], cwd=tmp_path, env=command_environment(NO_ENGINE),
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr

    command = ("quickstart", "--steps", 40, "--seed", 3)
    kolmo(*command)
    kolmo(*command)
    kolmo(*command, "--stop-at", 20)
    kolmo("--resume")
    first, second, split = (metrics(tmp_path / "runs" / f"quickstart-seed3-{i}") for i in (1, 2, 3))
    assert len([r for r in first if r["phase"] == "rl"]) == 40
    assert first == second == split
