"""Words that may stand around an answer: `the answer is 5`, `Therefore x >= 5 is the solution`, `Area: 12`.

Only words that say "this is the answer" are taken off. Anything else in front of an answer or behind it is a part of it.
"""

from __future__ import annotations

import re

from kolmocli.tasks.answers.names import denies
from kolmocli.tasks.answers.words import listed

_SAID = listed(
    r"so thus hence therefore then finally and we get have find found obtain conclude that the our my final correct answer answers "
    r"solution solutions result results value values is are it its it's equals equal to must be here exactly about approximately "
    r"approx roughly around answer's total in conclusion"
)
_LEAD = re.compile(rf"(?:(?:{'|'.join(sorted(_SAID, key=len, reverse=True))})\b[\s,:]*)+", re.IGNORECASE)
_SUBJECT = re.compile(
    r"(?:(?:so|thus|hence|therefore|then|final answer|answer)[,:]?\s+)*(?:the|this|our)\s(?P<what>[^0-9=<>.;:]{1,80}?)\s(?:is|are|equals)(?: about| approximately)?\s+",
    re.IGNORECASE,
)
_LETTER = re.compile(
    r"(?:(?:so|thus|hence|therefore|then)[,:]?\s+)*[A-Za-z]\s(?:is|equals)\s+(?=[-0-9.])", re.IGNORECASE
)
_COLON = re.compile(r"(?P<what>[A-Za-z]{1,20}+(?:[ -][A-Za-z]{1,20}+){0,5}):\s+")
_TAIL = re.compile(
    r"[\s,.]*\b(?:is|are|as)\s+(?:the|our|my)\s+(?:(?:final|correct|right|only|desired|required)\s+)*(?:answer|solution|result|value)s?\.?\Z",
    re.IGNORECASE,
)
_HOPE = re.compile(r"[\s.]*I hope (?:it|this) is correct\.?\s*\Z", re.IGNORECASE)


def unframed(text: str) -> str:
    """The answer without the words around it; the text itself where there are none, or nothing would be left."""
    inner = _HOPE.sub("", text)
    inner = _TAIL.sub("", inner)
    for pattern in (_SUBJECT, _LETTER, _LEAD, _SUBJECT, _COLON, _LEAD):
        found = pattern.match(inner)
        if found and found.end() < len(inner) and not denies(found[0]) and not re.search(r"\bor\b", found[0]):
            inner = inner[found.end() :]
    inner = inner.strip()
    return inner or text
