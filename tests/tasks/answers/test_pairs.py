"""Every kind of answer that was seen to be judged wrongly somewhere: no wrong one passes, and the right ones do."""

from __future__ import annotations

import pytest

from kolmocli.tasks.answers.formulas import installed
from tests.tasks.answers.pairs import Pair, by_kind, passed


@pytest.mark.parametrize("kind", by_kind())
def test_no_wrong_answer_passes(kind: str) -> None:
    wrong = [pair for pair in by_kind()[kind] if not pair.passes]
    assert wrong
    assert [pair for pair, passes in zip(wrong, passed(wrong), strict=True) if passes] == []


@pytest.mark.skipif(not installed(), reason="math-verify, which compares formulas, is not installed")
@pytest.mark.parametrize("kind", by_kind())
def test_right_answers_pass_however_they_are_written(kind: str) -> None:
    right = [pair for pair in by_kind()[kind] if pair.passes]
    assert right
    assert [pair for pair, passes in zip(right, passed(right), strict=True) if not passes] == []


def test_the_kinds_are_many() -> None:
    assert len(by_kind()) >= 25
    assert sum(len(pairs) for pairs in by_kind().values()) > 3_000


def test_every_answer_is_its_own_and_no_other_is() -> None:
    answers = ["5", "-5", "5/7", "x+5", "(5, 7)", "[5, 7)", "\\{5, 7\\}", "\\sqrt{5}", "5\\pi", "north", "B"]
    pairs = [Pair("each", a, f"\\boxed{{{b}}}", a == b) for a in answers for b in answers]
    assert [pair for pair, passes in zip(pairs, passed(pairs), strict=True) if passes != pair.passes] == []
