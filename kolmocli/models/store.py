"""The cache of models: a folder for each, complete or absent, in Hugging Face format, with a `kolmo.json`."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from kolmocli.checkpoints import remove
from kolmocli.errors import KolmoError, UsageError, remedy_of, suggest
from kolmocli.files import read_regular, sync
from kolmocli.paths import is_model_name, models_dir
from kolmocli.plain import parsed

ABOUT = "kolmo.json"
_LOCK = ".lock"


@dataclass(frozen=True, slots=True)
class Origin:
    """Source of a model in the cache. `sha256` is of the file that it was made of, where it was made of one."""

    source: str
    weights: str
    licence: str | None = None
    sha256: str | None = None
    notes: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Kept:
    """A model in the cache. `origin` is None where somebody put the folder there by hand."""

    name: str
    folder: Path
    origin: Origin | None

    @property
    def bytes(self) -> int:
        return sum(file.stat().st_size for file in self.folder.rglob("*") if file.is_file())


def require_name(name: str, reserved: Collection[str]) -> None:
    """Raise UsageError where no model of the cache may be called that; `reserved` names mean something else already."""
    if not is_model_name(name):
        raise UsageError(
            f"--name {name!r}: letters, digits, '.', '-' and '_', at most 100 and a letter or digit first; "
            "choose such a name with --name"
        )
    if name in reserved:
        raise UsageError(f"--name {name}: means a model that comes with kolmo; choose another with --name")


def kept_models() -> list[Kept]:
    """All models in the cache, by name."""
    place = models_dir()
    folders = sorted(place.iterdir()) if place.is_dir() else []
    return [
        Kept(folder.name, folder, _origin(folder))
        for folder in folders
        if is_model_name(folder.name) and (folder / "config.json").is_file()
    ]


def find_kept(name: str, others: Collection[str] = ()) -> Kept:
    """The model of that name. `others` are names that can be brought.

    Raises:
        UsageError: it is not in the cache.
    """
    models = {model.name: model for model in kept_models()}
    if name in models:
        return models[name]
    if name in others:
        raise UsageError(f"{name}: not in {models_dir()} yet; bring it with: kolmo model get {name}")
    hint = suggest(name, models) if models else "there is none yet: kolmo model get smollm2"
    raise UsageError(f"{name}: no model of that name in {models_dir()}; {hint}")


def remove_kept(name: str) -> Kept:
    """Remove a model from the cache: it is gone under its name at once, whatever interrupts the rest.

    Raises:
        UsageError: it is not there.
    """
    model = find_kept(name)
    with _writing(), _alone(lambda _: None):
        leaving = models_dir() / f".{name}.removed"
        remove(leaving)
        model.folder.rename(leaving)
        leaving.unlink() if leaving.is_symlink() else shutil.rmtree(leaving)
    return model


@dataclass(frozen=True, slots=True)
class Arrival:
    """`folder` becomes the model; what lies in `downloads` is kept for another try."""

    folder: Path
    downloads: Path


@contextmanager
def arriving(name: str, note: Callable[[str], None]) -> Iterator[Arrival | None]:
    """A folder to fill, which gets its name at the end, complete, or is removed. None: a model of that name is there.

    Raises:
        KolmoError: the cache cannot be written, or has no room.
    """
    place = models_dir()
    made, downloads = place / f".{name}.new", place / f".{name}.download"
    with _writing():
        place.mkdir(parents=True, exist_ok=True)
        with _alone(note):
            if (place / name / "config.json").is_file():
                yield None
                return
            if os.path.lexists(place / name):
                raise UsageError(f"{place / name}: is there already and holds no model; move it away")
            shutil.rmtree(made, ignore_errors=True)  # of a process that was killed
            made.mkdir()
            downloads.mkdir(exist_ok=True)
            try:
                yield Arrival(made, downloads)
                for file in made.iterdir():
                    sync(file)
                made.rename(place / name)
                shutil.rmtree(downloads)
            finally:
                shutil.rmtree(made, ignore_errors=True)
                if downloads.is_dir() and not any(downloads.iterdir()):
                    downloads.rmdir()


def write_origin(folder: Path, origin: Origin) -> None:
    (folder / ABOUT).write_text(
        json.dumps({"schema_version": 1, **asdict(origin)}, indent=1, ensure_ascii=False) + "\n"
    )


def require_room(place: Path, needed: int) -> None:
    """Raise KolmoError where the disk of `place` has no room for this many bytes."""
    free = shutil.disk_usage(place).free
    if free < needed:
        raise KolmoError(
            f"{models_dir()}: {free / 1e6:,.0f} MB are free and {needed / 1e6:,.0f} MB are needed; "
            "make room, or name another place with KOLMO_MODELS"
        )


def _origin(folder: Path) -> Origin | None:
    try:
        found = parsed(read_regular(folder / ABOUT))
        return Origin(found["source"], found["weights"], found["licence"], found["sha256"], tuple(found["notes"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


@contextmanager
def _alone(note: Callable[[str], None]) -> Iterator[None]:
    """One process at a time changes the cache. The lock is the system's: it dies with its process."""
    file = os.open(models_dir() / _LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            note(f"{models_dir()}: waiting for another kolmo that changes it")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


@contextmanager
def _writing() -> Iterator[None]:
    """Turn errors of the system, or of a library that writes tensors, into one line about the cache."""
    try:
        yield
    except OSError as error:
        where = error.filename2 or error.filename or models_dir()  # the second: where a copy goes to
        if not Path(os.fsdecode(where)).is_relative_to(models_dir()):
            raise KolmoError(f"{where}: cannot be read: {error.strerror or error}") from None
        remedy = f"{remedy_of(error)}, or name another place with KOLMO_MODELS"
        raise KolmoError(f"{where}: cannot be written: {error.strerror or error}; {remedy}") from None
