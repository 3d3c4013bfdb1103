"""Whether an answer is the right one, read strictly.

Numbers are compared exactly, choices by their letters, lists and sets element by element, intervals end by end, and what
is left as text. Formulas that are written differently go to `equal`, which is math-verify behind `formulas.py`, and only
after `matching.py` has read both as formulas of the same variables whose values do not differ. So whatever is no answer
never gets there: a relation where a value is asked for, several values where one is, an equation that merely ends in the
number, a calculation that is not done, words.
"""

from __future__ import annotations

import re
from functools import lru_cache

from kolmocli.tasks.answers.choices import chosen, labelled, letters_of
from kolmocli.tasks.answers.forms import read_form
from kolmocli.tasks.answers.frames import unframed
from kolmocli.tasks.answers.judges import JudgeName
from kolmocli.tasks.answers.latex import LONGEST, plain
from kolmocli.tasks.answers.literals import same_literal, spelled
from kolmocli.tasks.answers.matching import Matching
from kolmocli.tasks.answers.names import folded, same_text
from kolmocli.tasks.answers.numbers import Amount, amount
from kolmocli.tasks.answers.parts import Form
from kolmocli.tasks.answers.trees import Equal, Tree

_BEFORE = " \t\n\"'`,;:“‘"  # noqa: RUF001 - typographic quotes are what they are
_AFTER = " \t\n\"'`.,;:”’"  # noqa: RUF001
_STUCK = re.compile(r"(?<=[0-9])(?=[A-Za-z])")
_BLANK = re.compile(r"\s+")
_LABEL = re.compile(r"\A([A-J])[).:] ")
_STARRED = re.compile(r"(?<=[A-Za-z0-9)}]\*)[.,;:]\Z|(?<=\*\*)[.,;:]\Z")
_MINUTES = re.compile(r"[0-9] ?°.*[0-9] ?(?:'|\")+\Z")
_BROKEN = re.compile(r"(?<![$\\])\$[^$\n]*\n[^$]*(?<!\\)\$(?!\$)|\\\([^)]*\n")
"""A formula within a line that goes on in the next one: what is shown of it is not what stands there."""
_STRUCK = re.compile(r"~~|\\(?:cancel|bcancel|xcancel|sout|st)\b|\u0336|\u0338|<(?:s|del|strike)>")
"""Marks of struck-out text."""


def bare(text: str) -> str:
    """An answer without LaTeX and without marks around it; a minus sign is an ASCII one."""
    return _trimmed(plain(text))


def _trimmed(text: str) -> str:
    found = _unmarked(text)
    quoted = found[:1] in ("'", "`")
    found = found.lstrip(_BEFORE)
    if len(found) <= LONGEST and _MINUTES.search(found):
        return found.replace('"', "''")
    if found.endswith("...") or (re.search(r"[A-Za-z]'+\Z", found) and not quoted):
        return found  # a list that goes on, a derivative
    return found.rstrip(_AFTER)


def _unmarked(text: str) -> str:
    """Without the stars of Markdown. A single star behind a number is a sign."""
    text = _STARRED.sub("", _BLANK.sub(" ", text).strip()).removesuffix("**").removeprefix("**")
    while len(text) > 2 and text[0] == text[-1] and text[0] in "*_":
        text = text[1:-1]
    return text.strip()


def never(given: Tree, right: Tree) -> bool:
    """The judge of formulas where there is none: two that are written differently are two."""
    return False


def same(given: str, right: str, judge: JudgeName = "auto", equal: Equal = never) -> bool:
    """Whether both are one answer. `x = 5` is 5 where 5 is right."""
    if given.strip() == right.strip():
        return True
    if max(len(given), len(right)) > LONGEST:
        return False
    if _BROKEN.search(given) or (_STRUCK.search(given) and not _STRUCK.search(right)):
        return False
    if judge in ("auto", "strict") and (data := spelled(right)) is not None:
        return any(same_literal(each, data) for each in (given, unframed(given)))
    wanted = _wanted(right)
    found = bare(given)
    if not found:
        return False
    if judge == "text":
        return folded(found).casefold() == folded(wanted).casefold()
    if judge == "choice" or (judge in ("auto", "strict") and letters_of(wanted) is not None):
        letters = letters_of(wanted.upper()) if judge == "choice" else letters_of(wanted)
        return letters is not None and chosen(found) == letters
    if _same(found, wanted, equal):
        return True
    if judge in ("auto", "strict") and (choice := labelled(wanted)) is not None:
        return _is_labelled(found, *choice, equal)
    inner = _trimmed(unframed(found))
    return inner != found and inner != "" and _same(inner, wanted, equal)


@lru_cache(maxsize=10_000)
def _wanted(right: str) -> str:
    """The right answer as it is compared."""
    return bare(right)


def _is_labelled(found: str, letter: str, text: str, equal: Equal) -> bool:
    """Whether an answer is the choice that is right, by its text or with its letter; a letter alone is a guess among few."""
    given = labelled(_LABEL.sub(r"(\1) ", found))
    if given is not None:
        return given[0] == letter and _same(given[1], text, equal)
    return letters_of(found) is None and _same(_trimmed(unframed(found)), text, equal)


def _same(found: str, wanted: str, equal: Equal) -> bool:
    if same_text(found, wanted):
        return True
    x = amount(wanted)
    if x is not None:
        return _is_number(found, x, equal)
    if "," in wanted and "." in found and (x := amount(wanted, foreign=True)) is not None:
        number = amount(found)
        if number is not None and number.equals(x):
            return True  # `1,22` of a data set that writes decimal commas
    form, right = read_form(found), read_form(wanted)
    if form.kind == "list" and right.kind == "leaf" and amount(found) is not None:
        form = Form("leaf", found)  # thousands
    return Matching(equal).whole(form, right)


def _is_number(found: str, right: Amount, equal: Equal) -> bool:
    """Compare where a number is the right answer. Most answers end here, without being taken apart."""
    number = amount(found, foreign=True)
    if number is None and right.units and (measured := amount(_STUCK.sub(" ", found))) is not None and measured.units:
        number = measured  # `5m` where 5 m are right
    if number is not None:
        return number.equals(right)
    return Matching(equal).whole(read_form(found), Form("leaf", str(right.value), number=right))
