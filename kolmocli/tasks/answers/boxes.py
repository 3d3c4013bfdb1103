"""The last box of a text, and whether it is the answer: `\\boxed{5}`, and not `x \\ne \\boxed{5}` or `\\boxed{5} or 6`.

What stands before a box and behind it on its line belongs to what is said. A unit may follow, or a few words; a minus
sign, an operator, `not`, a second answer may not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kolmocli.tasks.answers.latex import boxes, last_box, undoubled
from kolmocli.tasks.answers.units import LETTERS, is_unit, meanings
from kolmocli.tasks.answers.words import DENIALS, DOUBTS, NUMBERS, listed


@dataclass(frozen=True, slots=True)
class Box:
    held: str
    """Contents of the box, with the percent sign or the unit behind it. Boxes in succession are one answer of several parts."""
    end: int
    """End in the text."""
    stands: bool
    """Whether it is the answer, and what is around it only says so."""
    negated: bool
    """Whether a minus sign stands before it: `-\\boxed{5}`."""


_BETWEEN = re.compile(
    r"(?:[\s$,;.&]|\\[()\[\],;! ]|\\quad|\\qquad|\\text(?:bf)?\{|\}|\b(?:and|or)\b|\\\\)*(?:\$?\s?[A-Za-z](?:_\{?[0-9A-Za-z]{1,3}\}?)?\s?=\s?)?\Z"
)
_WORDED = re.compile(
    r"[^\n\\]{0,6}(?:\\text\{)?(?:[\s,]*(?:[A-Za-z]+|\([a-z]\))){0,4}[\s,]*\b(?:and|or)\b[\s}]*[^\n\\]{0,3}\Z"
)
_MOST_BETWEEN, _MOST_PARTS, _NEAR = 60, 40, 200
_ANEW = re.compile(
    r"\b(?:wait|no|actually|sorry|correct(?:ion|ed)?|mistake|so|thus|hence|therefore|final|answer|then|finally|now|next|which|giv(?:es|ing))\b",
    re.IGNORECASE,
)
"""Words between two boxes of which the last one counts."""
_CASES = re.compile(r"\b(?:if|when|whenever|for|otherwise|case|unless|either)\b", re.IGNORECASE)
"""Words by which a box is an answer among others."""


def last_answer(text: str) -> Box | None:
    """The last box; None without a box that is closed."""
    if "\\boxed" not in text and "\\fbox" not in text:
        return None
    last = last_box(text)
    if last is None:
        return None
    parts, begin, alone = [last[0]], last[2], True
    for start, end, held in reversed(boxes(text)):
        if end >= last[1] or start >= begin:
            continue
        between = text[end:begin]
        joined = len(between) <= _MOST_BETWEEN and (_BETWEEN.match(between) or _WORDED.match(between))
        if joined and not _DENIED.search(between) and len(parts) <= _MOST_PARTS:
            parts.append(held)
            begin = start
            continue
        alone = held.strip() == last[0].strip() or len(between) > _NEAR or "\n" in between
        alone = alone or (_ANEW.search(between) is not None and _CASES.search(between) is None)
        break
    held = ", ".join(dict.fromkeys(reversed(parts)))
    if text[: last[2]].endswith("\\"):
        held = undoubled(held)
    before, behind = text[max(0, begin - _NEAR) : begin], text[last[1] :]
    stands = alone and _may_precede(before) and _may_follow(behind) and not _is_one_of_several(held, before, behind)
    negated = not stands and _MINUS.search(before) is not None
    return Box(_money(held, before) + held + _measure(held, behind), last[1], stands, negated)


_STYLES = frozenset(
    listed(
        "text textbf textit textrm textsf mathrm mathbf mathit boldsymbol bm emph underline mbox hbox boxed fbox displaystyle large Large"
        " LARGE huge Huge textcolor colorbox color ensuremath left big Big bigl Bigl quad qquad approx equiv iff implies Rightarrow to"
        " rightarrow Longrightarrow therefore because in le leq leqslant ge geq geqslant triangleq coloneqq colon bf rm it bfseries"
        " longrightarrow Longleftrightarrow Leftrightarrow begin hfill centering center simeq cong doteq"
    )
)
"""Commands that may stand right before a box: how it looks, and that it is what was found."""
_DENIED = re.compile(
    r"(?:\b(?:not|never|nor|neither|except|without|unless|no(?=\s))|n['’]t(?:\s+be)?|\b(?:cannot|not|never)\s+be|\bother\s+than|\b(?:more|less|greater|fewer|larger|smaller)\s+than|\\n(?:e|eq|ot)|≠|!=)"  # noqa: RUF001
    r"[\s:$*(\\\[}]*\Z",
    re.IGNORECASE,
)
_OTHERWISE = re.compile(
    rf"(?:(?:[0-9}})$]|\b(?:{'|'.join(sorted(NUMBERS))}))\s*(?:\\text\{{)?\s*\b(?:or|versus|vs)|[0-9]\s*to)\b[\s$(\\\[}}.]*\Z",
    re.IGNORECASE,
)
"""`71 or`, `six or` and `71 to` before the box."""
_EITHER = re.compile(r"\beither\b[^.\n]{1,80}\bor\b[\s$(\\\[}]*\Z", re.IGNORECASE)
_CHANGED = re.compile(
    r"\b(?:minus|negative|plus|times|twice|double|triple|half\s+of|(?:divided|multiplied)\s+by|one\s+over"
    r"|the\s+(?:square|cube|square\s+root|cube\s+root|negative|opposite|reciprocal|inverse)\s+of)[ \t$(\\\[]*\Z",
    re.IGNORECASE,
)
"""`minus`, `twice` and `the square of` before the box."""
_MINUS = re.compile(r"(?:\A|[\s=:(\[$])[-−–]\s*[$(\\\[]*\Z")
_TAGGED = re.compile(r"(?:<(?!/?(?:s|del|strike)\b)/?[A-Za-z][^<>]*>\s*)+\Z")
_BULLET = re.compile(r"(?:\A|\n)\s*(?:[-+*•>–]|[0-9]{1,2}[.)])\s+(?:\\?\$|[€£¥₹])*\Z")
_MARKED = re.compile(r"(?:\A|(?<=[\s:(]))(?:\*{1,3}|_{1,2})\Z")
_MATHS = re.compile(r"(?:\\[(\[$]|[€£¥₹]|\$|(?<!\\)\\[,;:! ]|[\s{(&~])+\Z")
_ARROW = re.compile(r"(?:=+|-+)>\Z")
_DASH = re.compile(r"[A-Za-z]{2}(?<!\bis)(?<!\bare)(?<!\bequals)(?<!\bbe)(?<!\bget)(?:—| [-–—])\Z")
_FACTOR = re.compile(r"(?:[0-9][.,:']?|(?<![A-Za-z\\])[A-Za-z])\Z")
_COMMAND = re.compile(r"\\([A-Za-z]+)\*?(?:\[[^\[\]]*\])?\Z")
_COLOURED = re.compile(r"\\(?:textcolor|colorbox|color|begin)\s*\{[^{}]*\}\s*\Z")


def _may_precede(before: str) -> bool:
    """Whether what stands before a box on its line leaves it as it is."""
    line = before.rpartition("\n\n")[2]
    if any(each.search(line) for each in (_DENIED, _OTHERWISE, _EITHER, _CHANGED)) or not _is_open(line):
        return False
    if not line.strip() or _BULLET.search(line):
        return True
    said, line = line, _TAGGED.sub("", line.rstrip())
    while True:
        trimmed = _MARKED.sub("", _COLOURED.sub("", _MATHS.sub("", line)))
        if trimmed == line:
            break
        adjacent = line[len(trimmed) :]
        if "(" in adjacent and trimmed[-1:].isalnum() and "\\(" not in adjacent and not adjacent[0].isspace():
            return False  # `2(\boxed{5})`
        line = trimmed
    if not line or _ARROW.search(line):
        return True
    command = _COMMAND.search(line)
    if command:
        return command[1] in _STYLES
    if _DASH.search(line) and not _in_formula(line) and (line[-1] == "—" or said[len(line) :][:1].isspace()):
        return True
    if line.endswith("**") and not before.endswith(line):
        return True  # bold text before it
    if line[-1] in "-–+*/^_<>±−×÷·|":
        return False
    if not before.endswith(line):
        return True
    return not _FACTOR.search(line) and (line[-1] != "}" or _follows_text(line))


def _in_formula(line: str) -> bool:
    dollars = len(re.findall(r"(?<!\\)\$+", line))
    opened = max(line.rfind("\\("), line.rfind("\\["))
    return dollars % 2 == 1 or opened > max(line.rfind("\\)"), line.rfind("\\]"))


def _follows_text(line: str) -> bool:
    """Whether the group that ends the line is one of style, as that of `\\text{Area: }`."""
    depth = 0
    for place in range(len(line) - 1, -1, -1):
        depth += (line[place] == "}") - (line[place] == "{")
        if not depth:
            command = _COMMAND.search(line[:place])
            return command is not None and command[1] in _STYLES
    return False


def _is_open(line: str) -> bool:
    """Whether every brace around the box is one of style: `\\textbf{\\boxed{5}}`, and not `\\sqrt{\\boxed{5}}`."""
    depth = 0
    for place in range(len(line) - 1, -1, -1):
        mark = line[place]
        if mark not in "{}" or (place and line[place - 1] == "\\"):
            continue
        depth += 1 if mark == "}" else -1
        if depth < 0:
            depth, head = 0, line[:place].rstrip()
            command = _COMMAND.search(head)
            if head[-1:] in ("^", "_") or (command and command[1] not in _STYLES):
                return False
            if head.endswith("}") and not _COLOURED.search(head):
                return False
    return True


_CLOSER = r"(?:[\s$.*,;\"'’”}`。，；！।∎□■◻✅✓✔🎉]|\\[)\] ,;:!]|\\(?:q?quad|blacksquare|square|qed)\b|</?(?!s\b|del\b|strike\b)[a-z]{1,8}>|\\end\{[a-z]+\*?\}|\\pmod\{[^{}]*\})"  # noqa: RUF001
_CLOSERS, _SOME_CLOSERS = re.compile(f"{_CLOSER}*+"), re.compile(f"{_CLOSER}++")
_GOES_ON = re.compile(r"[\s$\\)\]]*(?:\.\.|…)")
_CLOSED_BELOW = re.compile(r"\\[)\]]|\$|\\end\{")
_HOPED = re.compile(r"I hope (?:it|this) is correct\.?\s*\Z", re.IGNORECASE)
_WORD = re.compile(r"[A-Za-zÀ-ÿ]+")
_PLAIN = re.compile(r"[A-Za-zÀ-ÿµ€£¥₹元\s.,;:'\"()/&@#-]*")
_UNITS = re.compile(r"\\(?:text|mathrm|textrm|mbox|textbf)\{([^{}]*)\}")
_PERCENT = re.compile(r"(?:[\s$]|\\[ ,)])*(?:\\%|%|\\text\{ ?\\?%\}|(?:\\text\{ ?)?percent\b)")
_CHANGES = (
    frozenset(
        listed(
            "or but if plus minus times mod modulo cubed squared factorial half halves third thirds dozen dozens hundred thousand million"
            " billion trillion hundredths tenths below above less fewer than pi sqrt sin cos tan log ln percentile root power over doesn"
            " base quarters quarter score doubled tripled twice halved bn mil etc however though although let lets check verify recheck alternatively otherwise depending when"
            " whenever assuming provided oops mistake try again tausend mille millionen milliarden millions millones milhões milliards"
        )
    )
    | DENIALS
    | DOUBTS
    | (NUMBERS - {"one"})
)
_OPEN_END = re.compile(
    r"n['’]t\b|\bat (?:least|most)\b|\A\W*negative\W*\Z|\band (?:(?:its |the )?(?:negative|opposite)|up|beyond|more|others?|so on|one)\b",  # noqa: RUF001
    re.IGNORECASE,
)
"""Words that add other answers to it, or take it back."""


def _may_follow(behind: str) -> bool:
    """Whether what stands behind a box ends the answer: nothing, a unit, or a few words without numbers on the same line."""
    closers = _CLOSERS.match(behind)
    held = closers[0] if closers else ""
    rest = behind[len(held) :]
    if _GOES_ON.match(behind):
        return False
    if not rest:
        return True
    if len(rest) > 100:
        return False
    rest = _HOPED.sub("", rest)
    if "~~" in rest:
        return False
    rest = rest.replace("~", " ")
    if rest and "\n" in held and not _CLOSED_BELOW.search(held.rpartition("\n")[2]):
        return False
    rest = _UNITS.sub(r" \1 ", rest)
    rest = re.sub(r"\s*\$?\s*\^", "^", rest)
    rest = _SOME_CLOSERS.sub(" ", rest).strip() if "\n" not in rest else rest
    rest = re.sub(r"(?<=[A-Za-z])(?:\^\{?[23]\}?|[²³])|\^\{?\\circ\}?|°|\\%|%", "", rest)
    words = _WORD.findall(rest)
    if not _PLAIN.fullmatch(rest) or _OPEN_END.search(behind) or not _CHANGES.isdisjoint(map(str.lower, words)):
        return False
    if not words or len(words[0]) > 1 or words[0] in "aAmgslhLC":
        return True
    return words[0] in LETTERS and not behind.startswith(words[0])


_CHOICE = re.compile(r"(?:\\(?:text(?:bf)?|math(?:rm|bf))\{)?\(?([A-J])\)?\.?\}?")
_CHOICE_BEFORE = re.compile(r"(?:\b([A-J])\)?\s*(?:,?\s*(?:and|or)\b|[,/&]))[\s$(\\\[]*\Z")
_CHOICE_BEHIND = re.compile(r"(?<![\w'])([B-HJ]\b(?!')|A\b(?!'|\s+[a-z]))")


def _is_one_of_several(held: str, before: str, behind: str) -> bool:
    """Whether a letter stands in the box, and another one beside it: `A or \\boxed{B}`, `\\boxed{B} and D`."""
    letter = _CHOICE.fullmatch(held.strip())
    return letter is not None and not {*_CHOICE_BEFORE.findall(before), *_CHOICE_BEHIND.findall(behind)} <= {letter[1]}


_NUMBER = re.compile(r"\s*-?[0-9.,{}\\!]*[0-9]\s*")
_MONEY = re.compile(r"(\\\$|[€£¥₹])(?:[\s$]|\\[(\[])*\Z")


def _money(held: str, before: str) -> str:
    """The sign of money that stands before a box with a bare number."""
    found = _MONEY.search(before) if _NUMBER.fullmatch(held) else None
    return found[1] if found else ""


def _measure(held: str, behind: str) -> str:
    """The percent sign or the known unit that stands behind a box with a bare number."""
    if not _NUMBER.fullmatch(held):
        return ""
    if _PERCENT.match(behind):
        return "\\%"
    line = _UNITS.sub(r" \1 ", behind).split("\n", 1)[0]
    unit = re.sub(r"[\s$.}~]+|\\[)\], ]", " ", line).strip()
    return f" {unit}" if unit and len(unit) < 40 and is_unit(f" {unit}") and meanings(unit) else ""
