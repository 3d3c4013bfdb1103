"""`sqlite3` for a program that has files: a database of that name in its memory, which stays while its file does."""

import itertools
import os
import sys
from typing import Any

from folders import Folders


def install(files: Folders) -> None:
    """In the place of `sqlite3.connect`, where that is loaded."""
    loaded = sys.modules.get("sqlite3")
    if loaded is None:
        return
    real = loaded.connect
    kept: dict[str, tuple[str, Any]] = {}
    """The address of each, and a connection that nobody closes."""
    numbers = itertools.count()

    def connect(database: Any, *arguments: Any, **named: Any) -> Any:
        if named.get("uri") or os.fspath(database) in ("", ":memory:", b"", b":memory:"):
            return real(database, *arguments, **named)
        try:
            name = files.scratch.name(database)
            if name not in files.scratch.files:
                files.scratch.handle(database, "x")
        except OSError:
            raise loaded.OperationalError("unable to open database file") from None
        if name not in kept:
            escaped = name.translate({ord(mark): f"%{ord(mark):x}" for mark in "%?#"})
            address = f"file:{next(numbers)}{escaped}?mode=memory&cache=shared"
            kept[name] = address, real(address, uri=True)
        return real(kept[name][0], *arguments, uri=True, **named)

    def forget(name: str) -> None:
        if name in kept:
            kept.pop(name)[1].close()

    files.forget = forget
    vars(loaded).update(connect=connect)
    vars(sys.modules["sqlite3.dbapi2"]).update(connect=connect)
