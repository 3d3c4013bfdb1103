"""What is kept of a race: the figures of all its finished runs in one file, `NAME.json` where its folder is or would be `NAME`.

`race.py --keep FOLDER` writes it, and every script that reads a finished run finds it there. A run has one line in it, and
is named as its folder is: `seed100`, then `rasch`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from kolmocli.monitor.writer import write_atomically

Runs = dict[str, dict[str, dict[str, Any]]]
"""Figures, by the folder of a seed and the name of the run in it."""


@dataclass(frozen=True)
class Kept:
    settings: dict[str, Any]
    """What was the same in all runs, as `Comparison` has it."""
    runs: Runs


def kept_of(race: Path) -> Kept | None:
    """What is kept of the race with this folder. Raises SystemExit for a file that is none of ours."""
    file = race.with_name(f"{race.name}.json")
    return _read(file, file.stat().st_mtime_ns) if file.is_file() else None


@cache
def _read(file: Path, written: int) -> Kept:
    """The file as it was at this time."""
    try:
        content = json.loads(file.read_text("utf-8"))
        if content["schema_version"] != 1:
            raise ValueError
        return Kept(content["settings"], content["runs"])
    except (ValueError, KeyError, TypeError):
        raise SystemExit(f"{file} has no figures of a race; name another folder with --out") from None


def kept_figures(run: Path) -> dict[str, Any] | None:
    """The figures of the run with this folder, if they are kept."""
    kept = kept_of(run.parents[1])
    return None if kept is None else kept.runs.get(run.parent.name, {}).get(run.name)


def write_kept(race: Path, settings: Mapping[str, Any], runs: Runs) -> Path:
    """The file, with these runs beside those that it had."""
    earlier = kept_of(race)
    both: Runs = {} if earlier is None else {folder: dict(found) for folder, found in earlier.runs.items()}
    for folder, found in runs.items():
        both.setdefault(folder, {}).update(found)
    folders = [
        f"  {json.dumps(folder)}: {{\n"
        + ",\n".join(f"   {json.dumps(name)}: {json.dumps(found[name])}" for name in sorted(found))
        + "\n  }"
        for folder, found in sorted(both.items())
    ]
    file = race.with_name(f"{race.name}.json")
    file.parent.mkdir(parents=True, exist_ok=True)
    text = f' "schema_version": 1,\n "settings": {json.dumps(settings)},\n "runs": {{\n' + ",\n".join(folders) + "\n }"
    write_atomically(file, f"{{\n{text}\n}}\n")
    return file
