"""What prompts have in common: grouped so that the fewest tokens are read, and never the last token of one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kolmocli.policy import limits
from kolmocli.policy.lean.beginnings import beginnings_of, may_begin_alike
from kolmocli.policy.presets import VOCABULARIES

A, B = (1,) * 40, (2,) * 50


@pytest.fixture(autouse=True)
def _of_four(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "BEGINNING", 4)


def test_families_are_told_apart() -> None:
    prompts = [(*A, 3, 4), (*B, 3), (*A, 5), (*B, 4, 4), (9, 9, 9)]
    assert beginnings_of(prompts) == {**dict.fromkeys((prompts[0], prompts[2]), A), prompts[1]: B, prompts[3]: B, (9, 9, 9): ()}


def test_a_longer_beginning_of_some_is_taken_where_that_saves_more() -> None:
    few, many = [(*A, 5, i) for i in range(2)], [(*A[:4], *B, i) for i in range(3)]
    found = beginnings_of([*few, *many])
    assert {len(found[prompt]) for prompt in few} == {41}
    assert {len(found[prompt]) for prompt in many} == {54}
    assert {len(x) for x in beginnings_of([(*A, 5, 1), (*A, 5, 2), (*A, 6, 1), (*A, 7, 1)]).values()} == {40}


def test_the_last_token_is_read_with_the_answer() -> None:
    assert beginnings_of([A, A]) == {A: A[:-1]}
    assert set(beginnings_of([A, A[:20]]).values()) == {A[:19]}


PROMPTS = st.lists(st.lists(st.integers(0, 1), min_size=1, max_size=12).map(tuple), max_size=12)


@given(PROMPTS)
def test_a_beginning_is_one_and_is_shared(prompts: list[tuple[int, ...]]) -> None:
    found = beginnings_of(prompts)
    assert set(found) == set(prompts)
    for prompt, beginning in found.items():
        assert beginning == prompt[: len(beginning)] != prompt
        if beginning:
            assert len(beginning) >= limits.BEGINNING
            assert sum(found[other] == beginning for other in prompts) > 1


def test_presets_and_gpus_have_none() -> None:
    assert may_begin_alike(49_152, "cpu")
    assert not may_begin_alike(49_152, "cuda")
    assert not any(may_begin_alike(words, "cpu") for words in VOCABULARIES.values())
