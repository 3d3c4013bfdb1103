"""Programs found in earlier runs, in a file: used first, with a model or without one, and added to.

The file has one `{"sequence": [...], "program": "..."}` per line, which is also how `kolmo train` reads its data. Nothing
in it is believed: callers execute every program and compare.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from kolmocli.archive.search.proposals import Proposer
from kolmocli.errors import KolmoError
from kolmocli.files import read_regular, write_output
from kolmocli.language.program import Program, ProgramError, parse
from kolmocli.plain import parsed


class ProgramCache:
    """A proposer that knows a file of programs, and asks another one for what is not in it.

    Raises:
        KolmoError: when the file has a line that is not one of its own, named by number.
    """

    def __init__(self, path: Path, other: Proposer | None = None) -> None:
        self._path = path
        self._other = other
        self._known: dict[tuple[int, ...], str] = {}
        self._new = False
        if path.exists():
            for number, line in enumerate(read_regular(path).splitlines(), start=1):
                self._read(line, number)

    def _read(self, line: bytes, number: int) -> None:
        try:
            entry = parsed(line.decode())
            sequence, program = tuple(map(int, entry["sequence"])), str(entry["program"])
            parse(program)
        except (ValueError, KeyError, TypeError, ProgramError) as error:
            raise KolmoError(
                f'{self._path}, line {number}: not {{"sequence": [...], "program": "..."}}: {error}'
            ) from None
        self._known[sequence] = program

    def propose(self, targets: Sequence[tuple[int, ...]], samples: int, seed: int) -> list[list[Program]]:
        """The known program of each target, or what the other proposer says."""
        unknown = [t for t in targets if t not in self._known]
        proposed = self._other.propose(unknown, samples, seed) if self._other is not None and unknown else []
        others = dict(zip(unknown, proposed, strict=False))
        return [[parse(self._known[t])] if t in self._known else others.get(t, []) for t in targets]

    def learn(self, target: tuple[int, ...], program: Program) -> None:
        """Keep a program that was found right."""
        if target not in self._known:
            self._known[target] = str(program)
            self._new = True

    def save(self) -> None:
        """Write the file again, whole or not at all, if anything was learned."""
        if self._new:
            entries = ({"sequence": list(s), "program": p} for s, p in sorted(self._known.items()))
            write_output(str(self._path), "".join(json.dumps(e) + "\n" for e in entries).encode())
