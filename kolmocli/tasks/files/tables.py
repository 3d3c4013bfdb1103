"""Rows of Parquet files and of Hugging Face data sets. Their libraries are extras, and are imported when one is read.

A data set is a folder or `owner/name`, and perhaps which part of it: `openai/gsm8k:main:test`, `folder:test`. Code that
comes with a data set is never run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from kolmocli.errors import EnvironmentMissing, UsageError, last_line

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
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise EnvironmentMissing(f"{name}: Parquet is read with pyarrow: pip install 'kolmocli[parquet]'") from None
    try:
        with parquet.ParquetFile(name) as file:
            for batch in file.iter_batches(batch_size=1024):
                yield from batch.to_pylist()
    except FileNotFoundError:
        raise
    except (ArrowException, OSError) as error:
        raise UsageError(f"{name}: cannot be read as Parquet: {last_line(error)}") from None


def _data_set(name: str) -> Iterable[dict[str, Any]]:
    try:
        import datasets
    except ImportError:
        raise EnvironmentMissing(
            f"{name}: a data set is read with datasets: pip install 'kolmocli[datasets]'"
        ) from None
    place, *parts = name.split(":")
    datasets.disable_progress_bars()
    try:
        saved = any((Path(place) / mark).is_file() for mark in ("dataset_dict.json", "state.json"))
        found = datasets.load_from_disk(place) if saved else datasets.load_dataset(place, *parts[:-1])
    except (datasets.exceptions.DatasetsError, ValueError, OSError) as error:
        said = " ".join(str(error).split())[
            :_SAID
        ]  # which configurations there are stands in the middle of several lines
        raise UsageError(f"{name}: neither a file nor a data set that can be read: {said}") from None
    if not isinstance(found, dict):
        return found
    split = parts[-1] if parts else next(iter(found)) if len(found) == 1 else None
    if split not in found:
        raise UsageError(f"{name}: name one of its splits: {', '.join(f'{place}:{each}' for each in found)}")
    return found[split]
