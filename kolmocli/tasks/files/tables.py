"""Rows of Parquet files and of Hugging Face data sets. Their libraries are extras, and are imported when one is read.

A data set is a folder or `owner/name`, and perhaps which part of it: `openai/gsm8k:main:test`, `folder:test`. Code that
comes with a data set is never run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from kolmocli.errors import UsageError, last_line
from kolmocli.extras import needing

_ID = re.compile(r"[\w.-]+/[\w.-]+")
_FILE = re.compile(r"\.(?:jsonl?|csv|parquet|txt|gz|fasta|fa|wav|ya?ml)\Z", re.IGNORECASE)
_PARQUET = ".parquet"
_SAID = 300
"""Characters of what a library says of an error."""


def is_table(name: str) -> bool:
    """Whether this is a Parquet file or a data set."""
    return name.lower().endswith(_PARQUET) or is_data_set(name)


def is_data_set(name: str) -> bool:
    """Whether this is a folder, or, where no file has this name, an id on the hub."""
    place, path = name.partition(":")[0], Path(name)
    if path.exists():
        return path.is_dir()
    return Path(place).is_dir() or (_ID.fullmatch(place) is not None and _FILE.search(place) is None)


def table_rows(name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows as objects, without their empty cells.

    Raises:
        UsageError: it cannot be read, or has several parts and none is named.
        EnvironmentMissing: the extra that reads it is not installed.
    """
    found = _parquet(name) if name.lower().endswith(_PARQUET) else _data_set(name)
    for number, row in enumerate(found, start=1):
        yield f"row {number}", {key: value for key, value in row.items() if value is not None}


def _parquet(name: str) -> Iterator[dict[str, Any]]:
    with needing(f"{name}: Parquet"):
        from pyarrow import ArrowException, parquet
    try:
        with parquet.ParquetFile(name) as file:
            for batch in file.iter_batches(batch_size=1024):
                yield from batch.to_pylist()
    except FileNotFoundError:
        raise
    except (ArrowException, OSError) as error:
        raise UsageError(f"{name}: cannot be read as Parquet: {last_line(error)}") from None


def _data_set(name: str) -> Iterable[dict[str, Any]]:
    with needing(f"{name}: a data set"):
        import datasets
    place, *parts = name.split(":")
    datasets.disable_progress_bars()
    if Path(place).is_dir():
        _refuse_what_is_elsewhere(Path(place))
    try:
        saved = any((Path(place) / mark).is_file() for mark in ("dataset_dict.json", "state.json"))
        found = datasets.load_from_disk(place) if saved else datasets.load_dataset(place, *parts[:-1])
    except Exception as error:  # its README and its files may ask a library for anything
        # Which configurations there are stands in the middle of several lines.
        said = " ".join(str(error).split())[:_SAID] or type(error).__name__
        raise UsageError(f"{name}: neither a file nor a data set that can be read: {said}") from None
    return found if not isinstance(found, dict) else _split(found, name, place, parts)


def _split(found: dict[str, Any], name: str, place: str, parts: list[str]) -> Iterable[dict[str, Any]]:
    split = parts[-1] if parts else next(iter(found)) if len(found) == 1 else None
    if split not in found:
        raise UsageError(f"{name}: name one of its splits: {', '.join(f'{place}:{each}' for each in found)}")
    return found[split]


def _refuse_what_is_elsewhere(folder: Path) -> None:
    """A folder is data that somebody handed on: reading it asks no other machine, and opens nothing outside it.

    Raises:
        UsageError: it has a script, or its README names files that are elsewhere.
    """
    script = folder / f"{folder.resolve().name}.py"
    if script.exists():
        raise UsageError(f"{script}: the script of a data set, which is never run; convert it to Parquet or JSON lines")
    card = folder / "README.md"
    if not card.is_file():
        return
    head = card.read_text(encoding="utf-8", errors="replace")
    head = head.split("---", 2)[1] if head.lstrip().startswith("---") and head.count("---") > 1 else ""
    for path in _paths_in(head, card):
        if "://" in path or "::" in path or Path(path).is_absolute() or ".." in Path(path).parts:
            raise UsageError(f"{card}: names {path[:_SAID]!r}, which is not in this folder; put the files next to it")


def _paths_in(head: str, card: Path) -> Iterator[str]:
    """Names of data files in a README: every text under `data_files` or `data_dir`."""
    import yaml

    try:
        found = yaml.safe_load(head)
    except (yaml.YAMLError, ValueError, LookupError, AttributeError, RecursionError):  # !!bool x is the third
        raise UsageError(f"{card}: its head is not YAML; fix it or remove it") from None
    waiting: list[tuple[Any, bool]] = [(found, False)]
    seen = set[tuple[int, bool]]()  # an alias may hold itself, or others many times over
    while waiting:
        value, named = waiting.pop()
        if (id(value), named) in seen:
            continue
        seen.add((id(value), named))
        if isinstance(value, dict):
            waiting += [(inner, named or key in ("data_files", "data_dir")) for key, inner in value.items()]
        elif isinstance(value, list):
            waiting += [(inner, named) for inner in value]
        elif named and isinstance(value, str):
            yield value
