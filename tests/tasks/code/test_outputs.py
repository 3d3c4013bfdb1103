"""What counts as the right output, in each of the three ways to compare."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from kolmocli.config.file import load_config
from kolmocli.errors import UsageError
from kolmocli.paths import find_curriculum
from kolmocli.sandbox import Opaque, Raised
from kolmocli.tasks.code.outputs import Compare, says, usual
from kolmocli.tasks.code.shapes import script
from kolmocli.tasks.sources import training_source


@pytest.mark.parametrize(
    ("printed", "wanted", "lines", "tokens", "numbers"),
    [
        ("1\n2\n", "1\n2", True, True, True),
        ("1 \n2\t\n\n", "1\n2", True, True, True),
        ("1\n\n2", "1\n2", False, True, True),
        (" 1", "1", False, True, True),
        ("1 2", "1\n2", False, True, True),
        ("1 2 3", "1 2", False, False, False),
        ("1", "1 2", False, False, False),
        ("12", "1 2", False, False, False),
        ("", "\n", True, True, True),
        ("1", "", False, False, False),
        ("1.0", "1", False, False, False),  # an integer is expected: a float is none
        ("1", "1.0", False, False, True),
        ("2.5", "2.500000", False, False, True),
        ("0.333333", "0.333333333333", False, False, True),
        ("0.3333", "0.333333333333", False, False, False),
        ("-0.0", "0.0", False, False, True),
        ("1000000.5", "1000000.9", False, False, True),  # within 1e-6 of it
        ("123456789", "123456790.0", False, False, False),  # a whole number, which is one off
        ("123456789012345679.0", "123456789012345678.0", False, False, True),  # what a float cannot tell apart
        ("12345678901234567890", "12345678901234567891", False, False, False),
        ("nan", "nan", True, True, True),
        ("nan", "1.0", False, False, False),
        ("inf", "1e308.0", False, False, False),
        ("inf", "1.5", False, False, False),
        ("NaN", "nan", False, False, False),
        ("1_0.5", "10.5", False, False, False),
        ("\u0661.5", "1.5", False, False, False),
        ("1e999", "1.5", False, False, False),
        ("1e-05", "0.00001", False, False, True),
        ("0.00001", "1e-05", False, False, True),
        ("0.0", "0.0000001", False, False, True),  # within 1e-6
        ("0x1.8p0", "1.5", False, False, False),
        ("1.5abc", "1.5", False, False, False),
        ("[1.50]", "[1.5]", False, False, False),
        ("yes 2.50", "yes 2.5", False, False, True),
        ("Yes 2.5", "yes 2.5", False, False, False),
        ("9" * 500 + ".5", "9" * 500 + ".0", False, False, False),
        (1, "1", False, False, False),
        (None, "", False, False, False),
        (Raised("EOFError"), "", False, False, False),
        (Opaque("int"), "", False, False, False),
    ],
)
def test_what_counts_as_the_same_output(printed: Any, wanted: str, lines: bool, tokens: bool, numbers: bool) -> None:
    ways: tuple[Compare, ...] = ("lines", "tokens", "numbers")
    assert tuple(says(printed, wanted, way) for way in ways) == (lines, tokens, numbers)


@pytest.mark.parametrize(
    ("outputs", "way"),
    [
        (["1\n", "2 3\n"], "tokens"),
        (["1\n", "2.5\n"], "numbers"),
        (["-.5"], "numbers"),
        (["1e-05"], "numbers"),
        (["1.2.3", "v1.5", "3...", "a.b"], "tokens"),
        (["  *\n ***"], "lines"),
        (["a  b"], "lines"),
        (["a\tb"], "lines"),
        (["2.5", "  *"], "lines"),
        (["a \n\nb\n"], "tokens"),
        ([""], "tokens"),
    ],
)
def test_how_outputs_are_compared_where_nothing_says_it(outputs: list[str], way: str) -> None:
    assert usual(outputs) == way


def test_a_record_may_say_it() -> None:
    record = {"question": "?", "inputs": ["1"], "outputs": ["2.5"]}
    assert script(record).tests.compare == "numbers"  # type: ignore[attr-defined]
    assert script(record | {"compare": "lines"}).tests.compare == "lines"  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="`compare` 'words': there are lines, tokens, numbers"):
        script(record | {"compare": "words"})


def test_a_curriculum_says_it_for_all_scripts_that_do_not_say_it_themselves(tmp_path: Path) -> None:
    data = tmp_path / "s.jsonl"
    rows = [{"question": f"{n}?", "inputs": ["1"], "outputs": [f"{n}.5"]} for n in range(20)]
    rows += [{"question": f"{n}?", "inputs": ["1"], "outputs": [f"{n}.5"], "compare": "tokens"} for n in range(20, 40)]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))

    def ways(**settings: str) -> set[str]:
        config = load_config(find_curriculum("quickstart"), {"data.train": str(data), **settings})
        source = training_source(config, pytest.fail)
        tasks = [source.task(bucket, index) for bucket in source.buckets() for index in range(40)]
        return {task.tests.compare for task in tasks}  # type: ignore[attr-defined]

    assert ways() == {"numbers", "tokens"}
    assert ways(**{"outputs.compare": "lines"}) == {"lines", "tokens"}
    with pytest.raises(UsageError, match=r"outputs\.compare: "):
        ways(**{"outputs.compare": "words"})


_TEXTS = st.text("01.-+e naif\n_", max_size=20)


@given(_TEXTS, _TEXTS)
def test_each_way_takes_what_the_stricter_one_takes(printed: str, wanted: str) -> None:
    held = [says(printed, wanted, way) for way in ("lines", "tokens", "numbers")]
    assert held == sorted(held)


@given(st.floats(-1e6, 1e6), st.floats(-1e-7, 1e-7))
def test_a_number_may_be_off_by_little(number: float, off: float) -> None:
    assert says(repr(number + off), f"{number:.12f}", "numbers")


@given(st.integers(), st.integers())
def test_no_integer_is_taken_for_another(one: int, other: int) -> None:
    assert says(str(one), str(other), "numbers") is (one == other)
