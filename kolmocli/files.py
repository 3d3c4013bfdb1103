"""Reading and writing files the careful way: nothing is overwritten silently, nothing is left half-written.

An output is written next to its place, forced to disk and only then renamed; an input is removed last, after the
output was read back.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, BinaryIO

from kolmocli.console import writable
from kolmocli.errors import KolmoError, UsageError

SUFFIX = ".klm"
STANDARD = "-"
_SPOOLED_BYTES = 1 << 26


def require_regular(name: str | Path, *, piped: bool = False) -> None:
    """Refuse what has no end, or never begins: a FIFO without a writer, a device. A missing file is for
    the caller to name.

    With `piped` what the shell opened for this command is taken as well: `<(…)` and /dev/stdin.

    Raises:
        UsageError: it is not a regular file.
    """
    if piped and (str(name).startswith("/dev/fd/") or str(name) == "/dev/stdin"):
        return
    try:
        mode = Path(name).stat().st_mode
    except (OSError, ValueError):
        return
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        remedy = "; for what another command writes use - or <(…)" if piped else ""
        raise UsageError(f"{name}: not a regular file but {_kind(mode)}{remedy}")


def require_utf8(folder: Path) -> None:
    """Raise UsageError for a folder that libraries cannot write into, which hand its name on as UTF-8: before hours of training."""
    if not writable(str(folder)):
        raise UsageError(
            f"{folder}: its name is not UTF-8, and what writes models and TensorBoard needs that; name another"
        )


def read_regular(path: Path) -> bytes:
    """All bytes of a file that is no pipe and no device.

    Raises:
        UsageError: it is one.
        OSError: it cannot be read.
    """
    require_regular(path)
    return path.read_bytes()


def _kind(mode: int) -> str:
    return "a FIFO" if stat.S_ISFIFO(mode) else "a socket" if stat.S_ISSOCK(mode) else "a device"


def read_input(name: str) -> bytes:
    """All bytes of a file, or of standard input for `-`.

    Raises:
        UsageError: it is a device, or a FIFO that has a name.
        KolmoError: it cannot be read.
    """
    if name == STANDARD:
        return sys.stdin.buffer.read()
    require_regular(name, piped=True)
    try:
        return Path(name).read_bytes()
    except FileNotFoundError:
        raise KolmoError(f"{name}: no such file") from None
    except IsADirectoryError:
        raise KolmoError(f"{name}: is a directory, not a file") from None
    except OSError as error:
        raise KolmoError(f"{name}: cannot be read: {error.strerror}") from None


def read_archive(name: str) -> bytes:
    """The same for an archive, which is never typed by hand.

    Raises:
        UsageError: when it would be read from a terminal.
    """
    if name == STANDARD and sys.stdin.isatty():
        raise UsageError("an archive is not read from a terminal; name a file")
    return read_input(name)


def packed_name(name: str, suffix: str = SUFFIX) -> str:
    """Path for the archive of a file or a folder."""
    if name == STANDARD:
        return STANDARD
    if name.endswith(suffix):
        raise UsageError(f"{name}: ends in {suffix} already; say with -o where an archive of it goes")
    if Path(name).name in ("", ".."):
        raise UsageError(f"{name}: is a directory without a name; say with -o where an archive of it goes")
    return f"{Path(name)}{suffix}"


def unpacked_name(name: str, suffix: str = SUFFIX) -> str:
    """Path for the original of an archive."""
    if name == STANDARD:
        return STANDARD
    if not name.endswith(suffix) or Path(name).name == suffix:
        raise UsageError(
            f"{name}: does not end in {suffix}; say where the original goes with -o, or its ending with -S"
        )
    return name.removesuffix(suffix)


def check_output(source: str, target: str, force: bool, binary: bool) -> None:
    """Refuse an output before any work is done.

    Raises:
        UsageError: when it is the input, or a terminal that would get binary data.
        KolmoError: when it exists and `force` is not given.
    """
    if target == STANDARD:
        if binary and sys.stdout.isatty() and not force:
            raise UsageError("an archive is not written to a terminal; use -o FILE, or -f to do it all the same")
        return
    path = Path(target)
    if path.is_dir():
        raise UsageError(f"{target}: is a directory; name a file with -o")
    if path.exists() and source != STANDARD and Path(source).exists() and path.samefile(source):
        raise UsageError(f"{target}: is the input; name another output with -o")
    if (path.is_file() or (path.is_symlink() and not path.exists())) and not force:
        raise KolmoError(f"{target}: exists already; use -f to overwrite it")


Contents = bytes | Iterable[bytes]
"""Contents of a file, in one piece or in parts: parts may still be in the making, and fail."""


def write_output(target: str, data: Contents, like: str = STANDARD) -> None:
    """Write a file whole or not at all, with the permissions and times of the file `like`; `-` is standard output."""
    try:
        if target == STANDARD:
            _write_all(sys.stdout.buffer, data)
            sys.stdout.buffer.flush()
        elif Path(target).exists() and not Path(target).is_file():  # a device or a pipe has no place to rename to
            with open(target, "wb") as device:
                _write_all(device, data)
        else:
            with replacing(Path(target), like) as file:
                for part in _parts(data):
                    file.write(part)
    except BrokenPipeError:
        raise
    except OSError as error:
        where = "standard output" if target == STANDARD else target
        raise KolmoError(f"{where}: cannot be written: {error.strerror}") from None


def _write_all(output: BinaryIO, data: Contents) -> None:
    """Nothing is written before all parts are there: what is not in memory waits in a file without a name."""
    with tempfile.SpooledTemporaryFile(_SPOOLED_BYTES) as whole:
        for part in _parts(data):
            whole.write(part)
        whole.seek(0)
        shutil.copyfileobj(whole, output)


def _parts(data: Contents) -> Iterable[bytes]:
    return (data,) if isinstance(data, bytes) else data


@contextlib.contextmanager
def writing(place: Path) -> Iterator[None]:
    """While entered, a file that cannot be written, there or in it, is one line that names it.

    Raises:
        KolmoError: instead of OSError.
    """
    try:
        yield
    except OSError as error:
        raise KolmoError(f"{error.filename or place}: cannot be written: {error.strerror}") from None


def own_folder(folder: Path) -> Path:
    """A folder inside a run, made where there is none. A link is replaced and not followed: the run may come from
    somebody else, and what is written there would go elsewhere."""
    if folder.is_symlink():
        folder.unlink()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextlib.contextmanager
def replacing(target: Path, like: str = STANDARD, *, durable: bool = True) -> Iterator[IO[bytes]]:
    """A file that is there under its name, whole, when the block ends well, and as it was before otherwise, with the
    permissions and times of the file `like`. One that is not `durable` outlives this process, but not every power cut."""
    begun = os.fsencode(target.name)[:100].decode(errors="ignore")  # the name itself may be as long as names can be
    handle, temporary = tempfile.mkstemp(prefix=f".{begun}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            if durable:
                file.flush()
                os.fsync(file.fileno())
        if like != STANDARD and Path(like).is_file():
            shutil.copystat(like, temporary)
        else:
            os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
        if durable:
            with contextlib.suppress(OSError):  # some file systems cannot; the file itself is safe
                sync(target.parent)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def sync(path: Path) -> None:
    """Force a file to disk, or the names in a folder."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def remove_input(name: str, target: str, written: Contents) -> None:
    """Remove an input whose output is really there.

    Raises:
        KolmoError: when the output on disk is not what was written; the input is then kept.
    """
    if name == STANDARD or target == STANDARD or not stat.S_ISREG(os.stat(target).st_mode):
        return
    with open(target, "rb") as file:
        same = all(file.read(len(part)) == part for part in _parts(written)) and not file.read(1)
    remove_file(name, same, target)


def remove_file(name: str, same: bool, target: str) -> None:
    """Remove an input if `same`: its output, read again, is what was written.

    Raises:
        KolmoError: when it is not.
    """
    if not same:
        raise KolmoError(f"{target}: reads back differently; {name} is kept")
    os.unlink(name)
