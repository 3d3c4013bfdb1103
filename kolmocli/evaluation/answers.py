"""The program in what a language model answered: prose, code fences and ends taken away. Nothing is evaluated."""

from __future__ import annotations

import re

_SPECIAL = re.compile(r"<\|[a-z_]+\|>|</s>")
"""Where a tokenizer's text ends: what follows is not the answer."""
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[ \t]*([\w+-]*)[^\n]*\n(.*?)(?:^[ \t]*(?:```|~~~)[ \t]*$|\Z)", re.M | re.S)
_END = re.compile(r"^[ \t]*###.*$", re.M)
_OUTPUT = re.compile(r"\boutput\b\s*[+*]?=(?!=)")


def program_of(answer: str) -> str:
    """The program that an answer holds, by the conventions of the KoLMogorov Test's prompt and of chat models.

    - What comes after a special token such as `<|end_of_text|>` is gone.
    - Of code fences, closed or cut off, the last that assigns `output` is taken, else the last one.
    - Lines that begin with `###` are ends and headings: of what is between them, the first part that assigns `output`
      is taken, else the first that is not blank.
    """
    text = _SPECIAL.split(answer, maxsplit=1)[0].replace("\r\n", "\n")
    fenced = [found[2] for found in _FENCE.finditer(text)]
    if fenced:
        text = _first([part for part in reversed(fenced) if _OUTPUT.search(part)], fenced[-1])
    parts = [part for part in _END.split(text) if part.strip()]
    return _first([part for part in parts if _OUTPUT.search(part)], _first(parts, "")).strip("\n")


def without_comments(program: str) -> str:
    """A program of the language without the comments in which the published generator notes values."""
    return "\n".join(line.partition("#")[0].rstrip() for line in program.split("\n"))


def _first(found: list[str], otherwise: str) -> str:
    return found[0] if found else otherwise
