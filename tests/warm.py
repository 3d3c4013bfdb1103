"""The command, or a script, in processes that need not import torch first: they are forked from one that has.

Most of what a short command costs is imports. A fork runs the same `main` with streams, a folder and an environment of its own, and
ends with its exit code or by its signal. What an interpreter or a library settles at its start is the parent's: the hash seed,
encodings, warnings. Tests of these, of what is imported, of shells and of signals start a process of their own.
"""

from __future__ import annotations

import atexit
import gc
import multiprocessing
import os
import runpy
import shutil
import subprocess
import sys
import tempfile
import threading
import warnings
import weakref
from collections.abc import Callable, Mapping
from multiprocessing import forkserver
from pathlib import Path
from typing import Any

import pytest

IMPORTED = (
    "tests.warm",
    "torch",
    "transformers",
    "kolmocli.training.train",
    "kolmocli.evaluation.command",
    "tests.commands",
    "tests.patterns",
    "rich.console",
    "rich.panel",
    "rich.table",
)
SETTLED = ("HF_", "LC_", "OMP_", "PYTHON")
"""What variables begin with that are read before `main` is."""
_STARTING = threading.Lock()


def serves(env: Mapping[str, str]) -> bool:
    """Whether a fork sees these variables as a new process does."""
    return not any(name.startswith(SETTLED) for name in env)


class Command:
    """`kolmo`, or a script, at work in a session of its own; the verbs are those of `subprocess.Popen`. `before` is called in it
    first, and has to be a function that another process can import."""

    def __init__(
        self,
        arguments: list[str],
        cwd: Path,
        env: dict[str, str],
        *,
        script: Path | None = None,
        before: Callable[[], object] | None = None,
    ) -> None:
        folder = tempfile.mkdtemp(prefix="kolmo-said-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self._streams = Path(folder, "stdout"), Path(folder, "stderr")
        _start(env)
        self._process = multiprocessing.get_context("forkserver").Process(
            target=_command, args=(arguments, cwd, env, self._streams, before, script)
        )
        self._process.start()
        assert self._process.pid is not None
        self.pid = self._process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def poll(self) -> int | None:
        return self.returncode

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        self._process.kill()

    def wait(self, seconds: float | None = None) -> int:
        """The exit code.

        Raises:
            subprocess.TimeoutExpired: it has not ended.
        """
        self._process.join(seconds)
        if self.returncode is None:
            raise subprocess.TimeoutExpired("kolmo", seconds or 0.0)
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """What it printed, when it has ended."""
        self.wait(timeout)
        out, error = (stream.read_text("utf-8") if stream.exists() else "" for stream in self._streams)
        return out, error


def run(
    arguments: list[str], cwd: Path, env: dict[str, str], timeout: float | None = None, **more: Any
) -> subprocess.CompletedProcess[str]:
    """A command with these arguments, as `subprocess.run` gives it.

    Raises:
        subprocess.TimeoutExpired: it took longer, and was killed.
    """
    command = Command(arguments, cwd, env, **more)
    try:
        said = command.communicate(timeout)
    except subprocess.TimeoutExpired:
        command.kill()
        command.wait()
        raise
    return subprocess.CompletedProcess(arguments, command.wait(), *said)


def warnings_are_errors() -> None:
    """`-W error`, but for what is imported here already. For `before`."""
    warnings.simplefilter("error")


def _start(env: Mapping[str, str]) -> None:
    """The parent, which ends with this process: it lacks what the first command is given, not what all of them are."""
    multiprocessing.set_forkserver_preload(list(IMPORTED))
    with _STARTING, pytest.MonkeyPatch.context() as patch:
        for name, value in env.items():
            patch.setenv(name, value)
        forkserver.ensure_running()


def _command(
    arguments: list[str],
    cwd: Path,
    env: dict[str, str],
    streams: tuple[Path, Path],
    before: Callable[[], object] | None,
    script: Path | None,
) -> None:
    os.setsid()
    gc.freeze()  # nothing that was imported is looked through again
    for number, stream in enumerate(streams, 1):
        opened = os.open(stream, os.O_WRONLY | os.O_CREAT)
        os.dup2(opened, number)
        os.close(opened)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    sys.argv = [str(script or "kolmo"), *arguments]
    if before is not None:
        before()
    try:
        sys.exit(_main(script))
    finally:
        atexit._run_exitfuncs()


def _main(script: Path | None) -> int:
    if script is None:
        from kolmocli.cli.main import main

        return main()
    sys.path.insert(0, str(script.parent))
    runpy.run_path(str(script), run_name="__main__")
    return 0
