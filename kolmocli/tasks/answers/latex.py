"""LaTeX as models write it in answers, made plain: `\\frac{1}{2}` to `1/2`, `\\text{cm}` to `cm`, `\\boxed{7}` to `7`.

A small parser and no more: what an answer of one line holds. Commands that it does not know become their names, so two
texts with the same one still compare equal. Nothing is evaluated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

LONGEST = 400
"""Characters of an answer. What is longer is no answer but an essay, and is left as it is."""
_DEEPEST = 20
_TOKEN = re.compile(r"\\[A-Za-z]+ ?|\\.|.", re.DOTALL)
_FRACTIONS = frozenset({"frac", "dfrac", "tfrac", "cfrac"})
_WRAPPERS = frozenset(
    {
        "boxed",
        "fbox",
        "text",
        "textbf",
        "textit",
        "textrm",
        "mathrm",
        "mathbf",
        "mathit",
        "mathsf",
        "mbox",
        "operatorname",
    }
)
"""Commands of which only what they wrap is of use."""
_WORDS = {
    **dict.fromkeys(("left", "right", "big", "Big", "bigl", "bigr", "displaystyle", "!", "(", ")", "[", "]"), ""),
    **dict.fromkeys((",", ";", ":", " ", "quad", "qquad"), " "),
    **{mark: mark for mark in "%${}_#&"},
    **dict.fromkeys(("cdot", "times"), "*"), "div": "/", "pm": "±", "infty": "infinity",
    **dict.fromkeys(("le", "leq"), "<="), **dict.fromkeys(("ge", "geq"), ">="), **dict.fromkeys(("ne", "neq"), "!="),
    **dict.fromkeys(("circ", "degree"), "°"),
}  # fmt: skip
_SIMPLE = re.compile(r"[\w.]*\Z")
_BOX = re.compile(r"\\(?:boxed|fbox)\s*\{")


def plain(text: str) -> str:
    """The text without LaTeX, and without the dollar signs around it."""
    if len(text) > LONGEST or not any(mark in text for mark in "\\${~"):
        return text.strip()
    tokens = iter(_TOKEN.findall(text))
    return "".join(_pieces(tokens, 0)).replace("^°", "°").strip()


def last_box(text: str) -> tuple[str, int] | None:
    """What the last `\\boxed{…}` holds, and where in the text it ends; None without one that is closed."""
    start = next((found.end() for found in reversed(list(_BOX.finditer(text)))), None)
    if start is None:
        return None
    depth, escaped = 1, False
    for place in range(start, len(text)):
        mark = text[place]
        if escaped:
            escaped = False
        elif mark == "\\":
            escaped = True
        elif mark in "{}":
            depth += 1 if mark == "{" else -1
            if not depth:
                return text[start:place], place + 1
    return None


def _pieces(tokens: Iterator[str], depth: int) -> Iterator[str]:
    """The plain text of tokens up to the end of the group that they stand in. Too deep a nesting is left out."""
    last = ""
    for token in tokens:
        if token == "}":
            return
        piece = _piece(token, tokens, depth)
        if last == "^" and len(piece) > 1 and piece[0] not in "(°":
            piece = f"({piece})"
        if last[-1:].isdigit() and token[1:].strip() in _FRACTIONS:
            piece = f" {piece}"  # a mixed number
        yield piece
        last = piece or last


def _piece(token: str, tokens: Iterator[str], depth: int) -> str:
    if token == "{":
        return "" if depth >= _DEEPEST else "".join(_pieces(tokens, depth + 1))
    if token in ("$", "~"):
        return " " if token == "~" else ""
    if not token.startswith("\\") or len(token) == 1:
        return token
    name = token[1:].strip() or " "
    if name in _FRACTIONS:
        above, below = _argument(tokens, depth), _argument(tokens, depth)
        return f"{_closed(above)}/{_closed(below)}"
    if name in _WRAPPERS:
        return _argument(tokens, depth)
    if name == "sqrt":
        return f"sqrt({_argument(tokens, depth)})"
    return _WORDS.get(name, name)


def _argument(tokens: Iterator[str], depth: int) -> str:
    """What follows a command: a group, or the next token."""
    token = next((each for each in tokens if each != " "), "")
    return _piece(token, tokens, depth)


def _closed(text: str) -> str:
    return text if _SIMPLE.match(text) else f"({text})"
