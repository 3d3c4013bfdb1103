"""Checkpoints that are complete or absent: written aside, flushed, renamed, with a digest of every file.

A checkpoint folder holds the policy in Hugging Face format, `trainer.json` (controller, counters, phase),
`optimiser.pt` (tensors only) and `manifest.json`, which is written last and names the digest of the others.
Where a folder of the same step is replaced, old and new lie under hidden names for a moment: they count too.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError

from kolmocli.errors import KolmoError
from kolmocli.policy.policy import Policy

_MANIFEST = "manifest.json"


def save_checkpoint(run_dir: Path, step: int, policy: Policy, optimiser: dict[str, Any], state: dict[str, Any]) -> Path:
    """Write `checkpoints/step_000100` and return it; one that is already there is replaced.

    Raises:
        KolmoError: the disk is full or not writable; earlier checkpoints are as they were.
    """
    folder = run_dir / "checkpoints" / f"step_{step:06d}"
    aside, old = (folder.with_name(f".{folder.name}.{name}") for name in ("partial", "old"))
    try:
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir(parents=True)
        policy.save(aside)
        torch.save(optimiser, aside / "optimiser.pt")
        (aside / "trainer.json").write_text(json.dumps(state, indent=1))
        digests = {file.name: digest(file) for file in sorted(aside.iterdir())}
        (aside / _MANIFEST).write_text(json.dumps(digests, indent=1))
        for file in aside.iterdir():
            _flush(file)
        if folder.exists():
            shutil.rmtree(old, ignore_errors=True)
            folder.rename(old)
        aside.rename(folder)
        _flush(folder.parent)
        shutil.rmtree(old, ignore_errors=True)
    except (OSError, RuntimeError, SafetensorError) as error:  # the last two: how tensors say that a disk is full
        shutil.rmtree(aside, ignore_errors=True)
        reason = getattr(error, "strerror", None) or " ".join(str(error).split())[:160]
        raise KolmoError(
            f"{folder}: checkpoint not written ({reason}); make room and use --resume, earlier ones are intact"
        ) from error
    return folder


def load_state(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The trainer's state and the optimiser's, of a complete checkpoint."""
    state = json.loads((folder / "trainer.json").read_text())
    optimiser = torch.load(folder / "optimiser.pt", weights_only=True, map_location="cpu")
    return state, optimiser


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
        digests = json.loads((folder / _MANIFEST).read_text())
        return all(digest(folder / name) == written for name, written in digests.items())
    except (OSError, ValueError, AttributeError):
        return False


def digest(file: Path) -> str:
    """SHA-256 of a file."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
