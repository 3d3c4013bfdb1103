"""The targets of self-play that are kept: few of each coded length, so that they stay different from each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kolmocli.language.coder import coded_bits
from kolmocli.language.program import Program, parse

Target = tuple[int, ...]


class Pool:
    """What was played longest ago comes first. `entries` is plain JSON, and belongs to the state of the run."""

    def __init__(self, entries: list[dict[str, Any]], slots: int) -> None:
        self.entries = entries
        self.slots = slots

    def __len__(self) -> int:
        return len(self.entries)

    def is_new(self, target: Target, program: Program) -> bool:
        """Whether neither the target nor, but for the slots of each, the coded length is there already."""
        bits = coded_bits(program)
        same = sum(entry["bits"] == bits for entry in self.entries)
        return same < self.slots and all(tuple(entry["target"]) != target for entry in self.entries)

    def first(self, count: int) -> list[tuple[Target, Program]]:
        return [(tuple(entry["target"]), parse(entry["program"])) for entry in self.entries[:count]]

    def settle(self, target: Target, program: Program, *, near: bool) -> None:
        """Put a target that was played at the end, or leave it out: when it is not near the target pass rate, or
        its length is not new."""
        self.entries[:] = [entry for entry in self.entries if tuple(entry["target"]) != target]
        if near and self.is_new(target, program):
            self.entries.append({"target": list(target), "program": str(program), "bits": coded_bits(program)})

    @staticmethod
    def distinct(found: Sequence[tuple[Target, Program]], slots: int) -> list[tuple[Target, Program]]:
        """The first of each target, and so many of each coded length as there are slots."""
        chosen = Pool([], slots)
        for target, program in found:
            if chosen.is_new(target, program):
                chosen.settle(target, program, near=True)
        return chosen.first(len(chosen))
