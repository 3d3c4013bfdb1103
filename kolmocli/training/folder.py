"""Run folders: a new one for every run, a used one only to be resumed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kolmocli.config import Config
from kolmocli.config_file import dump_config
from kolmocli.errors import UsageError
from kolmocli.monitor.writer import write_atomically

_FREE_TO_CHANGE = ("evaluation.every", "checkpoint_every", "sandbox", "model.device")
"""What may differ between a run and its continuation: nothing here changes a number in metrics.jsonl."""


def claim_folder(config: Config, folder: Path | None, *, resume: bool) -> Path:
    """The folder of this run, with `config.yaml` in it and `latest` beside it pointing to it.

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
    """Raise UsageError when something is in the folder already."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
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


def refuse_changed(saved: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Raise UsageError with every difference between the two configurations that would change the run."""
    changes = [line for line in _differences(saved, now) if not line.startswith(_FREE_TO_CHANGE)]
    if changes:
        raise UsageError(
            f"--resume: the configuration has changed ({'; '.join(changes[:5])}); resume with the old one "
            "or start a new run"
        )


def _differences(a: Any, b: Any, path: str = "") -> list[str]:
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        found = []
        for key in sorted({*a, *b}):
            found += _differences(a.get(key), b.get(key), f"{path}.{key}" if path else key)
        return found
    return [] if a == b else [f"{path}: {a} -> {b}"]
