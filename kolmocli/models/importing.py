"""`kolmo model import`: a GGUF file or a folder in Hugging Face format of one's own, into the cache."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

from kolmocli.checkpoints import digest
from kolmocli.errors import UsageError
from kolmocli.models.card import card
from kolmocli.models.conversion import convert, require_reader
from kolmocli.models.folders import copy_model, require_libraries
from kolmocli.models.store import Kept, Origin, arriving, find_kept, require_name, require_room, write_origin

_UNPACKED = 5
"""Blocks of the fewest bits become this many times larger in bf16."""


def import_model(source: Path, name: str | None, reserved: Collection[str], note: Callable[[str], None]) -> Kept:
    """The model in this file or folder, as one in the cache. `reserved` are names that mean another model already.

    Raises:
        UsageError: there is nothing to import, a model of that name is there, or it is not one that can be loaded.
        EnvironmentMissing: what reads GGUF files or models is not installed.
        KolmoError: the cache cannot be written, or has no room.
    """
    if not source.exists():
        raise UsageError(f"{source}: there is no such file or folder; name a GGUF file or a folder with config.json")
    if source.is_file() and source.suffix.lower() != ".gguf":
        raise UsageError(
            f"{source}: neither a GGUF file (*.gguf) nor a folder; of a model in several files name their folder"
        )
    name = (source.stem if source.is_file() else source.resolve().name) if name is None else name
    require_name(name, reserved)
    require_reader() if source.is_file() else require_libraries()
    with arriving(name, note) as arrival:
        if arrival is None:
            raise UsageError(
                f"{name}: is in the cache already; choose another with --name, or first: kolmo model remove {name}"
            )
        origin = (_of_file if source.is_file() else _of_folder)(source, arrival.folder, note)
        write_origin(arrival.folder, origin)
        readme = arrival.folder / "README.md"
        if not readme.exists():
            readme.write_text(card(name, origin))
    return find_kept(name)


def _of_file(file: Path, folder: Path, note: Callable[[str], None]) -> Origin:
    require_room(folder, _UNPACKED * file.stat().st_size)
    kind, licence = convert(file, folder, note)
    unpacked = "as they were" if kind in ("F32", "F16", "BF16") else "dequantised"
    return Origin(f"the file {file.name}", f"{kind} of a GGUF file, {unpacked}", licence, digest(file))


def _of_folder(source: Path, folder: Path, note: Callable[[str], None]) -> Origin:
    require_room(folder, sum(file.stat().st_size for file in source.glob("*.safetensors")))
    note(f"{source}: copying")
    copy_model(source, folder, note)
    return Origin(f"the folder {source.resolve().name}", "the weights as they were saved there")
