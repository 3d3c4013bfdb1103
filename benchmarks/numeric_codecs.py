"""The codecs of numbers that `kolmo compress` is compared with. Each is told the type; kolmo is not.

pcodec, Blosc2 and OpenZL are measured where they are installed: `pip install pcodec blosc2 openzl`.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

import numpy as np

from kolmocli.archive.codecs.numbers import TYPES, NumberType

Peer = Callable[[bytes, NumberType], int]
"""(data, type of their numbers) to the size of a whole file of that codec."""


def type_of(name: str) -> NumberType | None:
    """The type that the end of a file's name tells, as in `pulse.i16`."""
    return TYPES.get(Path(name).suffix.removeprefix("."))


def numeric_codecs() -> dict[str, Peer]:
    """Those of this machine, by name."""
    peers: dict[str, Peer] = {"pcodec": _pcodec, "blosc2": _blosc2, "openzl": _openzl}
    return {name: peer for name, peer in peers.items() if importlib.util.find_spec(name)}


def _numbers(data: bytes, type_: NumberType) -> np.ndarray:
    whole = len(data) - len(data) % type_.width
    return np.frombuffer(data[:whole], type_.dtype).astype(type_.dtype.newbyteorder("="))


def _pcodec(data: bytes, type_: NumberType) -> int:
    """Level 12, the strongest, in a standalone file."""
    from pcodec import ChunkConfig, standalone

    return len(standalone.simple_compress(_numbers(data, type_), ChunkConfig(compression_level=12)))


def _blosc2(data: bytes, type_: NumberType) -> int:
    """zstd at level 9, behind the better of shuffled bytes and bits."""
    import blosc2

    numbers = _numbers(data, type_)
    filters = (blosc2.Filter.SHUFFLE, blosc2.Filter.BITSHUFFLE)
    return min(
        len(blosc2.compress(numbers, typesize=type_.width, clevel=9, filter=f, codec=blosc2.Codec.ZSTD))
        for f in filters
    )


def _openzl(data: bytes, type_: NumberType) -> int:
    """Its generic backend for numbers, behind differences and without them: no training."""
    from openzl import ext

    sizes = []
    for differences in (False, True):
        compressor = ext.Compressor()
        graph = ext.graphs.Compress()(compressor)
        if differences and type_.name[0] != "f":
            graph = ext.nodes.DeltaInt()(compressor, graph)
        compressor.select_starting_graph(graph)
        context = ext.CCtx()
        context.ref_compressor(compressor)
        context.set_parameter(ext.CParam.FormatVersion, ext.MAX_FORMAT_VERSION)
        unsigned = _numbers(data, type_).view(f"u{type_.width}")
        sizes.append(len(context.compress([ext.Input(ext.Type.Numeric, unsigned)])))
    return min(sizes)
