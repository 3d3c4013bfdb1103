"""Languages of scripts beyond Python: what files and code fences call them, and where in an answer the program is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from kolmocli.language.ends import answer_within
from kolmocli.language.fences import Block, Part, blocks

Written = Literal["python", "cpp", "javascript"]
"""The language that a script is written in."""
_NAMES: dict[Written, frozenset[str]] = {
    "python": frozenset({"python", "python3", "py"}),
    "cpp": frozenset({"cpp", "c++", "c++17", "cpp17", "c++20", "cpp20", "cxx", "cc"}),
    "javascript": frozenset({"javascript", "js", "node", "nodejs", "node.js"}),
}
_NATURAL = frozenset({"en", "eng", "english"})
"""What some files say of their words under the same key."""
_WHOLE = {
    "cpp": re.compile(r"\bmain[ \t]*\("),
    "javascript": re.compile(r"\brequire[ \t]*\(|\bprocess\.stdin\b|\bconsole\.log\b"),
}
"""What a program has, and a piece of one that is explained has not."""


def written_in(record: Mapping[str, Any]) -> Written:
    """The `language` that a record asks for; Python where it names none. Raises ValueError for one that no sandbox runs."""
    given = record.get("language")
    if given is None or str(given).lower() in _NATURAL:
        return "python"
    found = next((language for language, names in _NAMES.items() if str(given).strip().lower() in names), None)
    if found is None:
        raise ValueError(f"`language` {str(given)[:40]!r}: there are {', '.join(_NAMES)}")
    return found


def script_part(answer: str, language: Written) -> Part:
    """The program in an answer: the last code fence of this language, or without a name, that holds all of one; else the
    last of this language, else of any; without fences all of the answer."""
    lines = answer_within(answer).replace("\r\n", "\n").split("\n")
    held = [block for block in blocks(lines) if not block.is_blank]
    if not held:
        return Part(0, lines)

    def rank(block: Block) -> int:
        named = 2 if block.name in _NAMES[language] else 0 if block.name else 1
        whole = named and any(map(_WHOLE[language].search, block.lines))
        return named + 3 * bool(whole)

    return max(reversed(held), key=rank)
