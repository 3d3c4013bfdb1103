"""Finding checkpoints of a run: complete ones, newest first, by the digests in their manifests.

`learning/saving.py` writes them. A checkpoint is complete or absent; where a folder of the same step is replaced, old
and new lie under hidden names for a moment: they count too.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

MANIFEST = "manifest.json"
"""The digest of every other file of the checkpoint, written last."""


def checkpoints(run_dir: Path, damaged: Callable[[Path], None] = lambda folder: None) -> Iterator[Path]:
    """Complete checkpoints, newest first. One whose files do not match their digests goes to `damaged` instead."""
    for folder in sorted(_folders(run_dir), key=_rank, reverse=True):
        if _is_complete(folder):
            yield folder
        else:
            damaged(folder)


def latest_checkpoint(run_dir: Path, damaged: Callable[[Path], None] = lambda folder: None) -> Path | None:
    return next(checkpoints(run_dir, damaged), None)


def settle(run_dir: Path) -> None:
    """Clear up after a writer that died: what it had finished gets its name, what it had not is removed.

    Only for a run that nobody writes to.
    """
    for aside in sorted((f for f in _folders(run_dir) if f.name.startswith(".")), key=_rank, reverse=True):
        named = aside.with_name(aside.name.split(".")[1])
        if not _is_complete(aside) or (named.exists() and _is_complete(named)):
            shutil.rmtree(aside)
        elif not named.exists():
            aside.rename(named)


def _folders(run_dir: Path) -> list[Path]:
    return [p for p in (run_dir / "checkpoints").glob("*") if p.name.lstrip(".").startswith("step_")]


def _rank(folder: Path) -> tuple[str, bool, str]:
    """By step; of one step first the folder itself, then the new one of an exchange, then the old."""
    step, _, part = folder.name.lstrip(".").partition(".")
    return step, not part, part


def _is_complete(folder: Path) -> bool:
    try:
        digests = json.loads((folder / MANIFEST).read_text())
        return all(digest(folder / name) == written for name, written in digests.items())
    except (OSError, ValueError, AttributeError):
        return False


def digest(file: Path) -> str:
    """SHA-256 of a file."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
