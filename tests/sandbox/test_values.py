"""Plain values go out and come back as they were; what is not one does not, and no text makes the reader fall over."""

from __future__ import annotations

import json
import sys
from collections import Counter, OrderedDict, defaultdict
from typing import Any

import pytest
from hypothesis import given, strategies as st

from kolmocli.errors import UsageError
from kolmocli.sandbox.base import Call
from kolmocli.sandbox.wire import values

HASHABLE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8) | st.binary(max_size=8)
    | st.complex_numbers(allow_nan=False),
    lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
PLAIN = st.recursive(
    HASHABLE | st.builds(range, st.integers(-9, 9), st.integers(-9, 9), st.sampled_from([-2, -1, 1, 3])),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner)
        | st.sets(HASHABLE, max_size=3)
        | st.dictionaries(HASHABLE, inner, max_size=3)
    ),
    max_leaves=12,
)


def through(value: object) -> Any:
    return values.decode(json.loads(values.encode(value, 1000)), 1000)


@given(PLAIN)
def test_values_come_back_as_they_were(value: Any) -> None:
    back = through(value)
    assert back == value
    assert type(back) is type(value)


@pytest.mark.parametrize("value", [float("inf"), -0.0, True, [True], "\ud800", [1, [2.0]], b"\xff", 10**4000])
def test_what_equality_would_hide(value: Any) -> None:
    assert repr(through(value)) == repr(value)


def test_nan_comes_back() -> None:
    assert through(float("nan")) != through(float("nan"))


@pytest.mark.parametrize(
    ("value", "equal"),
    [(Counter("aab"), {"a": 2, "b": 1}), (OrderedDict(a=1), {"a": 1}), (defaultdict(int, a=1), {"a": 1})],
)
def test_the_dictionaries_of_collections_are_dictionaries(value: Any, equal: dict[str, int]) -> None:
    assert through(value) == equal
    assert type(through(value)) is dict


class Liar(int):
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = int.__hash__


@pytest.mark.parametrize("value", [Liar(3), [Liar(3)], {Liar(3): 1}, object(), (i for i in [1]), len, {1: object}])
def test_what_is_not_plain_has_no_text(value: object) -> None:
    with pytest.raises(values.NotPlain):
        values.encode(value, 100)
    assert type(values.read_line(json.loads(values.line(value, 100)))) is values.Opaque


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (values.Raised("ValueError"), '{"e": "ValueError"}'),
        (values.Opaque("generator"), '{"o": "generator"}'),
        (object(), '{"o": "object"}'),
        (values.Raised("é" * 70), '{"e": "' + r"\u00e9" * 60 + '"}'),
        (None, '{"n":0}'),
        ([1, "x"], '[1,"x"]'),
    ],
)
def test_the_line_of_what_stands_where_a_value_would(value: object, text: str) -> None:
    assert values.line(value, 10) == text
    read = values.read_line(json.loads(text))
    assert values.line(read, 10) == text
    assert values.plain_line(value, 10) == ("null" if value is None else text)


@pytest.mark.parametrize(
    "value", [[0] * 11, "x" * 11, b"x" * 11, [[0] * 5] * 3, {i: i for i in range(11)}, range(11), (0,) * 11]
)
def test_long_values_are_too_long_on_both_sides(value: object) -> None:
    with pytest.raises(values.TooLong):
        values.encode(value, 10)
    with pytest.raises(ValueError, match="too many items"):
        values.decode(json.loads(values.encode(value, 1000)), 10)


def test_deep_values_and_long_integers_are_too_long() -> None:
    deep: list[Any] = []
    for _ in range(values.DEEPEST + 1):
        deep = [deep]
    for value in (deep, [deep, "x"], 10**5000, [10**5000], (10**5000,)):
        with pytest.raises(values.TooLong):
            values.encode(value, 1 << 20)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ntsfdrbcxeo"), inner, max_size=2),
    max_leaves=10,
)


@given(JSON)
def test_any_json_is_a_value_or_a_value_error(loaded: Any) -> None:
    try:
        values.read_line(loaded, 10)
    except ValueError:
        return


@pytest.mark.parametrize("form", ["s", "f", "d"])
def test_keys_that_a_hash_does_not_tell_apart(form: str) -> None:
    """Each of them is compared with all others: so many would hold up whoever reads them for minutes."""
    keys = [i * sys.hash_info.modulus for i in range(1, 100_000)]
    with pytest.raises(ValueError, match="too many keys of one hash"):
        values.decode({form: [[key, 0] for key in keys] if form == "d" else keys})


def test_keys_of_honest_programs_are_never_too_much_alike() -> None:
    powers = {2**i: i for i in range(14_000)}
    assert len(set(map(hash, powers))) < 100
    assert values.decode(json.loads(values.encode(powers, 1 << 20))) == powers


def test_only_plain_values_are_arguments() -> None:
    assert Call.of("f", [1], key=(2,)).arguments == ([[1]], {"key": (2,)})
    with pytest.raises(UsageError, match="the arguments of f: object; only plain values go to a program"):
        Call.of("f", object())
