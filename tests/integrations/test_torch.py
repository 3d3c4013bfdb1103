"""The sampler in PyTorch's own DataLoader."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader

from kolmocli.errors import UsageError
from kolmocli.integrations.torch import PassRateSampler


class Table(list[dict[str, object]]):
    """A map-style data set with columns, as Hugging Face's are."""

    column_names = ("question", "level")

    def __getitem__(self, key):  # type: ignore[no-untyped-def]
        return [row[key] for row in self] if isinstance(key, str) else super().__getitem__(key)


def rows(count: int = 40) -> Table:
    return Table({"question": f"{i} + {i}", "level": 1 + i // 20} for i in range(count))


def batches(sampler: PassRateSampler, data: Table, count: int) -> list[list[str]]:
    """Batches of a loader. Questions of level 1 pass half the time, those of level 2 never."""
    loader = DataLoader(data, sampler=sampler, batch_size=4)  # type: ignore[arg-type]
    found = []
    for batch in itertools.islice(loader, count):
        found.append(batch["question"])
        drawn = [int(question.split()[0]) for question in batch["question"]]
        sampler.observe(drawn, [4 if i < 20 else 0 for i in drawn], [8] * 4)
    return found


def test_a_loader_is_led_to_the_level_that_teaches() -> None:
    data = rows()
    found = batches(PassRateSampler(data, level="level"), data, 40)
    late = [int(question.split()[0]) < 20 for batch in found[20:] for question in batch]
    assert sum(late) / len(late) > 0.8


def test_a_resumed_loader_draws_what_an_unbroken_one_draws() -> None:
    data = rows()
    whole = batches(PassRateSampler(data, level="level", seed=3), data, 30)
    first = PassRateSampler(data, level="level", seed=3)
    begun = batches(first, data, 12)
    second = PassRateSampler(data, level="level")
    second.load_state_dict(json.loads(json.dumps(first.state_dict())))
    assert begun + batches(second, data, 18) == whole


def test_what_was_drawn_and_not_judged_comes_first_again() -> None:
    first = PassRateSampler(100, seed=1)
    drawn = list(itertools.islice(first, 6))
    first.observe(drawn[:2], [1, 2], [8, 8])
    second = PassRateSampler(100)
    second.load_state_dict(first.state_dict())
    assert list(itertools.islice(second, 4)) == drawn[2:]


def test_an_older_loop_does_not_go_on_beside_a_newer_one() -> None:
    sampler = PassRateSampler(10)
    older, newer = iter(sampler), iter(sampler)
    next(older), next(newer)
    with pytest.raises(UsageError, match="two loops"):
        next(older)


def test_columns_are_looked_for_in_the_data_set() -> None:
    with pytest.raises(UsageError, match="no column 'levle'; did you mean level"):
        PassRateSampler(rows(), level="levle")
    with pytest.raises(UsageError, match="names a column, and the data set has none"):
        PassRateSampler(10, level="level")
    assert len(PassRateSampler([1, 2, 3], level=[1, 1, 2])) == len(PassRateSampler(np.int64(3))) == 3


@pytest.mark.parametrize("made", [np.array, torch.tensor])
def test_columns_of_other_libraries_are_those_of_lists(made: Callable[[list[float]], Any]) -> None:
    """A state that was saved with columns of a device is taken up without it."""
    columns = {"family": [7, 7, 3, 3], "level": [1, 2, 2, 1], "pass_rate": [0.25, 0.5, 0.75, 1.0]}
    plain, other = PassRateSampler(4, **columns), PassRateSampler(4, **{k: made(v) for k, v in columns.items()})
    assert other.state_dict() == plain.state_dict() and other.metrics() == plain.metrics()
    with pytest.raises(UsageError, match="prompt 2: a pass rate"):
        PassRateSampler(4, pass_rate=made([0.5, 0.5, 7.0, 0.5]))
    with pytest.raises(UsageError, match="pass_rate: "):
        PassRateSampler(4, pass_rate=np.full((4, 1), 0.5))


def test_single_rollouts_are_counted_by_prompt() -> None:
    by_group, by_rollout = PassRateSampler(9, seed=3), PassRateSampler(9, seed=3)
    drawn = [next(iter(by_group)) for _ in range(3)]
    assert drawn == [next(iter(by_rollout)) for _ in range(3)]
    a, b, c = drawn
    shuffled = PassRateSampler(9, seed=3)
    assert drawn == [next(iter(shuffled)) for _ in range(3)]
    counts = {a: (0, 2), b: (2, 3), c: (0, 0)}
    by_group.observe(sorted(counts), *zip(*(counts[n] for n in sorted(counts)), strict=True))
    by_rollout.observe_each(torch.tensor([b, a, b, b, a, c]), [True, False, 1.0, False, 0, None])
    shuffled.observe_each([c, a, a, b, b, b], [None, False, False, False, True, True])
    assert by_rollout.state_dict() == by_group.state_dict() == shuffled.state_dict()
    with pytest.raises(UsageError, match="2 indices, 1 outcomes: one of each a rollout"):
        by_rollout.observe_each([a, b], [True])


@pytest.mark.parametrize("score", [float("nan"), 0.3, -1])
def test_a_score_is_no_outcome(score: float) -> None:
    sampler = PassRateSampler(20, seed=4)
    [drawn] = itertools.islice(sampler, 1)
    before = sampler.state_dict()
    with pytest.raises(UsageError, match="passed is"):
        sampler.observe_each([drawn], [score])
    assert sampler.state_dict() == before


def test_counts_of_torch_leave_a_plain_state() -> None:
    sampler, plain = PassRateSampler(20, seed=4), PassRateSampler(20, seed=4)
    drawn, _ = list(itertools.islice(sampler, 3)), list(itertools.islice(plain, 3))
    sampler.observe(torch.tensor(drawn), torch.tensor([3.0, 0.0, 8.0]), torch.tensor([8, 8, 8]))  # type: ignore[arg-type]
    plain.observe(drawn, [3, 0, 8], [8, 8, 8])
    assert json.dumps(sampler.state_dict()) == json.dumps(plain.state_dict())


def test_what_is_judged_after_a_resume_is_not_drawn_first_again() -> None:
    first = PassRateSampler(20, seed=5)
    drawn = list(itertools.islice(first, 6))
    second = PassRateSampler(20, seed=5)
    second.load_state_dict(first.state_dict())
    second.observe(drawn[:4], [4] * 4, [8] * 4)
    again = list(itertools.islice(second, 16))
    assert again[:2] == drawn[4:] and len(set(again)) == 16
