"""What a program imports, as far as its text says so: process 1 has to know it, and parses nothing.

It takes time linear in the text, whatever stands there: each line is looked at once, however many `import`s it has.
"""

import re
from collections.abc import Callable, Sequence

_REST_OF_LINE = re.compile(rb"\bimport\b[^\n]*+").findall
_UNSEEN = re.compile(rb"\b(?:__import__|exec|eval|singledispatch|singledispatchmethod)\b").search


def search_for(names: Sequence[str]) -> Callable[[bytes], bool]:
    """Whether a program imports one of these modules: by name, or in a way that cannot be seen, which is by a function, also one of
    Python's, or on a line that has a backslash. When in doubt it does."""
    either = "|".join(names).encode()
    named = re.compile(rb"\b(?:%s)\b|\\" % either).search
    taken_from = re.compile(rb"\bfrom[ \t]++(?:%s)\b" % either).search

    def imports(program: bytes) -> bool:
        if b"import" in program and named(b"\n".join(_REST_OF_LINE(program))):
            return True
        return bool(taken_from(program) or _UNSEEN(program))

    return imports
