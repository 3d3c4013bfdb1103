"""When two answers are one: as numbers without rounding, as lists, as text; and what is no number."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings, strategies as st

from kolmocli.tasks.answers.comparison import same
from kolmocli.tasks.answers.judges import NAMES, JudgeName
from kolmocli.tasks.answers.latex import last_box, plain
from kolmocli.tasks.answers.numbers import amount
from kolmocli.tasks.answers.places import has_form, holds, lenient_place, strict_place

ONE = [
    ("28", "28"), ("28.", "28"), ("**28**", "28"), ("-0", "0"), ("−5", "-5"),
    ("1,234", "1234"), ("1 234", "1234"), ("1{,}234", "1234"), (r"1\,234", "1234"), ("$1,234.50", "1234.5"),
    ("1/2", "0.5"), ("0.50", "1/2"), (".5", "0.5"), (r"\frac{1}{2}", "0.5"), (r"\frac12", "1/2"),
    (r"-\dfrac{3}{4}", "-0.75"), ("1 1/2", "1.5"), (r"1\frac{1}{2}", "1.5"),
    ("50%", "0.5"), (r"50\%", "50"), ("50%", "50%"), ("50 percent", "1/2"),
    ("$12", "12"), (r"\$12.50", "12.5"), ("-$5", "-5"), ("$-5", "-5"), ("12 dollars", "12"),
    ("$5", "5 dollars"), ("5$", r"\$5"), ("US$5", "$5"), ("The answer is $5.", "$5"), ("2^5$", "32"), ("$3/4", "3/4"), ("$2x", "2x"),
    ("40 km/h", "40"), ("40km", "40"), ("5 m", "5"), (r"5\text{ cm}", "5"), (r"5\ \text{cm}^2", "5"),
    ("18 square feet", "18"), (r"90^\circ", "90"),
    ("3 million", "3,000,000"), ("2.5e3", "2500"), (r"2.5 \times 10^{3}", "2500"),
    ("x = 5", "5"), ("2x", "2x"), (r"2\pi", r"2 \pi"), (r"\sqrt{2}", r"\sqrt 2"), (r"\frac{a}{b}", r"\dfrac{a}{b}"),
    ("two", "2"), ("10^{2}", "100"), ("(1/2, 3)", "(0.5, 3.0)"), (r"\left(3, \frac{\pi}{2}\right)", r"(3,\pi/2)"),
    ("Paris.", "paris"), (r"\text{Paris}", "Paris"), ("(A)", "A"), ("9" * 5000, "9" * 5000),
]  # fmt: skip
OTHERS = [
    ("5 cents", "$5"), ("$5", "5 euros"), ("5$", "5 euros"), ("-$5", "-5 euros"), ("The answer is $5.", "€5"), ("$5", "5%"),
    (r"\frac{1}{3}", "0.333"), ("0.5%", "50%"), ("2x", "2"), ("2 x", "2"), (r"2\pi", "2"), ("28 or 29", "28"),
    ("28 is what I found", "28"), ("5 apples and 3 pears", "5"), ("(1,2)", "[1,2]"), ("(1,2)", "(2,1)"),
    ("12,34", "1234"), ("1/0", "0"), ("", "5"), ("\u0665", "5"), ("not Paris", "Paris"),
    ("{" * 300, "5"), (r"\frac" * 70, "5"), ("1" * 61, "1" * 60 + "2"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "right"), ONE)
def test_two_ways_to_write_one_answer(given: str, right: str) -> None:
    assert same(given, right)


@pytest.mark.parametrize(("given", "right"), OTHERS)
def test_two_answers(given: str, right: str) -> None:
    assert not same(given, right)


@given(st.fractions(max_denominator=10**6))
def test_a_fraction_is_itself_in_every_form_and_nothing_near_it(value: Fraction) -> None:
    forms = [f"{value}", rf"{'-' * (value < 0)}\frac{{{abs(value.numerator)}}}{{{value.denominator}}}"]
    assert all(same(form, str(value)) for form in forms)
    assert not same(str(value + Fraction(1, 10**12)), str(value))


@given(st.integers(-(10**15), 10**15))
def test_thousands_are_separated_or_not(value: int) -> None:
    assert same(f"{value:,}", str(value)) and same(f"{value:,}".replace(",", r"\,"), str(value))


PIECES = (
    " ", "and ", "or ", "not ", "the ", "is ", "a", "A", "x", "y", "e", "i", "0", "1", "12", "0.5", "(", ")", "[", "]", "{", "}", "\\{", "\\}",
    "|", ",", ";", ".", "...", "-", "+", "*", "/", "^", "_", "=", "<", ">", "\\le ", "\\ne ", "\\approx ", "\\pm ", "\\infty ", "$", "\\", "\\\\",
    "~", "&", "%", "°", "!", "?", "'", ":", "\n", "half ", "dozen ", "cm ", "\\text{", "\\frac", "\\frac12", "\\sqrt", "\\boxed{", "\\left", "\\right",
    "\\begin{pmatrix}", "\\end{pmatrix}", "\\cup ", "\\in ", "\\setminus ", "\\mathbb{R}", "\\overline{3}", "\\over ", "\\log_", "\\sin ", "\\pi ",
    "½", "²", "[ANSWER]", "####", "<think>", "</think>", "<answer>", "</answer>", "Final Answer: The final answer is ",
)  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


@settings(max_examples=500)
@given(TEXTS, TEXTS, st.sampled_from(NAMES))
def test_whatever_is_written_is_compared(given: str, right: str, judge: JudgeName) -> None:
    """The same text is the same answer, and nothing of a stranger's makes a reader fail."""
    assert same(given, right, judge) in (True, False)
    assert same(given, given, judge)
    assert same(given, right, "strict") <= same(given, right, "auto")
    assert amount(plain(given)) is None or same(plain(given), given)
    placed, found = strict_place(given), lenient_place(given, right)
    assert placed is None or has_form(given) or "<answer>" in given
    assert found is None or holds(found, found)


@pytest.mark.parametrize(
    ("text", "held"),
    [
        (r"so \boxed{7}.", "7"), (r"\boxed{1} and \boxed{\frac{1}{2}}", r"\frac{1}{2}"), (r"\boxed{\{1, 2\}}", r"\{1, 2\}"),
        (r"\boxed{7", None), (r"\boxed 7", None), ("7", None),
    ],
)  # fmt: skip
def test_the_last_box(text: str, held: str | None) -> None:
    found = last_box(text)
    assert (found and found[0]) == held
