"""LaTeX as models write it in answers, made plain: `\\frac{1}{2}` to `1/2`, `\\text{cm}` to `cm`, `\\boxed{7}` to `7`.

A small parser and no more: what an answer of one line holds. Commands that it does not know become their names, so two
texts with the same one still compare equal. Nothing is evaluated.
"""

from __future__ import annotations

import re

from kolmocli.tasks.answers.symbols import typed
from kolmocli.tasks.answers.words import listed

LONGEST = 400
"""Characters of an answer. What is longer is no answer but an essay, and is left as it is."""
_DEEPEST = 20
_TOKEN = re.compile(r"\\[A-Za-z]+\*? ?|\\.|.", re.DOTALL)
_FRACTIONS = frozenset({"frac", "dfrac", "tfrac", "cfrac", "nicefrac", "sfrac"})
_WRAPPERS = frozenset(
    listed(
        "boxed fbox text textbf textit textrm textsf texttt textnormal textup mathrm mathbf mathit mathsf mathtt mathcal mbox hbox "
        "operatorname boldsymbol bm emph underline ensuremath mathop displaylines phantom"
    )
)
"""Commands of which only what they wrap is of use."""
_COLOURS = frozenset({"textcolor", "colorbox", "color"})
"""Commands whose first argument is the name of a colour."""
_STYLES = listed(
    "left right big Big bigl bigr Bigl Bigr bigg Bigg middle displaystyle textstyle scriptstyle limits ! ( ) [ ] bf it rm "
    "bfseries itshape rmfamily sffamily centering small large Large normalsize label nonumber"
)
_WORDS = {
    **dict.fromkeys(_STYLES, ""),
    **dict.fromkeys((",", ";", ":", " ", "quad", "qquad", "enspace", "thinspace", "\\"), " "),
    **{mark: mark for mark in "%${}_#&"},
    **dict.fromkeys(("cdot", "times", "ast", "cdotp"), "*"), "div": "/", "pm": "±", "mp": "∓", "infty": "infinity",
    **dict.fromkeys(("le", "leq", "leqslant", "leqq"), "<="), **dict.fromkeys(("ge", "geq", "geqslant", "geqq"), ">="),
    **dict.fromkeys(("ne", "neq"), "!="), "lt": "<", "gt": ">", **dict.fromkeys(("approx", "simeq", "doteq"), "≈"),
    **dict.fromkeys(("circ", "degree", "degrees"), "°"), "cup": "∪", "cap": "∩", "in": "∈",  # noqa: RUF001
    **dict.fromkeys(("emptyset", "varnothing"), "∅"), "langle": "⟨", "rangle": "⟩", "lbrace": "{", "rbrace": "}",
    "lbrack": "[", "rbrack": "]", **dict.fromkeys(("vert", "lvert", "rvert", "mid"), "|"), "lfloor": "⌊", "rfloor": "⌋",
    "lceil": "⌈", "rceil": "⌉", **dict.fromkeys(("ldots", "dots", "cdots", "dotsc", "dotsb", "dotsm"), "..."),
    "varphi": "phi", "varepsilon": "epsilon", "vartheta": "theta", "euro": "€", "pounds": "£", "lor": " or ", "land": " and ",
    "vee": " or ", "wedge": " and ", "percent": "%",
}  # fmt: skip
_SIMPLE = re.compile(r"[\w.]*\Z")
_BOX = re.compile(r"\\(?:boxed|fbox)\s*\{")
_MATRIX = re.compile(
    r"(?:\\left\s*[\[(]\s*)?\\begin\{(?P<name>[pbB]?matrix|smallmatrix|array)\}(?:\s*\{[^{}]*\})?(?P<rows>.*?)\\end\{(?P=name)\}"
    r"(?:\s*\\right\s*[\])])?",
    re.DOTALL,
)
_ENVIRONMENT = re.compile(r"\\(?:begin|end)\{[A-Za-z]+\*?\}")
_THOUSANDS = re.compile(r",\\!\s*|\s*\{\s*,\s*\}\s*")
_QUAD = re.compile(r"\\q?quad(?=[a-z])")
"""With a variable stuck to it, as data sets have it."""
_SINGLE = re.compile(r"(?<!\\)\\[A-Za-z]")
_OVER = "\x01"


def plain(text: str) -> str:
    """The text without LaTeX, and without the dollar signs around it. A matrix is `matrix[a, b; c, d]`."""
    if len(text) > LONGEST:
        return text.strip()
    text = typed(text)
    if not any(mark in text for mark in "\\${~^_*"):
        return text.strip()
    text = _MATRIX.sub(_matrix, _QUAD.sub(r"\\quad ", _THOUSANDS.sub(",", text)))
    text = _ENVIRONMENT.sub(" ", text)
    return _Reader(text).all().replace("^°", "°").replace("^(°)", "°").strip()


def undoubled(text: str) -> str:
    """The text of a data set in which every backslash was escaped once too often, as it was meant."""
    return text.replace("\\\\", "\\") if "\\\\" in text and not _SINGLE.search(text) else text


def last_box(text: str) -> tuple[str, int] | None:
    """What the last `\\boxed{…}` holds, and where in the text it ends; None without one that is closed."""
    start = next((found.end() for found in reversed(list(_BOX.finditer(text)))), None)
    if start is None:
        return None
    end = _closing(text, start)
    return None if end is None else (text[start:end], end + 1)


def boxes(text: str) -> list[tuple[int, int, str]]:
    """(begin, end, what it holds) of every `\\boxed{…}` that is closed and stands in no other, in order."""
    found: list[tuple[int, int, str]] = []
    for box in _BOX.finditer(text):
        if found and box.start() < found[-1][1]:
            continue
        end = _closing(text, box.end())
        if end is None:
            break
        found.append((box.start(), end + 1, text[box.end() : end]))
    return found


def _closing(text: str, start: int) -> int | None:
    """Where the group ends that begins before `start`."""
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
                return place
    return None


def _matrix(found: re.Match[str]) -> str:
    rows = [row for row in re.split(r"\\\\", found["rows"]) if row.strip()]
    return "matrix[" + ";".join(",".join(f"{cell.strip()}" for cell in row.split("&")) for row in rows) + "]"


class _Reader:
    """The plain text of tokens. Too deep a nesting is left out."""

    def __init__(self, text: str) -> None:
        self._tokens = _TOKEN.findall(text)
        self._at = 0

    def all(self) -> str:
        text = ""
        while self._at < len(self._tokens):  # a brace that closes nothing ends a group
            text += self._group(0)
        return text

    def _next(self) -> str:
        token = self._tokens[self._at] if self._at < len(self._tokens) else ""
        self._at += 1
        return token

    def _peek(self) -> str:
        while self._at < len(self._tokens) and self._tokens[self._at] == " ":
            self._at += 1
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _raised(self) -> bool:
        return self._at < len(self._tokens) and self._tokens[self._at] == "^"

    def _group(self, depth: int) -> str:
        """Up to the brace that closes it."""
        pieces, last, named = [], "", False
        while (token := self._next()) and token != "}":
            piece = self._piece(token, depth)
            name = token[1:].strip() if token.startswith("\\") else ""
            if last in ("^", "_") and len(piece) > 1 and piece[0] != "°" and not _is_closed(piece):
                piece = f"({piece})" if last == "^" or not piece.isalnum() else piece
            if name in _FRACTIONS and (self._raised() or last[-1:] == "/" or named):
                piece = f"({piece})"
            elif name in _FRACTIONS and last[-1:].isdigit():
                piece = f" {piece}"  # a mixed number
            wordy = name.isalpha() and name not in _WRAPPERS and piece[:1].isalpha()
            if piece and last[-1:].isalnum() and ((wordy and last[-1:].isalpha()) or (named and piece[0].isalnum())):
                piece = f" {piece}"  # `\sin x` is no `sinx`
            if piece:
                named = wordy and piece[-1:].isalpha()
                last = piece
            pieces.append(piece)
        text = "".join(pieces)
        if _OVER in text:
            above, _, below = text.partition(_OVER)
            text = f"{_closed(above.strip())}/{_closed(below.replace(_OVER, '/').strip())}"
        return text

    def _piece(self, token: str, depth: int) -> str:
        if token == "{":
            if depth < _DEEPEST:
                return self._group(depth + 1)
            self._skip()
            return ""
        if token in ("$", "~"):
            return " " if token == "~" else ""
        if not token.startswith("\\") or len(token) == 1:
            return token
        name = token[1:].strip() or " "
        if name in _FRACTIONS:
            above, below = self._argument(depth), self._argument(depth)
            return f"{_closed(above)}/{_closed(below)}"
        if name in _COLOURS:
            self._argument(depth)
            return self._argument(depth) if name != "color" else ""
        if name in _WRAPPERS:
            return self._argument(depth)
        if name == "sqrt":
            return self._root(depth)
        if name == "over":
            return _OVER
        if name in ("binom", "dbinom", "tbinom"):
            return f"binom({self._argument(depth)},{self._argument(depth)})"
        if name in ("overline", "dot"):
            return f"overline({self._argument(depth)})"
        if name == "mathbb":
            return {"R": "ℝ", "Z": "ℤ", "N": "ℕ", "Q": "ℚ", "C": "ℂ"}.get(held := self._argument(depth), held)  # noqa: RUF001
        return _WORDS.get(name, name)

    def _skip(self) -> None:
        """To the end of a group that is too deep to be read."""
        depth = 1
        while depth and (token := self._next()):
            depth += (token == "{") - (token == "}")

    def _root(self, depth: int) -> str:
        if self._peek() != "[":
            return f"sqrt({self._argument(depth)})"
        self._next()
        index = ""
        while (token := self._next()) and token != "]":
            index += self._piece(token, min(depth + 1, _DEEPEST))
        return f"(({self._argument(depth)})^(1/{_closed(index)}))"

    def _argument(self, depth: int) -> str:
        """What follows a command: a group, or the next token."""
        self._peek()
        if depth >= _DEEPEST:
            token = self._next()
            if token == "{":
                self._skip()
            return ""
        return self._piece(self._next() or "", depth + 1)


def _closed(text: str) -> str:
    return text if _SIMPLE.match(text) else f"({text})"


def _is_closed(text: str) -> bool:
    """Whether one pair of brackets is around all of it."""
    depth = 0
    for place, mark in enumerate(text):
        depth += (mark == "(") - (mark == ")")
        if depth == 0:
            return text[0] == "(" and place == len(text) - 1
    return False
