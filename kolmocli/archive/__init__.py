"""Archives whose decoder is a tiny interpreter: bytes in, bytes out, as with zlib.

    archive = compress(data, level=9)
    assert decompress(archive) == data
    print(explain(archive))
    open("folder.klm", "a/file").read()

They need numpy and neither torch nor a model. Nothing is imported before it is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kolmocli.archive.errors import (
        ArchiveError as ArchiveError,
        ArchiveLimitError as ArchiveLimitError,
        CodecMissing as CodecMissing,
    )
    from kolmocli.archive.explanation import Explanation as Explanation, explain as explain
    from kolmocli.archive.opener import decompress as decompress
    from kolmocli.archive.packer import compress as compress
    from kolmocli.archive.reading import open as open

_HOMES = {
    "ArchiveError": "errors",
    "ArchiveLimitError": "errors",
    "CodecMissing": "errors",
    "Explanation": "explanation",
    "compress": "packer",
    "decompress": "opener",
    "explain": "explanation",
    "open": "reading",
}
__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
