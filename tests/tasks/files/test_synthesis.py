"""Sampled pairs: one seed is one file, its beginning does not depend on its length, and exclusion is kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kolmocli.config.file import load_config
from kolmocli.errors import UsageError
from kolmocli.language.interpreter import execute
from kolmocli.language.skeleton import held_out, skeleton
from kolmocli.paths import find_curriculum
from kolmocli.tasks.files.digests import DigestSet
from kolmocli.tasks.files.records import Records
from kolmocli.tasks.files.separation import Taken, without
from kolmocli.tasks.files.synthesis import Synthesis, Synthesised, synthesise
from kolmocli.tasks.files.taskfile import read_tasks

QUICKSTART = load_config(find_curriculum("quickstart")).families


def make(path: Path, pairs: int, **wanted: Any) -> Synthesised:
    return synthesise(Synthesis(pairs, **wanted), str(path), force=True, warn=print)


def quiet(text: str) -> None:
    raise AssertionError(text)


def read(path: Path) -> Records:
    """Reading checks that every program makes its sequence."""
    return read_tasks(str(path), quiet, strict=True).records


def test_one_seed_is_one_file_and_a_short_one_begins_a_long_one(tmp_path: Path) -> None:
    for name, pairs, seed in (("a", 30, 7), ("b", 30, 7), ("long", 50, 7), ("other", 30, 8)):
        done = make(tmp_path / name, pairs, seed=seed)
        assert done.pairs == pairs
    a, b, long, other = ((tmp_path / name).read_text() for name in ("a", "b", "long", "other"))
    assert a == b
    assert long.startswith(a)
    assert a != other


def test_pairs_are_read_back_as_records_with_checked_programs(tmp_path: Path) -> None:
    done = make(tmp_path / "a", 200)
    records = read(tmp_path / "a")
    assert len(records) == 200
    assert done.items == sum(len(r.sequence) for r in records)
    assert all(r.program is not None and r.bucket is None for r in records)


def test_the_levels_of_a_curriculum_come_in_turn(tmp_path: Path) -> None:
    make(tmp_path / "a", 40, families=QUICKSTART)
    names = [f"{name}/{level}" for name, family in QUICKSTART.items() for level in range(1, len(family.levels) + 1)]
    assert [r.bucket for r in read(tmp_path / "a")] == names * 2


def test_the_parts_of_a_split_share_no_skeleton(tmp_path: Path) -> None:
    for split in ("train", "eval"):
        make(tmp_path / split, 60, families=QUICKSTART, split=split)
        for record in read(tmp_path / split):
            assert record.program is not None
            assert held_out(skeleton(record.program, execute(record.program))) == (split == "eval")


def test_what_is_excluded_is_not_made_again(tmp_path: Path) -> None:
    make(tmp_path / "test", 100, families=QUICKSTART, seed=1)
    done = make(tmp_path / "train", 400, families=QUICKSTART, seed=2, exclude=(str(tmp_path / "test"),))
    assert done.pairs == 400
    assert done.excluded > 0
    train, test = read(tmp_path / "train"), read(tmp_path / "test")
    assert without(train, Taken.of(test))[1] == 0
    plain = make(tmp_path / "plain", 400, families=QUICKSTART, seed=2)
    assert without(read(tmp_path / "plain"), Taken.of(test))[1] > 0
    assert plain.excluded == 0


def test_sequences_alone_exclude_too(tmp_path: Path) -> None:
    lines = [{"sequence": [v] * n} for v in range(50) for n in range(2, 7)]
    (tmp_path / "test").write_text("".join(json.dumps(line) + "\n" for line in lines))
    make(tmp_path / "a", 300, families={"runs": QUICKSTART["runs"]}, exclude=(str(tmp_path / "test"),))
    assert not {r.sequence for r in read(tmp_path / "a")} & {tuple(line["sequence"]) for line in lines}


def test_distinct_means_no_sequence_twice(tmp_path: Path) -> None:
    plain = make(tmp_path / "plain", 300, families={"runs": QUICKSTART["runs"]})
    done = make(tmp_path / "a", 300, families={"runs": QUICKSTART["runs"]}, distinct=True)
    assert plain.repeated == 0
    assert done.repeated > 0
    assert len({r.sequence for r in read(tmp_path / "a")}) == 300
    assert len({r.sequence for r in read(tmp_path / "plain")}) < 300


def test_a_family_that_runs_dry_is_said_and_leaves_no_file(tmp_path: Path) -> None:
    one = load_config(find_curriculum("quickstart"), {"families.runs.levels": [{"bases": [1, 1]}]}).families["runs"]
    with pytest.raises(UsageError, match=r"--pairs 1000: after \d+ nothing new was drawn"):
        make(tmp_path / "a", 1000, families={"runs": one}, distinct=True)  # 50 values, 5 lengths
    assert list(tmp_path.iterdir()) == []


def test_a_file_to_exclude_must_hold_something(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("\n")
    with pytest.raises(UsageError, match=r"--exclude .*empty: no sequence in it"):
        make(tmp_path / "a", 5, exclude=(str(tmp_path / "empty"),))


def test_digests_are_found_again_however_the_table_grows() -> None:
    digests = [(i * 0x9E3779B97F4A7C15) % 2**64 for i in range(1, 3000)] + [0]
    for capacity in (0, 10, len(digests)):
        seen = DigestSet(capacity)
        assert all(seen.add(d) for d in digests)
        assert not any(seen.add(d) for d in digests)
        assert len(seen) == len(digests)


def test_a_table_of_known_size_does_not_grow() -> None:
    seen = DigestSet(1000)
    table = seen._table
    for digest in range(1, 1001):
        seen.add(digest << 40)  # all in one place
    assert seen._table is table
