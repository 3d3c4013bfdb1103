"""Pack a grader's modules for its container: folders as they are, and packages by their names, as one tar file."""

from __future__ import annotations

import importlib.util
import io
import platform
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

from kolmocli.errors import EnvironmentMissing, UsageError

INSIDE = Path(__file__).with_name("inside.txt")
USER = 65534
_PLATFORMS = ("manylinux2014", "manylinux_2_17", "manylinux_2_28")
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
            fetch(names, version, Path(fetched))
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


def fetch(names: Sequence[str], version: str, folder: Path) -> None:
    """Unpack the wheels of these requirements, and of what they need, for Python `version` into a folder.

    Raises:
        EnvironmentMissing: there is no pip, or it finds no wheel.
    """
    if importlib.util.find_spec("pip") is None:
        raise EnvironmentMissing(
            f"--packages {names[0]}: this environment has no pip to bring it with; run {sys.executable} -m ensurepip"
        )
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-compile", "--only-binary=:all:"]
    command += ["--target", str(folder), "--python-version", version, "--implementation", "cp"]
    command += [word for each in _PLATFORMS for word in ("--platform", f"{each}_{platform.machine()}")]
    done = subprocess.run([*command, *names], capture_output=True, text=True)
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or ["no reason given"]
        raise EnvironmentMissing(
            f"pip finds no wheels of {', '.join(names)} for Python {version}: {errors[0][:200]}; "
            "unpack it into a folder, and name that"
        )
