"""Which row has which token: rollouts of several prompts as one matrix, for `scoring.py`.

Shapes: M rows, A of them of prompts, B of continuations, Q of what prompts begin with; H heads, E numbers per head;
of a run: P prompts with T tokens before the last, G rollouts each, C tokens of the longest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Protocol

import torch

from kolmocli.policy.lean.beginnings import Ids
from kolmocli.policy.rollout import Rollout


class Read(Protocol):
    """Beginnings of prompts that were read before them."""

    packs: bool
    """Whether rollouts have no rows of padding."""
    reach: int
    """Tokens before its own that a convolution asks for."""

    @property
    def rows(self) -> Mapping[Ids, slice]:
        """Those of each among the rows of all."""
        ...

    def of(self, prompt: Ids) -> Ids: ...


@dataclass(frozen=True, slots=True)
class Run:
    """Prompts of one length with equally many rollouts and one beginning; neighbours among the rows of prompts, which are
    without it, and of continuations."""

    prompts: int
    prompt_tokens: int
    rollouts: int
    tokens: int
    first_of_prompts: int
    lengths: tuple[int, ...]
    """Rows of each rollout."""
    first: int
    begun: slice
    """Rows of its beginning among those of beginnings."""
    spread_N: torch.Tensor | None = None
    """For rollouts without rows of padding, the row of each place of P * G * C among those of this run; a place after the
    last of a rollout has the row of that one, which no row attends to from there."""
    kept_N: torch.Tensor | None = None
    """And the places that have a row of their own, in order."""

    @property
    def prompt_rows(self) -> slice:
        return slice(self.first_of_prompts, self.first_of_prompts + self.prompts * self.prompt_tokens)

    @property
    def rows(self) -> slice:
        """Among those of continuations."""
        return slice(self.first, self.first + sum(self.lengths))

    @property
    def starts(self) -> list[int]:
        """The first row of each rollout, among those of continuations."""
        return list(accumulate(self.lengths[:-1], initial=self.first))

    def of_prompts(self, rows_AHE: torch.Tensor) -> torch.Tensor:
        """[P, H, T, E]."""
        return rows_AHE[self.prompt_rows].unflatten(0, (self.prompts, -1)).transpose(1, 2)

    def by_prompt(self, rows_BHE: torch.Tensor) -> torch.Tensor:
        """[P, H, G * C, E]."""
        return self._places(rows_BHE).unflatten(0, (self.prompts, -1)).transpose(1, 2)

    def by_rollout(self, rows_BHE: torch.Tensor) -> torch.Tensor:
        """[P * G, H, C, E]."""
        return self._places(rows_BHE).unflatten(0, (-1, self.tokens)).transpose(1, 2)

    def _places(self, rows_BHE: torch.Tensor) -> torch.Tensor:
        rows = rows_BHE[self.rows]
        return rows if self.spread_N is None else rows.index_select(0, self.spread_N)

    def without_padding(self, places: torch.Tensor) -> torch.Tensor:
        """Those of the P * G * C places that have a row."""
        return places if self.kept_N is None else places.index_select(0, self.kept_N)

    def gradient_by_place(self, rows_BHE: torch.Tensor) -> torch.Tensor:
        """[P * G * C, H, E]: nothing where there is padding."""
        rows = rows_BHE[self.rows]
        if self.kept_N is None:
            return rows
        places = rows.new_zeros(self.prompts * self.rollouts * self.tokens, *rows.shape[1:])
        return places.index_copy_(0, self.kept_N, rows)


@dataclass(frozen=True)
class Layout:
    runs: list[Run]
    ids_M: torch.Tensor
    position_M: torch.Tensor
    prompt_rows: int
    chosen_K: torch.Tensor
    """The row, among those of continuations, before each program token."""
    read: int
    """Tokens of prompts and programs, beginnings aside."""
    begun_ends: list[int]
    """Ends of the beginnings among their rows."""
    tails_S: torch.Tensor
    """The rows of beginnings that a convolution reaches from what follows them: of each its last, the latest first, as many of
    every one."""

    @cached_property
    def previous_M(self) -> torch.Tensor:
        """The row of the token before; M, the row after the last, where there is none; after it come `tails_S`. Only
        convolutions ask for it."""
        rows, tails = len(self.ids_M), len(self.tails_S)
        previous_M = torch.arange(-1, rows + tails)
        reach = tails // max(len(self.begun_ends), 1)
        tail_of = {end: rows + 1 + i * reach for i, end in enumerate(self.begun_ends)}
        for end in self.begun_ends:
            first = tail_of[end]
            previous_M[first : first + reach] = torch.tensor([*range(first + 1, first + reach), rows])
        for run in self.runs:
            before = tail_of.get(run.begun.stop, rows)
            starts = torch.tensor(run.starts, dtype=torch.long) + self.prompt_rows
            if run.prompt_tokens:
                of_prompts = torch.arange(run.prompt_rows.start, run.prompt_rows.stop, run.prompt_tokens)
                previous_M[of_prompts] = before
                previous_M[starts] = (of_prompts + run.prompt_tokens - 1).repeat_interleave(run.rollouts)
            else:
                previous_M[starts] = before
        previous_M[rows] = rows
        return previous_M

    def apart(self, rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Those of prompts, none where there are only others, and those of continuations."""
        border = len(rows) - (len(self.ids_M) - self.prompt_rows)
        return rows[:border], rows[border:]


def lay_out(rollouts: Sequence[Rollout], pad: int, multiple: int, begun: Read) -> Layout:
    """The rows of prompts and of continuations are filled up to a multiple with rows that belong to nothing.

    Unless rows are packed, rollouts are padded to the longest of their run: presets have always been learned so, and the last
    digits of their products depend on the number of rows.
    """
    groups: dict[tuple[int, ...], list[int]] = {}
    for i, rollout in enumerate(rollouts):
        groups.setdefault(rollout.prompt, []).append(i)
    alike: dict[tuple[Ids, int, int], list[tuple[int, ...]]] = {}
    for prompt, members in groups.items():
        alike.setdefault((begun.of(prompt), len(prompt) - 1, len(members)), []).append(prompt)
    runs: list[Run] = []
    prompt_ids: list[int] = []
    prompt_positions: list[int] = []
    ids: list[int] = []
    positions: list[int] = []
    first = [0] * len(rollouts)
    for (beginning, before, size), prompts in alike.items():
        start, first_of_prompts, first_row = len(beginning), len(prompt_ids), len(ids)
        members = [i for prompt in prompts for i in groups[prompt]]
        longest = max(len(rollouts[i].tokens) for i in members)
        lengths = tuple(len(rollouts[i].tokens) if begun.packs else longest for i in members)
        for prompt in prompts:
            prompt_ids += prompt[start:-1]
            prompt_positions += range(start, before)
        for i, length in zip(members, lengths, strict=True):
            first[i] = len(ids)
            prompt, tokens = rollouts[i].prompt, rollouts[i].tokens
            ids += [prompt[-1], *tokens[:-1], *[pad] * (length - len(tokens))]
            positions += range(before, before + length)
        begun_rows = begun.rows[beginning] if beginning else slice(0, 0)
        of_prompts = len(prompts), before - start, size, longest, first_of_prompts
        runs.append(Run(*of_prompts, lengths, first_row, begun_rows, *_spread(lengths, longest)))
    chosen = [row for i, r in enumerate(rollouts) for row in range(first[i], first[i] + len(r.tokens))]
    read = len(prompt_ids) + len(chosen)
    for tokens_of, positions_of in ((prompt_ids, prompt_positions), (ids, positions)):
        missing = -len(tokens_of) % multiple
        tokens_of += [pad] * missing
        positions_of += [0] * missing
    position_M = torch.tensor(prompt_positions + positions)
    ends = [rows.stop for rows in begun.rows.values()]
    tails = [end - 1 - i for end in ends for i in range(begun.reach)]
    return Layout(
        runs, torch.tensor(prompt_ids + ids), position_M, len(prompt_ids), torch.tensor(chosen), read, ends,
        torch.tensor(tails, dtype=torch.long),
    )  # fmt: skip


def _spread(lengths: Sequence[int], longest: int) -> tuple[torch.Tensor | None, torch.Tensor | None]:
    """For `Run`; nothing where there is no padding to leave out."""
    if min(lengths) == longest:
        return None, None
    length_N1, place_C = torch.tensor(lengths)[:, None], torch.arange(longest)
    start_N1 = length_N1.cumsum(0) - length_N1
    row_NC = start_N1 + torch.minimum(place_C, length_N1 - 1)
    return row_NC.flatten(), (place_C < length_N1).flatten().nonzero()[:, 0]
