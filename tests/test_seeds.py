"""Seeds and keys of contents: the same everywhere and for ever, because what is held out goes by them."""

from __future__ import annotations

from kolmocli.seeds import content_key, derived_seed


def test_seeds_differ_by_purpose_and_step_and_are_the_same_everywhere() -> None:
    assert len({derived_seed(s, p, n) for s in (0, 1) for p in ("a", "b") for n in range(50)}) == 200
    assert derived_seed(7, "rollout", 1) == 21658835207447


def test_the_key_of_a_text_is_always_the_same() -> None:
    assert content_key("[1, 2, 3]") == 15145529685127893847
    assert content_key("[1, 2, 4]") != 15145529685127893847
    assert content_key("\ud800") == content_key("?")
