"""LaTeX as models write it in answers, made plain: `\\frac{1}{2}` to `1/2`, `\\text{cm}` to `cm`, `\\boxed{7}` to `7`.

A small parser and no more: what an answer of one line holds. Commands that it does not know become their names, so two
texts with the same one still compare equal. Nothing is evaluated.
"""

from __future__ import annotations

import re
from itertools import takewhile

from kolmocli.tasks.answers.symbols import typed
from kolmocli.tasks.answers.trees import NAMES
from kolmocli.tasks.answers.units import meanings
from kolmocli.tasks.answers.words import listed

LONGEST = 400
"""Characters of an answer. A longer text is no answer but an essay, and is left as it is."""
_DEEPEST = 20
_TOKEN = re.compile(r"\\[A-Za-z]+\*? ?|\\.|.", re.DOTALL)
_FRACTIONS = frozenset({"frac", "dfrac", "tfrac", "cfrac", "nicefrac", "sfrac"})
_WRAPPERS = frozenset(
    listed(
        "boxed fbox text textbf textit textrm textsf texttt textnormal textup mathrm mathbf mathit mathsf mathtt mathcal mbox hbox "
        "operatorname boldsymbol bm pmb emph underline ensuremath mathop mathord displaylines textsc textsl mathnormal"
    )
)
"""Commands of which only what they wrap is of use."""
_UNSEEN = frozenset(listed("phantom hphantom vphantom label tag hspace vspace hspace* vspace* tag*"))
"""Commands of which nothing is to be seen, and what they have in braces neither."""
_FACTORS = NAMES | {"sqrt", "binom", *_FRACTIONS}
"""Commands that begin a factor."""
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
    "vee": " or ", "wedge": " and ", "percent": "%", "colon": ":",
    **dict.fromkeys(("setminus", "backslash"), "∖"),  # noqa: RUF001
    **dict.fromkeys(("textdollar", "mathdollar"), "$"), "therefore": "", "prime": "'",
    **dict.fromkeys(("bmod", "mod"), " mod "), "equiv": "≡",
}  # fmt: skip
_BASES = {
    name: str(base)
    for base, name in enumerate(listed("two three four five six seven eight nine ten eleven twelve"), start=2)
}
_BRACKETED = re.compile(r"\([0-9]{1,2}\)\Z")
_WHOLE = re.compile(r"(?<![\w.,)\]}^])[0-9]+ *\Z")
_PROPER = re.compile(r"([0-9]{1,60})/([0-9]{1,60})\Z")
_SIMPLE = re.compile(r"[\w.]*\Z")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_BOX = re.compile(r"\\(?:boxed|fbox)\s*\{")
_MATRIX = re.compile(
    r"(?:\\left\s*[\[(]\s*)?\\begin\{(?P<name>[pbB]?matrix|smallmatrix|array)\}(?:\s*\{[^{}]*\})?(?P<rows>.*?)\\end\{(?P=name)\}"
    r"(?:\s*\\right\s*[\])])?",
    re.DOTALL,
)
_ENVIRONMENT = re.compile(r"\\(?:begin|end)\{[A-Za-z]+\*?\}")
_COMMA = r"(?:,\\!\s*|\s*\{\s*,\s*\}\s*)"
_THOUSANDS, _ANY_COMMA = re.compile(rf"(?<=[0-9]){_COMMA}(?=[0-9]{{3}}(?![0-9]))"), re.compile(_COMMA)
_QUAD = re.compile(r"\\q?quad(?=[a-z])")
"""With a variable stuck to it, as data sets have it."""
_SINGLE = re.compile(r"(?<!\\)\\[A-Za-z]")
_DOLLAR = re.compile(r"(?<!\\)\$")
_MONEY = re.compile(
    r"(?<!\\)\$(?=\s?[-+]?(?:[0-9][0-9,]*(?:\.[0-9]+)?|\.[0-9]+)[.,;*]*(?:\s+[A-Za-z]{2}|\s*\Z))|\A([-+]?[0-9][0-9,.]*\s?)\$\Z"
)
"""A sign that no other closes, at a number that stands alone: no formula begins or ends with it."""
_RAISED = re.compile(r"\^(?:\((°|'+)\)|(°|'+))")
"""A sign that stands above the line by itself."""
_OVER, _CHOOSE = "\x01", "\x02"


def plain(text: str) -> str:
    """The text without LaTeX, and without the dollar signs around it. A matrix is `matrix[a, b; c, d]`."""
    if len(text) > LONGEST:
        return text.strip()
    text = typed(text)
    if not any(mark in text for mark in "\\${~^_*"):
        return text.strip()
    if len(_DOLLAR.findall(text)) == 1:
        text = _MONEY.sub(r"\1\\$", text.strip())
    text = _MATRIX.sub(_matrix, _QUAD.sub(r"\\quad ", _ANY_COMMA.sub(",", _THOUSANDS.sub("", text))))
    text = _ENVIRONMENT.sub(" ", text)
    return _RAISED.sub(r"\1\2", _Reader(text).all()).strip()


def undoubled(text: str) -> str:
    """The text of a data set in which every backslash was escaped once too often, as it was meant."""
    return text.replace("\\\\", "\\") if "\\\\" in text and not _SINGLE.search(text) else text


def last_box(text: str) -> tuple[str, int, int] | None:
    """(what the last `\\boxed{…}` holds that stands in no other, where it ends, where it begins); None where there is none, or
    the text ends before it is closed."""
    found = boxes(text)
    begun = max((box.start() for box in _BOX.finditer(text)), default=-1)
    if not found or begun >= found[-1][1]:
        return None
    begin, end, held = found[-1]
    return held, end, begin


def boxes(text: str) -> list[tuple[int, int, str]]:
    """(begin, end, what it holds) of every `\\boxed{…}` that is closed and stands in no other one that is, in order."""
    begun = {box.end() - 1: box.start() for box in _BOX.finditer(text)}
    closed: list[tuple[int, int, str]] = []
    open_braces: list[int] = []
    for brace in _BRACE.finditer(text):
        if brace[0] == "{":
            open_braces.append(brace.start())
        elif brace[0] == "}" and open_braces:
            start = open_braces.pop()
            if start in begun:
                while closed and closed[-1][0] > start:
                    closed.pop()  # a box in this one
                closed.append((begun[start], brace.end(), text[start + 1 : brace.start()]))
    return closed


def _matrix(found: re.Match[str]) -> str:
    rows = [row for row in re.split(r"\\\\(?:\[[0-9.]+ ?[a-z]{2}\])?", found["rows"]) if row.strip()]
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
        pieces, last, named, scripted = list[str](), "", False, False
        while (token := self._next()) and token != "}":
            piece = self._piece(token, depth)
            name = token[1:].strip() if token.startswith("\\") else ""
            if last in ("^", "_") and token == "{":
                piece = self._script(last, piece)
            elif last in ("^", "_") and len(piece) > 1 and piece[0] != "°" and not _is_closed(piece):
                piece = f"({piece})"
            if name in _FRACTIONS and (self._raised() or last[-1:] == "/" or named or self._has_factor()):
                whole = "" if self._raised() else _whole_number(pieces, piece)
                piece = f"({whole}+{piece})" if whole else f"({piece})"
            elif name in _FRACTIONS and last[-1:].isdigit():
                piece = f" {piece}"  # a mixed number
            wordy = name.isalpha() and name not in _WRAPPERS and piece[:1].isalpha()
            if piece and last[-1:].isalnum() and ((wordy and last[-1:].isalpha()) or (named and piece[0].isalnum())):
                piece = f" {piece}"  # `\sin x` is no `sinx`
            if token == "{" and scripted and piece[:1].isalnum():
                piece = f" {piece}"  # `\log_{3}{5}`
            scripted = last in ("^", "_")
            if piece:
                named = wordy and piece[-1:].isalpha()
                last = piece
            pieces.append(piece)
        text = "".join(pieces)
        if _OVER in text:
            above, _, below = text.partition(_OVER)
            text = f"{_closed(above.strip())}/{_divisor(below.replace(_OVER, '/').strip())}"
            text = f"({text})" if self._has_factor() else text
        if _CHOOSE in text:
            above, _, below = text.partition(_CHOOSE)
            text = f"binom({above.strip()},{below.strip()})"
        return text

    def _has_factor(self) -> bool:
        """Whether a fraction is multiplied with what follows it: the x of `\\frac{1}{2}x`, and not the unit of `\\frac{1}{2} cm`."""
        at = self._at
        while at < len(self._tokens) and self._tokens[at] in (" ", "\\left", "\\left ", "\\,", "\\!"):
            at += 1
        token = self._tokens[at] if at < len(self._tokens) else ""
        if token.startswith("\\"):
            return token[1:].strip() in _FACTORS
        letters = "".join(takewhile(str.isalpha, self._tokens[at : at + 5]))
        return (
            token == "(" or token.isdigit() or len(letters) == 1 or (len(letters) in (2, 3) and not meanings(letters))
        )

    def _script(self, sign: str, held: str) -> str:
        """Contents of braces behind ^ or _. The `2` of `x_{1}2` is not in its index."""
        if held[:1] == "°" or (_is_closed(held) and not _BRACKETED.match(held)):
            return held
        follows = self._at < len(self._tokens) and self._tokens[self._at].isalnum()
        if sign == "_":
            held = held[1:-1] if _BRACKETED.match(held) else held
            held = _BASES.get(held.strip(), held)
        short = held.isalnum() and (len(held) == 1 or (sign == "_" and held.isdigit()))
        return held if short and not follows else f"({held})"

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
            return f"{_closed(above)}/{_divisor(below)}"
        if name in _UNSEEN:
            self._argument(depth)
            return " "
        if name in ("left", "right") and self._peek() == ".":
            self._next()
            return ""
        if name == "not" and self._peek() in ("=", "\\in", "\\in "):
            return "!=" if self._next() == "=" else "∉"
        if name in _COLOURS:
            self._argument(depth)
            return self._argument(depth) if name != "color" else ""
        if name in _WRAPPERS:
            return self._argument(depth)
        if name == "sqrt":
            return self._root(depth)
        if name in ("over", "choose"):
            return _OVER if name == "over" else _CHOOSE
        if name in ("binom", "dbinom", "tbinom"):
            return f"binom({self._argument(depth)},{self._argument(depth)})"
        if name in ("overline", "bar", "dot"):
            held = self._argument(depth)
            return f"{'overline' if name == 'bar' or held.isdigit() else name}({held})"
        if name == "pmod":
            return f" (mod {self._argument(depth).strip()})"
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
        """Argument of a command: a group, or the next token."""
        self._peek()
        if depth >= _DEEPEST:
            token = self._next()
            if token == "{":
                self._skip()
            return ""
        return self._piece(self._next() or "", depth + 1)


def _whole_number(pieces: list[str], fraction: str) -> str:
    """The digits that end the pieces, taken off them, where they and the fraction are a mixed number: the 2 of `2\\frac{1}{2}x`."""
    proper, found = _PROPER.match(fraction), _WHOLE.search("".join(pieces))
    if found is None or proper is None or int(proper[1]) >= int(proper[2]):
        return ""
    if not all(len(piece) == 1 for piece in pieces[-len(found[0]) :]):
        return ""
    del pieces[-len(found[0]) :]
    return found[0].strip()


def _divisor(text: str) -> str:
    """`2x` under a fraction is in brackets: 1/2x is half of x to many."""
    return text if re.fullmatch(r"[0-9.]+|[A-Za-z]?", text) else text if _is_closed(text) else f"({text})"


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
