"""Opening data files: standard input and gzip like any other, and outputs that are there whole or not at all."""

from __future__ import annotations

import contextlib
import gzip
import io
import sys
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, BinaryIO, cast

from kolmocli.errors import KolmoError, UsageError
from kolmocli.files import STANDARD, check_output, replacing, require_regular

_GZIP = b"\x1f\x8b"


@contextlib.contextmanager
def reading(name: str, *, unpack: bool = True) -> Iterator[BinaryIO]:
    """The bytes of a file as a stream, `-` being standard input; a gzip file is unpacked on the way.

    A fault while the block reads is named too: a cut or damaged gzip stream shows itself late.

    Raises:
        UsageError: the file cannot be read.
    """
    if name != STANDARD:
        require_regular(name, piped=True)
    try:
        with contextlib.ExitStack() as stack:
            plain = sys.stdin.buffer if name == STANDARD else stack.enter_context(open(name, "rb"))
            if unpack and cast(io.BufferedReader, plain).peek(2)[:2] == _GZIP:
                yield cast(BinaryIO, stack.enter_context(gzip.GzipFile(fileobj=plain)))
            else:
                yield plain
    except BrokenPipeError:
        raise
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise UsageError(f"{name}: a damaged or cut gzip file: {error}") from None
    except OSError as error:
        raise UsageError(f"{name}: cannot be read: {error.strerror or error}") from None


class Output:
    """Somewhere to write. Its errors are its own: a full disk is not taken for an input that cannot be read."""

    def __init__(self, stream: IO[bytes], name: str) -> None:
        self._stream = stream
        self._name = name

    def write(self, data: bytes | memoryview) -> None:
        try:
            self._stream.write(data)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise _unwritable(self._name, error) from None


def _unwritable(target: str, error: OSError) -> KolmoError:
    where = "standard output" if target == STANDARD else target
    return KolmoError(f"{where}: cannot be written: {error.strerror or error}")


@contextlib.contextmanager
def writing(target: str, *, force: bool, inputs: Sequence[str] = ()) -> Iterator[Output]:
    """A stream into a file that appears under its name when the block ends well, and not otherwise.

    `-` is standard output. The data can be made again, so nothing is forced to disk: the file survives the end of
    this process, whatever it is, but not every power cut.

    Raises:
        UsageError: the target is one of the inputs, or a folder.
        KolmoError: it exists and `force` is not given, or it cannot be written.
    """
    for source in inputs or (STANDARD,):
        check_output(source, target, force, binary=False)
    try:
        if target == STANDARD:
            yield Output(sys.stdout.buffer, target)
            sys.stdout.buffer.flush()
        elif Path(target).exists() and not Path(target).is_file():  # a device or a pipe has no place to rename to
            with open(target, "wb") as device:
                yield Output(device, target)
        else:
            with replacing(Path(target), durable=False) as file:
                yield Output(file, target)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _unwritable(target, error) from None
