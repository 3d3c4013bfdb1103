"""Records of a file as tasks: which buckets they fall into, and in what order they come."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, strategies as st

from kolmocli.curriculum.base import Bucket
from kolmocli.tasks.files.entries import Entry
from kolmocli.tasks.files.records import Records
from kolmocli.tasks.files.tasks import DatasetTasks, Order
from tests.tasks.files.test_records import packed


def named(*buckets: str | None) -> Records:
    return packed(*(Entry((i,), bucket=bucket) for i, bucket in enumerate(buckets)))


def levels(records: Records, order: Order = "auto", count: int = 4) -> dict[str, list[tuple[int, ...]]]:
    """The sequences of each bucket."""
    tasks = DatasetTasks(records, "train", 0, order=order, levels=count)
    return {
        str(b): sorted(tasks.task(b, i).target for i in range(tasks.size(b) or 0))
        for b in tasks.buckets()
    }  # fmt: skip


def test_named_buckets_are_families_and_levels() -> None:
    tasks = DatasetTasks(named("b/2", "a/1", "b/1", "plain"), "train", 0)
    assert tasks.buckets() == [Bucket("a", 1), Bucket("b", 1), Bucket("b", 2), Bucket("plain", 1)]


def test_levels_without_a_record_are_closed_up() -> None:
    tasks = DatasetTasks(named("a/3", "a/1000000000", "a/7"), "train", 0)
    assert tasks.buckets() == [Bucket("a", 1), Bucket("a", 2), Bucket("a", 3)]
    assert [tasks.task(b, 0).target for b in tasks.buckets()] == [(0,), (2,), (1,)]


@pytest.mark.parametrize("name", ["a/", "/1", "a/b", "a/²", "a/-1", "a/1.5", ""])
def test_a_bucket_without_a_level_is_a_family_of_its_own(name: str) -> None:
    assert DatasetTasks(named(name), "train", 0).buckets() == [Bucket(name, 1)]


def test_sequences_of_different_lengths_are_levelled_by_length() -> None:
    found = levels(packed(*(Entry(tuple(range(n))) for n in range(1, 21))))
    assert [{len(s) for s in sequences} for sequences in found.values()] == [
        set(range(1, 6)), set(range(6, 11)), set(range(11, 16)), set(range(16, 21)),
    ]  # fmt: skip
    assert list(found) == ["length/1", "length/2", "length/3", "length/4"]


def test_equal_lengths_stay_in_one_level() -> None:
    found = levels(packed(*(Entry((n,) * n) for n in (2, 4, 8) * 5)), "length", 3)
    assert [{len(s) for s in sequences} for sequences in found.values()] == [{2}, {4}, {8}]
    uneven = levels(packed(*(Entry((n,) * n) for n in [2] * 9 + [4] * 11 + [8] * 10 + [9] * 10)), "length", 4)
    assert [{len(s) for s in sequences} for sequences in uneven.values()] == [{2}, {4}, {8}, {9}]
    assert levels(packed(*(Entry((n, n)) for n in range(9))), "length") == {"length/1": [(n, n) for n in range(9)]}


def test_sequences_of_one_length_are_levelled_by_what_deflate_makes_of_them() -> None:
    flat = [Entry((n,) * 64) for n in range(5)]
    noise = [Entry(tuple((i * i * 7 + i * n * 31 + n) % 251 for i in range(64))) for n in range(5)]
    found = levels(packed(*noise, *flat), count=2)
    assert found == {
        "compressibility/1": sorted(e.sequence for e in flat),
        "compressibility/2": sorted(e.sequence for e in noise),
    }


def test_of_two_pieces_of_noise_the_shorter_is_easier() -> None:
    noise = [tuple((i * i * 7 + i * n * 31 + n) % 251 for i in range(n)) for n in (4, 60)]
    found = levels(packed(*map(Entry, noise), Entry((9,) * 60), Entry((8,) * 60)), "compressibility", 4)
    assert [s[0] for s in found.values()][-2:] == noise


def test_sequences_with_programs_are_levelled_by_their_bits() -> None:
    """Long is not hard: a run of 90 has a shorter program than a literal of three."""
    easy = [Entry((n,) * 90, f"repeat_num(90, {n})") for n in range(4)]
    hard = [Entry((n, 7, 3), f"set_list([{n}, 7, 3])") for n in range(4)]
    found = levels(packed(*hard, *easy), count=2)
    assert [len(s[0]) for s in found.values()] == [90, 3]
    assert list(found) == ["reference_bits/1", "reference_bits/2"]


def test_the_order_can_be_named() -> None:
    records = packed(Entry((1,) * 90, "repeat_num(90, 1)"), Entry((5, 7, 3), "set_list([5, 7, 3])"))
    assert [len(s[0]) for s in levels(records, "length", 2).values()] == [3, 90]


def test_each_modality_is_a_family_with_levels_of_its_own() -> None:
    entries = [Entry((i,) * n, modality=m) for m in ("dna", "text") for i, n in enumerate((3, 5, 9, 17))]
    found = levels(packed(*entries), count=2)
    assert [(name, [len(s) for s in sequences]) for name, sequences in found.items()] == [
        ("dna/1", [3, 5]), ("dna/2", [9, 17]), ("text/1", [3, 5]), ("text/2", [9, 17]),
    ]  # fmt: skip


def test_only_buckets_with_a_reference_are_taught() -> None:
    tasks = DatasetTasks(packed(Entry((1, 2), "range_func_up(1, 2)", bucket="a"), Entry((3,), bucket="b")), "train", 0)
    assert [tasks.taught(b) for b in tasks.buckets()] == [True, False]


@given(st.integers(1, 12), st.integers(0, 5), st.integers(0, 100))
def test_every_pass_over_the_file_shows_every_record_once(count: int, epoch: int, seed: int) -> None:
    tasks = DatasetTasks(named(*["a"] * count), "train", seed)
    shown = Counter(tasks.task(Bucket("a", 1), epoch * count + i).target for i in range(count))
    assert shown == Counter((i,) for i in range(count))


def test_the_order_of_one_epoch_is_not_that_of_the_next() -> None:
    tasks = DatasetTasks(named(*["a"] * 50), "train", 0)
    first, second = ([tasks.task(Bucket("a", 1), e * 50 + i).target for i in range(50)] for e in (0, 1))
    assert first != second
    again = DatasetTasks(named(*["a"] * 50), "train", 0)
    assert [again.task(Bucket("a", 1), i).target for i in reversed(range(50))] == first[::-1]
