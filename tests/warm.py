"""The command in processes that need not import torch first: they are forked from one that has.

Most of what a short command costs is imports. A fork runs the same `main` with streams, a folder and an environment of its own, and
ends with its exit code or by its signal. What an interpreter or a library settles at its start is the parent's: the hash seed,
encodings, warnings. Tests of these, of what is imported, of shells and of signals start a process of their own.
"""

from __future__ import annotations

import atexit
import gc
import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from multiprocessing import forkserver
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

IMPORTED = (
    "tests.warm",
    "torch",
    "transformers",
    "kolmocli.training.train",
    "kolmocli.evaluation.command",
    "kolmocli.cli.app",
    "rich.table",
)
SETTLED = ("HF_", "LC_", "OMP_", "PYTHON")
"""What variables begin with that are read before `main` is."""


def serves(env: Mapping[str, str]) -> bool:
    """Whether a fork sees these variables as a new process does."""
    return not any(name.startswith(SETTLED) for name in env)


def run(arguments: list[str], cwd: Path, env: dict[str, str], timeout: float) -> subprocess.CompletedProcess[str]:
    """`kolmo` with these arguments, as `subprocess.run` gives it.

    Raises:
        subprocess.TimeoutExpired: it took longer, and was killed.
    """
    with tempfile.TemporaryDirectory() as folder:
        streams = Path(folder, "stdout"), Path(folder, "stderr")
        process = start(arguments, cwd, env, streams)
        process.join(timeout)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired(arguments, timeout)
        code = process.exitcode
        process.close()
        return subprocess.CompletedProcess(arguments, code, *(stream.read_text("utf-8") for stream in streams))


def start(
    arguments: list[str],
    cwd: Path,
    env: dict[str, str],
    streams: tuple[Path, Path],
    before: Callable[[], object] | None = None,
) -> BaseProcess:
    """`kolmo` with these arguments at work, in a session of its own; what it prints goes to files. `before` is called in it
    first, and has to be a function that another process can import."""
    _start(env)
    process = multiprocessing.get_context("forkserver").Process(
        target=_command, args=(arguments, cwd, env, streams, before)
    )
    process.start()
    return process


def _start(env: Mapping[str, str]) -> None:
    """The parent, which ends with this process: it lacks what the first command is given, not what all of them are."""
    multiprocessing.set_forkserver_preload(list(IMPORTED))
    with pytest.MonkeyPatch.context() as patch:
        for name, value in env.items():
            patch.setenv(name, value)
        forkserver.ensure_running()


def _command(
    arguments: list[str],
    cwd: Path,
    env: dict[str, str],
    streams: tuple[Path, Path],
    before: Callable[[], object] | None,
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
    sys.argv = ["kolmo", *arguments]
    if before is not None:
        before()
    from kolmocli.cli.main import main

    code = main()
    atexit._run_exitfuncs()
    sys.exit(code)
