"""kolmo as a codec of numcodecs, for the chunks of zarr arrays and whatever else takes such codecs.

    from kolmocli.integrations.numcodecs import Kolmo

    zarr.create_array("data.zarr", data=data, chunks=(365,), zarr_format=2, compressors=Kolmo(level=6))

Installing `kolmocli[numcodecs]` registers it under the name `kolmo`, so that arrays are read without this import.
"""

from __future__ import annotations

from typing import Any

from numcodecs.abc import Codec
from numcodecs.compat import ensure_contiguous_ndarray, ndarray_copy
from numcodecs.registry import register_codec

from kolmocli.archive.codecs.numbers import TYPES
from kolmocli.archive.opener import DEFAULT_MAX_OUTPUT, decompress
from kolmocli.archive.options import DEFAULT_LEVEL, Options
from kolmocli.archive.packer import compress_with_reports

__all__ = ["Kolmo"]


class Kolmo(Codec):
    """A chunk as an archive of one file.

    Its numbers need not be guessed: an array tells their type. Decoding runs no code from an archive.
    """

    codec_id = "kolmo"

    def __init__(self, level: int = DEFAULT_LEVEL, max_output: int = DEFAULT_MAX_OUTPUT) -> None:
        if level not in range(10):
            raise ValueError(f"level {level}: from 0 to 9")
        self.level = int(level)  # a number of numpy is none in JSON, where arrays keep it
        """0 (codecs only) to 9."""
        self.max_output = max_output
        """Largest chunk, in bytes, that is decoded."""

    def encode(self, buf: Any) -> bytes:
        chunk = ensure_contiguous_ndarray(buf)
        name = f"{chunk.dtype.kind}{8 * chunk.dtype.itemsize}" + "be" * (chunk.dtype.str[0] == ">")
        types = (TYPES[name],) if name in TYPES else ()
        return compress_with_reports(chunk.tobytes(), Options(self.level, types=types))[0]

    def decode(self, buf: Any, out: Any = None) -> Any:
        return ndarray_copy(decompress(ensure_contiguous_ndarray(buf).tobytes(), self.max_output), out)


register_codec(Kolmo)
