"""Pack a grader's modules for its container: folders as they are, and packages by their names, as one tar file."""

from __future__ import annotations

import io
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

from kolmocli.errors import UsageError
from kolmocli.sandbox.wheels import bring

INSIDE = Path(__file__).with_name("inside.txt")
USER = 65534
_SKIPPED = frozenset({"__pycache__", ".git", ".venv"})


def contents(module: str, packages: Sequence[str], version: str) -> tuple[str, bytes]:
    """The name of the module inside, and the tar file for the root of the container.

    `module` may be a file `grade.py`; `packages` are folders that Python imports from, and requirements of pip, of which
    wheels are fetched for Python `version`, so that nothing of them runs on this machine.

    Raises:
        EnvironmentMissing: pip finds no wheel.
        UsageError: there is no such file.
    """
    folders = [Path(each) for each in packages if Path(each).is_dir()]
    names = [each for each in packages if not Path(each).is_dir()]
    for name in names:
        if "/" in name or name.startswith((".", "-")):
            raise UsageError(f"--packages {name}: neither a folder that is there nor a package of pip")
    buffer = io.BytesIO()
    with tempfile.TemporaryDirectory() as fetched, tarfile.open(fileobj=buffer, mode="w") as tar:
        if names:
            remedy = "unpack it into a folder, and name that"
            bring(names, version, remedy, "install", "--no-compile", "--target", fetched)
        top = tarfile.TarInfo("attack")
        top.type, top.mode, top.uid, top.gid = tarfile.DIRTYPE, 0o755, USER, USER
        tar.addfile(top)
        _add(tar, "attack/inside.py", INSIDE.read_bytes())
        if module.endswith(".py"):
            file = Path(module)
            if not file.is_file():
                raise UsageError(f"--python {module}: no such file")
            _add(tar, f"attack/{file.name}", file.read_bytes())
            module = file.stem
        for folder in (Path(fetched), *folders):
            tar.add(folder, "attack/packages", filter=_owned)
        _add(tar, "attack/packages/.kept", b"")
    return module, buffer.getvalue()


def one_file(name: str, data: bytes) -> bytes:
    """A tar file of one file, which the user inside owns."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        _add(tar, name, data)
    return buffer.getvalue()


def _add(tar: tarfile.TarFile, name: str, data: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode, entry.uid, entry.gid = len(data), 0o644, USER, USER
    tar.addfile(entry, io.BytesIO(data))


def _owned(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    if _SKIPPED & set(Path(entry.name).parts) or not (entry.isfile() or entry.isdir()):
        return None
    entry.uid = entry.gid = USER
    entry.mode |= 0o555 if entry.isdir() else 0o444
    return entry
