"""Read the header of a GGUF file without its weights: kind of model, types of tensors, where each ends.

The layout is llama.cpp's (docs/gguf.md there): magic, version, counts, typed key-value pairs, a table of tensors, and
their data from the next multiple of the alignment on. All numbers are little endian.
"""

from __future__ import annotations

import math
import mmap
import struct
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kolmocli.errors import UsageError
from kolmocli.files import require_regular

_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
_MOST_DIMENSIONS = 4
_KEPT = 64
"""Longer arrays keep only their length."""


@dataclass(frozen=True, slots=True)
class TensorEntry:
    """`shape` is as stored, fastest dimension first; `offset` is in bytes from the beginning of the data."""

    name: str
    shape: tuple[int, ...]
    kind: int
    offset: int


@dataclass(frozen=True, slots=True)
class Header:
    """`fields` has every key with its value; of a long array its length."""

    fields: dict[str, Any]
    tensors: tuple[TensorEntry, ...]
    data: int
    """Start of the tensors' data, in bytes."""

    @property
    def licence(self) -> str | None:
        found = self.fields.get("general.license")
        return None if found is None else str(found)

    @property
    def words(self) -> int:
        """Words of the tokenizer; 0 where the file has none."""
        found = self.fields.get("tokenizer.ggml.tokens", 0)
        return len(found) if isinstance(found, list) else found if isinstance(found, int) else 0

    @property
    def rows(self) -> int | None:
        """Rows of the embeddings; None where there are none under their usual name."""
        return next((entry.shape[-1] for entry in self.tensors if entry.name == "token_embd.weight"), None)

    @property
    def commonest(self) -> int:
        """The type that most numbers are stored in."""
        counts: Counter[int] = Counter()
        for entry in self.tensors:
            counts[entry.kind] += math.prod(entry.shape)
        return counts.most_common(1)[0][0]


def read_header(file: Path) -> Header:
    """The header of this file.

    Raises:
        UsageError: it cannot be read, is cut or damaged, or no GGUF file.
    """
    require_regular(file)
    try:
        with file.open("rb") as stream:
            if stream.read(4) != b"GGUF":
                raise UsageError(f"{file}: not a GGUF file")
            with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
                return _Reader(content).header()
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror or error}") from None
    except (ValueError, struct.error, IndexError, OverflowError) as error:
        raise UsageError(f"{file}: cut or damaged ({error}); get the file again") from None


class _Reader:
    def __init__(self, content: mmap.mmap) -> None:
        self._content, self._at = content, 4

    def header(self) -> Header:
        version, tensors, fields = self._take("<IQQ")
        if version not in (2, 3):
            raise ValueError(f"version {version}; 2 and 3 are read")
        found = {}
        for _ in range(fields):
            name = self._string()
            found[name] = self._value(self._take("<I")[0])
        entries = tuple(self._tensor() for _ in range(tensors))
        if not entries:
            raise ValueError("there are no tensors in it")
        alignment = found.get("general.alignment", 32)
        if not isinstance(alignment, int) or alignment < 1:
            raise ValueError(f"general.alignment is {alignment!r}")
        return Header(found, entries, -(-self._at // alignment) * alignment)

    def _take(self, form: str) -> tuple[Any, ...]:
        values = struct.unpack_from(form, self._content, self._at)
        self._at += struct.calcsize(form)
        return values

    def _string(self, keep: bool = True) -> str:
        (length,) = self._take("<Q")
        end = self._at + length
        if end > len(self._content):
            raise ValueError("it ends within a string")
        text = self._content[self._at : end].decode("utf-8", "replace") if keep else ""
        self._at = end
        return text

    def _value(self, kind: int) -> Any:
        if kind in _SCALARS:
            return self._take("<" + _SCALARS[kind])[0]
        if kind == _STRING:
            return self._string()
        if kind != _ARRAY:
            raise ValueError(f"a value of the unknown type {kind}")
        of, count = self._take("<IQ")
        if of in _SCALARS:
            size = struct.calcsize("<" + _SCALARS[of])
            if count <= _KEPT:
                return list(self._take(f"<{count}{_SCALARS[of]}"))
            self._at += count * size
            return count
        if of != _STRING:
            raise ValueError(f"an array of the type {of}")
        strings = [self._string(keep=count <= _KEPT) for _ in range(count)]
        return strings if count <= _KEPT else count

    def _tensor(self) -> TensorEntry:
        name = self._string()
        (dimensions,) = self._take("<I")
        if not 0 < dimensions <= _MOST_DIMENSIONS:
            raise ValueError(f"a tensor of {dimensions} dimensions")
        shape = self._take(f"<{dimensions}Q")
        kind, offset = self._take("<IQ")
        return TensorEntry(name, shape, kind, offset)
