"""Locations of the files that come with kolmo: next to the package in a checkout, inside it in a wheel."""

from __future__ import annotations

import os
import re
from difflib import get_close_matches
from pathlib import Path

from kolmocli.errors import UsageError

_PACKAGE = Path(__file__).resolve().parent
SHIPPED = "shipped"
"""Name of the policy that comes with kolmo."""


def data_dir(name: str) -> Path:
    """The folder `name` (`curricula`, `sandbox_image`) of this installation."""
    packaged = _PACKAGE / "_data" / name
    return packaged if packaged.is_dir() else _PACKAGE.parent / name


def cache_dir() -> Path:
    """Folder for files that kolmo can make again: `kolmo` in the user's cache (XDG)."""
    xdg = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    return (xdg if xdg.is_absolute() else Path("~/.cache").expanduser()) / "kolmo"


def curricula_dir() -> Path:
    """The folder of the curricula that come with kolmo."""
    return data_dir("curricula")


def packaged_curricula() -> list[str]:
    """The names that stand for a packaged curriculum, such as `quickstart`."""
    return sorted(path.stem for path in curricula_dir().glob("*.yaml"))


def is_shipped(name: str) -> bool:
    """Whether it means the policy that comes with kolmo. A folder of that name wins."""
    return name == SHIPPED and not Path(name).is_dir()


def models_dir() -> Path:
    """The user's cache of models: `$KOLMO_MODELS`, else `kolmo/models` in the cache of the user (XDG)."""
    if own := os.environ.get("KOLMO_MODELS"):
        return Path(own).expanduser().absolute()
    return cache_dir() / "models"


def is_model_name(name: str) -> bool:
    """Whether a model in the cache may be called that: a name becomes a folder and is never a path."""
    return re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", name) is not None


def model_folder(name: str) -> Path:
    """The folder that the name of a model stands for, if it is one: of a folder itself, else of a model in the cache."""
    if is_shipped(name):
        return _PACKAGE / "policy" / SHIPPED
    kept = models_dir() / name
    return kept if is_model_name(name) and kept.is_dir() and not Path(name).is_dir() else Path(name)


def find_curriculum(name_or_path: str) -> Path:
    """The curriculum file that a user means: a packaged name, or a file.

    A bare name is looked up among the packaged ones first; `./quickstart` is always a file.

    Raises:
        UsageError: there is neither; it lists what there is.
    """
    names = packaged_curricula()
    if name_or_path in names:
        return curricula_dir() / f"{name_or_path}.yaml"
    path = Path(name_or_path)
    if path.is_file():
        return path
    if path.is_dir():
        raise UsageError(f"{name_or_path}: a folder, not a curriculum file")
    close = get_close_matches(path.stem, names, n=1)
    hint = f"did you mean {close[0]}?" if close else f"packaged are {', '.join(names) or 'none'}"
    raise UsageError(f"{name_or_path}: neither a curriculum file nor a packaged curriculum; {hint}")
