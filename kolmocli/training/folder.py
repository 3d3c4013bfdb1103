"""Run folders: a new one for every run, a used one only to be resumed."""

from __future__ import annotations

import fcntl
import os
import shlex
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kolmocli.checkpoints import digest
from kolmocli.config import Config
from kolmocli.config.file import dump_config
from kolmocli.config.machine import EngineSettings
from kolmocli.errors import UsageError
from kolmocli.monitor.reader import METRICS
from kolmocli.monitor.writer import kept_of, write_atomically
from kolmocli.sandbox.backends import Backend, is_address
from kolmocli.tasks.files.settings import Data
from kolmocli.tasks.files.tables import is_data_set
from kolmocli.tasks.sources import read_file, silent

_FREE_TO_CHANGE = (
    "evaluation.every",
    "checkpoint_every",
    "log:",
    "report:",
    "sandbox",
    "engine.",
    "model.device",
    "threads:",
)
"""Keys that may differ between a run and its continuation: of the machine, and of when something is written."""
_SHOWN = 5
_LOCK = ".lock"


@contextmanager
def new_folder(config: Config, folder: Path | None, note: Callable[[str], None]) -> Iterator[Path]:
    """The folder of a run that begins, with `config.yaml` in it; no other process trains there while this is entered.

    Raises:
        UsageError: the folder is used, or it cannot be made.
    """
    folder = folder or _next_folder(config)
    refuse_used(folder)
    with _usable(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with held(folder, note):
        refuse_used(folder)  # again: somebody else may have been quicker
        with _usable(folder):
            write_atomically(folder / "config.yaml", dump_config(config))
        yield folder


@contextmanager
def held(folder: Path, note: Callable[[str], None]) -> Iterator[Path]:
    """Keep others from training in this folder. The lock is the system's: it dies with its process, however that ends.

    Raises:
        UsageError: another process trains there, or nothing can be written there.
    """
    with _usable(folder):
        file = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            who = os.read(file, 200).decode(errors="replace").strip() or "another process"
            raise UsageError(f"{folder}: {who} trains there; wait until it ends, or stop it first") from None
        except OSError as error:  # some network file systems have no locks
            note(f"{folder}: cannot be locked ({error.strerror}); make sure no other process trains there")
        with _usable(folder):
            os.ftruncate(file, 0)
            os.write(file, f"process {os.getpid()} on {socket.gethostname()}\n".encode())
        yield folder
    finally:
        os.close(file)


@contextmanager
def _usable(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(f"{folder}: cannot be used as a run folder: {error.strerror}") from None


def resumable(folder: Path | None) -> Path:
    """The folder of a run to go on with. A link such as `runs/latest` is followed now, and not again with every file:
    it may point to another run before this one ends.

    Raises:
        UsageError: no run is there.
    """
    if folder is None or not (folder / "config.yaml").is_file():
        raise UsageError(f"--resume: no run in {folder}; name one with --run-dir")
    while folder.is_symlink():
        folder = folder.parent / folder.readlink()
    return folder


def resume_command(
    folder: Path, plugins: Sequence[str] = (), engine: EngineSettings | None = None, backend: Backend = "auto"
) -> str:
    """The command that continues this run, for a shell: with its hosts, which a run's own file may not name."""
    extra = [word for plugin in plugins for word in ("--plugin", plugin)]
    if engine is not None and engine.hosts:
        extra += ["--hosts", ",".join(engine.hosts), *["--insecure"] * engine.insecure]
    if is_address(backend):
        extra += ["--sandbox", backend]
    return shlex.join(["kolmo", "train", "--resume", "--run-dir", str(folder), *extra])


def refuse_used(folder: Path) -> None:
    """Raise UsageError when something is in the folder already; hidden files are nothing of a run."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is no folder; name another with --run-dir")
    if folder.exists() and any(not file.name.startswith(".") for file in folder.iterdir()):
        raise UsageError(f"{folder} is in use; resume it with --resume or name another folder with --run-dir")


def _next_folder(config: Config) -> Path:
    number = 1
    while (folder := Path("runs") / f"{config.name}-seed{config.seed}-{number}").exists():
        number += 1
    return folder


def point_latest(folder: Path) -> None:
    """Let `latest` next to this folder lead to it. The link is swapped in one step: a reader never finds it missing.

    Raises:
        UsageError: nothing can be written there.
    """
    link = folder.parent / "latest"
    if link.exists() and not link.is_symlink():
        return  # somebody's own folder of that name
    aside = folder.parent / f".latest.{os.getpid()}"
    with _usable(folder):
        aside.unlink(missing_ok=True)
        aside.symlink_to(folder.name)
        aside.replace(link)


def refuse_changed(saved: Mapping[str, Any], now: Config) -> None:
    """Raise UsageError with every difference to the saved configuration that would change the run.

    Keys that the saved one does not have yet count with their defaults.
    """
    try:
        before = Config.model_validate(saved).model_dump(mode="json")
    except ValueError:
        raise UsageError("--resume: the run is of another version of kolmo, whose configuration is not known") from None
    changes = [
        line for line in _differences(before, now.model_dump(mode="json")) if not line.startswith(_FREE_TO_CHANGE)
    ]
    if changes:
        more = f"; and {len(changes) - _SHOWN} more" if len(changes) > _SHOWN else ""
        raise UsageError(
            f"--resume: the configuration has changed ({'; '.join(changes[:_SHOWN])}{more}); resume with the old one "
            "or start a new run"
        )


def data_digests(data: Data) -> dict[str, str]:
    """SHA-256 of every data file; of a data set, of what was read of it."""
    files = [name for name in (data.train, data.eval) if name is not None]
    return {name: read_file(name, data, silent).digest if is_data_set(name) else digest(Path(name)) for name in files}


def refuse_other_data(saved: Mapping[str, str], now: Mapping[str, str]) -> None:
    """Raise UsageError when a file is not what it was: the run would go on with other tasks than it says."""
    for name, before in saved.items():
        if now.get(name) != before:
            raise UsageError(
                f"--resume: {name} has changed since the run began; put the old file back or start a new run"
            )


def refuse_gaps(
    checkpoint: Path, saved: Mapping[str, Any], note: Callable[[str], None], *, allowed: bool = False
) -> None:
    """Compare the lines of a run with how many it had written by this checkpoint.

    Raises:
        UsageError: lines of metrics.jsonl are missing, and that is not `allowed`. Of events.jsonl it is a note.
    """
    run_dir, state = checkpoint.parent.parent, saved["run"]
    for name, written in saved.get("lines", {}).items():
        found = kept_of(run_dir / name, state["step"], state["warm_steps"]).lines
        if found >= written:
            continue
        gap = f"{run_dir / name} has {found:,} of the {written:,} lines that were written by {checkpoint.name}"
        if name == METRICS and not allowed:
            raise UsageError(f"--resume: {gap}; put the whole file back, or go on without them with --allow-gaps")
        note(f"{gap}; the others are lost")


def _differences(a: Any, b: Any, path: str = "") -> list[str]:
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        found = []
        for key in sorted({*a, *b}):
            found += _differences(a.get(key), b.get(key), f"{path}.{key}" if path else key)
        return found
    return [] if a == b else [f"{path}: {_short(a)} -> {_short(b)}"]


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 60 else text[:59] + "…"
