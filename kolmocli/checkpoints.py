"""Finding checkpoints of a run: complete ones, newest first, by the digests in their manifests.

`learning/saving.py` writes them. A checkpoint is complete or absent; where a folder of the same step is replaced, old
and new lie under hidden names for a moment: they count too.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from kolmocli.errors import KolmoError
from kolmocli.plain import parsed

MANIFEST = "manifest.json"
"""The digest of every other file of the checkpoint, written last."""
FOR_RESUMING = ("optimiser.pt", "trainer.json")
"""Files needed only to resume."""


def silent(said: str) -> None:
    """For callers that do not listen."""


def checkpoints(run_dir: Path, say: Callable[[str], None] = silent) -> Iterator[Path]:
    """Complete checkpoints, newest first. `say` gets a line for each that is damaged; one that is still being written, or was
    when its writer died, is none yet."""
    for folder in sorted(_folders(run_dir), key=_rank, reverse=True):
        wrong = _damage(folder)
        if not wrong:
            yield folder
        elif not folder.name.startswith("."):
            say(f"{folder} is damaged and passed over: {wrong}")


def latest_checkpoint(run_dir: Path, say: Callable[[str], None] = silent) -> Path | None:
    return next(checkpoints(run_dir, say), None)


def require_as_written(folder: Path) -> None:
    """Compare the files of a policy with their digests. A folder without a manifest is no checkpoint of ours and passes.

    Raises:
        KolmoError: one of them is not what the run wrote.
    """
    if (folder / MANIFEST).exists() and (wrong := _damage(folder, policy_alone=True)):
        raise KolmoError(f"{folder}: {wrong}; take another checkpoint of the run, or copy this one again")


def settle(run_dir: Path) -> None:
    """Clear up after a writer that died: what it had finished gets its name, what it had not is removed.

    Only for a run that no process writes to.
    """
    for aside in sorted((f for f in _folders(run_dir) if f.name.startswith(".")), key=_rank, reverse=True):
        named = aside.with_name(aside.name.split(".")[1])
        if _damage(aside) or (named.exists() and not _damage(named)):
            remove(aside)
        elif not named.exists():
            aside.rename(named)


def remove(folder: Path) -> None:
    """Remove a folder with what is in it; of a link the link alone."""
    if folder.is_symlink():
        folder.unlink()
    else:
        shutil.rmtree(folder, ignore_errors=True)


def _folders(run_dir: Path) -> list[Path]:
    return [p for p in (run_dir / "checkpoints").glob("*") if p.name.lstrip(".").startswith("step_")]


def _rank(folder: Path) -> tuple[int, str, bool, str]:
    """By step, of six digits or the seven of a million; of one step first the folder itself, then the new one of an exchange, then the old."""
    step, _, part = folder.name.lstrip(".").partition(".")
    return len(step), step, not part, part


def _damage(folder: Path, *, policy_alone: bool = False) -> str:
    """The damage of a checkpoint in a few words; empty where every file is as it was written.

    With `policy_alone`, files of the resumption do not matter, nor what was taken out: models say what they miss.
    """
    if not (folder / MANIFEST).is_file():  # a pipe or a device has no end
        return f"no {MANIFEST} in it"
    try:
        digests = dict(parsed((folder / MANIFEST).read_text()))
    except (OSError, ValueError, TypeError):
        return f"{MANIFEST} cannot be read"
    for name, written in digests.items():
        file = folder / name
        if policy_alone and (name in FOR_RESUMING or not file.exists()):
            continue
        if not file.is_file():
            return f"no {name} in it"
        try:
            if digest(file) != written:
                return f"{name} is not what was written there"
        except OSError as error:
            return f"{name} cannot be read ({error.strerror})"
    return "" if digests else f"{MANIFEST} names no file"


def digest(file: Path) -> str:
    """SHA-256 of a file."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
