"""The signs of mathematics, as people and models type them, in the few that the judge of answers reads.

`−3` is `-3`, `2√3` is `2sqrt(3)`, `x²` is `x^2`, `½` is `1/2`. Letters of other alphabets that look like Latin ones stay what
they are: they are other letters.
"""

from __future__ import annotations

import re
import unicodedata

from kolmocli.tasks.answers.words import listed

_MINUS = "−‐‑‒–—﹣－"  # noqa: RUF001
_BLANKS = "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000\t\r\n"
_NOTHING = "\u200b\u200c\u200d\u2060\ufeff\u00ad"
_GREEK = dict(
    zip(
        "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΦΨΩϕϵ",
        listed(
            "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi "
            "omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega phi epsilon"
        ),
        strict=True,
    )
)
_SIGNS = {
    **dict.fromkeys(_MINUS, "-"), **dict.fromkeys(_BLANKS, " "), **dict.fromkeys(_NOTHING, ""),
    **{mark: f"\\{name} " for mark, name in _GREEK.items()},
    "×": "*", "⋅": "*", "·": "*", "∙": "*", "∗": "*", "÷": "/", "∕": "/", "⁄": "/", "＋": "+", "＝": "=",  # noqa: RUF001
    "≤": "<=", "⩽": "<=", "≥": ">=", "⩾": ">=", "≠": "!=", "∞": "\\infty ", "∪": "\\cup ", "∩": "\\cap ", "∈": "\\in ",  # noqa: RUF001
    "∅": "\\emptyset ", "±": "\\pm ", "∓": "\\mp ", "‰": " permille", "、": ",", "。": ".",
    "≡": "\\equiv ", "′": "'", "″": "''",  # noqa: RUF001
}  # fmt: skip
_TABLE = str.maketrans(_SIGNS)
_RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ⁿ", "0123456789+-()n", strict=True))
_LOWERED = dict(zip("₀₁₂₃₄₅₆₇₈₉", "0123456789", strict=True))
_RUNS = ((re.compile(f"[{''.join(_RAISED)}]+"), _RAISED, "^"), (re.compile(f"[{''.join(_LOWERED)}]+"), _LOWERED, "_"))
_VULGAR = re.compile("(?P<whole>[0-9]?)(?P<sign>[\u00bc-\u00be\u2150-\u215e])")
_ROOT = re.compile(r"([√∛∜])\s*(?:([0-9]+(?:\.[0-9]+)?|[A-Za-z])(?![0-9])|(?=[(\\{]))")
_ROOTS = {"√": "sqrt", "∛": "cbrt", "∜": "fourthroot"}
_WIDE = re.compile("[\uff01-\uff5e\U0001d400-\U0001d7ff]")
"""Latin letters, digits and signs in another width or style."""

_ENDS = (
    "<|im_end|>", "<|im_start|>", "<|endoftext|>", "<|end_of_text|>", "<|eot_id|>", "<|eom_id|>", "<|end|>", "<|return|>",
    "</s>", "<s>", "<eos>", "<bos>", "<pad>", "[PAD]", "<end_of_turn>", "<start_of_turn>", "<|end_of_turn|>", "<|user|>",
    "<|END_OF_TURN_TOKEN|>", "<|endofassistant|>", "<|assistant|>", "<|end_of_sentence|>", "<|eos|>", "<turn|>",
    "<｜end▁of▁sentence｜>", "<｜begin▁of▁sentence｜>", "<|end▁of▁sentence|>",  # noqa: RUF001
)  # fmt: skip
"""Tokens with which well-known models end their turn, where a server leaves them in the text."""
_END = re.compile(f"(?:(?:{'|'.join(map(re.escape, _ENDS))})(?:user|assistant|system)?\\s*)+\\Z")
_LONGEST_END = 400


def without_ends(text: str) -> str:
    """The text without the end tokens of a model that stand behind it."""
    cut = max(0, len(text) - _LONGEST_END)
    tail = text[cut:].rstrip()
    return text[:cut] + _END.sub("", tail)


_TURN = re.compile(r"<\|(?:im_end|endoftext|end_of_text|eot_id|end_of_turn)\|>|<end_of_turn>|<｜end▁of▁sentence｜>")  # noqa: RUF001
"""Tokens after which another speaker begins, or the text ends."""


def first_turn(text: str) -> str:
    """The text up to the first end of a turn."""
    found = _TURN.search(text)
    return text if found is None or not text[: found.start()].strip() else text[: found.start()]


def typed(text: str) -> str:
    """The text with signs of mathematics as LaTeX or ASCII has them. Marks that combine with a letter stand composed."""
    if text.isascii():
        return text.translate(_TABLE) if any(blank in text for blank in "\t\r\n") else text
    text = unicodedata.normalize("NFC", text)
    text = _WIDE.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text)
    text = _VULGAR.sub(_fraction, text)
    for run, marks, sign in _RUNS:
        text = run.sub(lambda found, m=marks, s=sign: f"{s}{{{''.join(m[c] for c in found[0])}}}", text)  # type: ignore[misc]
    text = _ROOT.sub(lambda found: _ROOTS[found[1]] + (f"({found[2]})" if found[2] else ""), text)
    return text.translate(_TABLE)


def _fraction(found: re.Match[str]) -> str:
    above, _, below = unicodedata.normalize("NFKD", found["sign"]).partition("\u2044")
    return f"{found['whole']}{' ' if found['whole'] else ''}{above}/{below}"
