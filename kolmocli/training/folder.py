"""Run folders: a new one for every run, a used one only to be resumed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kolmocli.checkpoints import digest
from kolmocli.config import Config
from kolmocli.config.file import dump_config
from kolmocli.errors import UsageError
from kolmocli.monitor.writer import write_atomically
from kolmocli.tasks.files.settings import Data
from kolmocli.tasks.files.tables import is_data_set
from kolmocli.tasks.sources import read_file, silent

_FREE_TO_CHANGE = ("evaluation.every", "checkpoint_every", "log:", "report:", "sandbox", "engine.", "model.device")
"""What may differ between a run and its continuation: where and how it runs, and what is written down when."""
_SHOWN = 5


def claim_folder(config: Config, folder: Path | None, *, resume: bool) -> Path:
    """The folder of this run, with `config.yaml` in it and a link `latest` next to it.

    Raises:
        UsageError: the folder is used and this is no resumption, or it cannot be made.
    """
    folder = folder or _next_folder(config)
    if not resume:
        refuse_used(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not resume:
            write_atomically(folder / "config.yaml", dump_config(config))
        if not folder.is_symlink():
            _point_latest(folder)
    except OSError as error:
        raise UsageError(f"{folder}: cannot be used as a run folder: {error.strerror}") from None
    return folder


def refuse_used(folder: Path) -> None:
    """Raise UsageError when something is in the folder already; hidden files are nothing of a run."""
    if folder.exists() and (not folder.is_dir() or any(not file.name.startswith(".") for file in folder.iterdir())):
        raise UsageError(f"{folder} is in use; resume it with --resume or name another folder with --run-dir")


def _next_folder(config: Config) -> Path:
    number = 1
    while (folder := Path("runs") / f"{config.name}-seed{config.seed}-{number}").exists():
        number += 1
    return folder


def _point_latest(folder: Path) -> None:
    """Swap the link in one step, so that a reader never finds it missing."""
    link = folder.parent / "latest"
    if link.exists() and not link.is_symlink():
        return  # somebody's own folder of that name
    aside = folder.parent / f".latest.{os.getpid()}"
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
