"""Checkpoints that are complete or absent: written aside, flushed, renamed, with a digest of every file.

A checkpoint folder holds the policy in Hugging Face format, `trainer.json` (controller, counters, phase),
`optimiser.pt` (tensors only) and `manifest.json`, which is written last and names the digest of the others.
Where a folder of the same step is replaced, old and new lie under hidden names for a moment: they count too.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError

from kolmocli.checkpoints import MANIFEST, digest, remove
from kolmocli.errors import KolmoError, reason_of, remedy_of
from kolmocli.files import sync
from kolmocli.plain import parsed
from kolmocli.policy.policy import Policy


def save_checkpoint(run_dir: Path, step: int, policy: Policy, optimiser: dict[str, Any], state: dict[str, Any]) -> Path:
    """Write `checkpoints/step_000100` and return it; one that is already there is replaced.

    Raises:
        KolmoError: the disk is full or not writable, or the run folder is gone; earlier checkpoints are as they were.
    """
    folder = run_dir / "checkpoints" / f"step_{step:06d}"
    aside, old = (folder.with_name(f".{folder.name}.{name}") for name in ("partial", "old"))
    try:
        remove(aside)
        aside.parent.mkdir(exist_ok=True)  # not the run folder: without it there is nothing to go on with
        aside.mkdir()
        policy.save(aside)
        torch.save(optimiser, aside / "optimiser.pt")
        (aside / "trainer.json").write_text(json.dumps(state, indent=1))
        digests = {file.name: digest(file) for file in sorted(aside.iterdir())}
        (aside / MANIFEST).write_text(json.dumps(digests, indent=1))
        for file in aside.iterdir():
            sync(file)
        if os.path.lexists(folder):
            remove(old)
            folder.rename(old)
        aside.rename(folder)
        sync(folder.parent)
        remove(old)
    except (OSError, RuntimeError, SafetensorError) as error:  # the last two: how tensors say that a disk is full
        remove(aside)
        raise KolmoError(
            f"{folder}: checkpoint not written ({reason_of(error)}); {remedy_of(error)} and use --resume, earlier ones are intact"
        ) from error
    return folder


def load_state(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The trainer's state and the optimiser's, of a complete checkpoint.

    Raises:
        KolmoError: a file is not what kolmo writes, though its digest is right: somebody else has made it.
    """
    state = _loaded(folder / "trainer.json", lambda file: parsed(file.read_text()))
    optimiser = _loaded(folder / "optimiser.pt", lambda file: torch.load(file, weights_only=True, map_location="cpu"))
    return state, optimiser


def _loaded(file: Path, read: Callable[[Path], Any]) -> dict[str, Any]:
    with understood(file):
        found = read(file)
        if not isinstance(found, dict):
            raise TypeError
    return found


@contextmanager
def understood(file: Path) -> Iterator[None]:
    """While entered, what cannot be made of this file of a checkpoint is one line: somebody else has made it, though its digest
    is right.

    Raises:
        KolmoError: instead of any other exception.
    """
    try:
        yield
    except KolmoError:
        raise
    except Exception as error:  # a hostile pickle ends its reader in any way it likes
        raise KolmoError(
            f"{file}: not what kolmo writes there; remove this checkpoint, and --resume takes the one before it"
        ) from error
