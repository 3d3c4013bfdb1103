"""Read a profile of `kolmo curriculum calibrate` as a controller's first belief.

Two kinds of file: the report on a curriculum (`-o F`, or what `--json` prints), and a file of tasks with `pass_rate` and `level` in
every line (`--data F -o G`), whose rates are averaged per level.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from kolmocli.curriculum.base import Bucket, Controller, Ladder
from kolmocli.curriculum.families import FamilyController
from kolmocli.curriculum.levels import measured
from kolmocli.errors import UsageError
from kolmocli.files import read_regular
from kolmocli.plain import parsed

Rates = dict[int, tuple[float, int]]
"""By level: the pass rate, and its number of rollouts or tasks."""
Place = str
"""An entry's place, as an error names it."""


def begin(
    controller: Controller,
    ladders: Mapping[str, Ladder],
    buckets: Sequence[Bucket],
    file: str,
    profile: Mapping[str, Rates],
) -> None:
    """Let a controller that has seen nothing begin with the profile of a file. `buckets` are all that exist; those that are
    not on the ladder are skipped.

    Raises:
        UsageError: the profile is of another curriculum, or the controller uses no pass rates.
    """
    for name, rates in profile.items():
        top = max(bucket.level for bucket in buckets if bucket.family == name)
        if max(rates) > top:
            raise UsageError(
                f"controller.prior: {file} measured level {max(rates)} of {name}, which has {top} here; calibrate this curriculum"
            )
    on_ladder = {name: {n: rate for n, rate in rates.items() if n in ladders[name]} for name, rates in profile.items()}
    profile = {name: rates for name, rates in on_ladder.items() if rates}
    try:
        if isinstance(controller, FamilyController):
            controller.begin(profile)
        else:
            controller.observe([r for name, rates in profile.items() for r in measured(rates, name)])
    except ValueError as error:
        raise UsageError(f"controller.prior: {error}") from None


def read_profile(file: str, families: list[str]) -> dict[str, Rates]:
    """The rates of these families; those that the file lacks are left out.

    Raises:
        UsageError: it cannot be read, has no rate of these families, or has rates of others.
    """
    try:
        text = read_regular(Path(file)).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise UsageError(f"controller.prior: {file}: {reason}; make it with kolmo curriculum calibrate -o") from None
    sums: dict[str, dict[int, tuple[float, int]]] = {}
    for place, family, level, rate, n in _entries(file, text, families):
        if family not in families:
            raise UsageError(
                f"controller.prior: {place}: it measured the family {family}, and this curriculum has "
                f"{', '.join(families)}; calibrate this curriculum"
            )
        total, count = sums.setdefault(family, {}).get(level, (0.0, 0))
        sums[family][level] = total + rate * n, count + n
    if not sums:
        raise UsageError(f"controller.prior: {file} has no pass rate in it; make it with kolmo curriculum calibrate -o")
    return {family: {level: (total / n, n) for level, (total, n) in levels.items()} for family, levels in sums.items()}


def _entries(file: str, text: str, families: list[str]) -> Iterator[tuple[Place, str, int, float, int]]:
    try:
        whole = parsed(text)
    except ValueError:
        whole = None
    if isinstance(whole, dict) and "families" in whole:
        yield from _of_report(file, whole)
        return
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        place = f"{file}:{number}"
        try:
            row = parsed(line)
        except ValueError as error:
            raise UsageError(f"controller.prior: {place}: {error}; it needs JSON, as calibrate -o writes it") from None
        if not isinstance(row, dict):
            raise UsageError(f"controller.prior: {place}: it needs an object, as calibrate -o writes it")
        if row.get("pass_rate") is None:
            continue  # no answer to it could be judged
        if "family" not in row and len(families) != 1:
            raise UsageError(f"controller.prior: {place}: it names no family, and there are {', '.join(families)}")
        yield place, str(row.get("family", families[0])), _level(place, row), rate_of(place, row), 1


def _of_report(file: str, report: Mapping[str, Any]) -> Iterator[tuple[Place, str, int, float, int]]:
    for name, levels in _listed(file, report["families"]):
        for row in levels:
            place = f"{file}: {name}"
            if not isinstance(row, dict):
                raise UsageError(f"controller.prior: {place}: a level is an object, got {row!r}")
            n = row.get("n", 1)
            if row.get("pass_rate") is not None and isinstance(n, int) and n > 0:
                yield place, name, _level(place, row), rate_of(place, row), n


def _listed(file: str, families: Any) -> Iterable[tuple[str, list[Any]]]:
    if isinstance(families, dict):
        levels = {name: family.get("levels") for name, family in families.items() if isinstance(family, dict)}
        found = [(name, each) for name, each in levels.items() if isinstance(each, list)]
        if len(found) == len(families):
            return found
    raise UsageError(f"controller.prior: {file}: it needs families with levels, as calibrate -o writes them")


def _level(place: Place, row: Mapping[str, Any]) -> int:
    level = row.get("level")
    if not isinstance(level, int) or isinstance(level, bool) or level < 1:
        raise UsageError(f"controller.prior: {place}: a level is a whole number from 1, got {level!r}")
    return level


def rate_of(place: Place, row: Mapping[str, Any]) -> float:
    """The pass rate of an entry. Raises UsageError where it is none."""
    rate = row["pass_rate"]
    if not isinstance(rate, int | float) or isinstance(rate, bool) or not 0.0 <= rate <= 1.0:
        raise UsageError(f"controller.prior: {place}: a pass rate lies between 0 and 1, got {rate!r}")
    return float(rate)
