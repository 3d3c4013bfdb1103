"""Attention and short convolutions in the middle of writing: what they keep of prompts and rows, and a step of them.

Shapes: P prompts, G samples of each, N = P*G rows, B tokens of a beginning, T of the rest of a prompt, S tokens written,
H key heads, R query heads per key head, E numbers per head, D hidden units, K taps of a kernel.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch.nn import functional as F

from kolmocli.policy import limits
from kolmocli.policy.lean.parts import Attention, Convolution
from kolmocli.policy.lean.pointwise import norm, turn
from kolmocli.policy.lean.products import join
from kolmocli.processor import Precision


class Angles(NamedTuple):
    cos: torch.Tensor
    sin: torch.Tensor


class Prompts(NamedTuple):
    """The prompts as layers need them. Both masks are None where there is no padding, and nothing before them."""

    samples: int
    mask_PT: torch.Tensor | None
    allowed_PTT: torch.Tensor | None
    """[P, 1, T, B + T], with B of the longest beginning."""
    still: bool
    """Whether what is kept of the rows stays where it is, with nothing in it that is no number."""


class Place(NamedTuple):
    """Where a step writes the keys of its tokens, in tensors that stay where they are."""

    row_1: torch.Tensor
    ahead_S: torch.Tensor
    """What is added to scores: nothing for tokens that are written, minus infinity for those to come."""

    @classmethod
    def first(cls, like: torch.Tensor) -> Place:
        """Before the first token."""
        return cls(
            torch.full((1,), -1, device=like.device), like.new_full((limits.ROOM,), float("-inf"), dtype=torch.float32)
        )

    def go_on(self) -> None:
        self.row_1.add_(1)
        self.ahead_S.index_fill_(0, self.row_1, 0.0)

    def with_room(self, tokens: int) -> Place:
        more = self.ahead_S.new_full((tokens - len(self.ahead_S),), float("-inf"))
        return Place(self.row_1, torch.cat([self.ahead_S, more]))


class WrittenConvolution:
    """Window of a kernel over each row: the products B * x of its last K - 1 tokens, the latest first."""

    def __init__(self, convolution: Convolution, precision: Precision) -> None:
        self._inputs, self._output = join([convolution.inputs], precision), join([convolution.output], precision)
        self._taps = convolution.taps
        self.begun: list[tuple[slice, torch.Tensor]] = []
        """The prompts, side by side, that have a beginning, and what `kept` gave of it."""

    def kept(self) -> torch.Tensor:
        """The last K - 1 products of a prompt that was read without samples, [K - 1, D]."""
        return self._tail_PKD[0]

    def read(self, inputs_PTD: torch.Tensor, turn_by: Angles, prompts: Prompts, is_last: bool) -> torch.Tensor:
        b, c, x = self._inputs(inputs_PTD).chunk(3, -1)
        product = b * x
        if prompts.mask_PT is not None:
            product = product * prompts.mask_PT[..., None].to(product.dtype)
        tokens, reach = product.shape[1], len(self._taps) - 1
        past = F.pad(product, (0, 0, reach, 0))
        for of_prompts, tail_KD in self.begun:
            # Right before the first token, so after padding.
            padding = 0 if prompts.mask_PT is None else (prompts.mask_PT[of_prompts] == 0).sum(-1)[:, None]
            where = torch.arange(reach, device=past.device) + padding
            numbers = torch.arange(of_prompts.start, of_prompts.stop, device=past.device)[:, None]
            past[numbers, where] = tail_KD
        self._tail_PKD = past[:, past.shape[1] - reach :]
        self._past = [past[:, -1 - i].repeat_interleave(prompts.samples, 0) for i in range(reach)]
        first = tokens - 1 if is_last else 0
        mixed = sum(tap * past[:, reach - i + first : reach - i + tokens] for i, tap in enumerate(self._taps))
        return self._output(c[:, first:] * mixed)

    def __call__(
        self, inputs_ND: torch.Tensor, turn_by: Angles, bias_PT: torch.Tensor | None, place: Place | int
    ) -> torch.Tensor:
        b, c, x = self._inputs(inputs_ND).chunk(3, -1)
        present = b * x
        mixed = self._taps[0] * present
        for tap, past in zip(self._taps[1:], self._past, strict=True):
            mixed.addcmul_(tap, past)
        if isinstance(place, int):
            self._past = [present, *self._past[:-1]]
        else:
            for later, past in zip(reversed(self._past), [*reversed(self._past[:-1]), present], strict=True):
                later.copy_(past)
        return self._output(mixed.mul_(c))

    def make_room(self, tokens: int) -> None:
        """It keeps no more tokens than its kernel reaches."""

    def keep(self, rows_PG: torch.Tensor, prompts_P: torch.Tensor) -> None:
        self._past = [past[rows_PG.flatten()] for past in self._past]


class WrittenAttention:
    """The keys and values of the prompts, [P, H, E, T] and [P, H, T, E], and of the rows [P, H, G, room, E]."""

    def __init__(self, attention: Attention, precision: Precision) -> None:
        self._head_size, self._scale = attention.head_size, attention.scale
        self._query_heads = attention.query.out_features // self._head_size
        self._key_heads = attention.key.out_features // self._head_size
        self._norms = attention.query_norm, attention.key_norm
        self._qkv = join([attention.query, attention.key, attention.value], precision)
        self._output = join([attention.output], precision)
        self.begun: list[tuple[slice, tuple[torch.Tensor, torch.Tensor]]] = []
        """The prompts, side by side, that have a beginning, and what `kept` gave of it."""

    def kept(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Keys, [H, E, B], and values, [H, B, E], of what was read as a prompt without samples."""
        return self._prompt[0][0], self._prompt[1][0]

    def scale_of_heads(self, like: torch.Tensor) -> torch.Tensor:
        """Factors for queries, and then keys: [heads of both, 1]."""
        return like.new_tensor([[self._scale]] * self._query_heads + [[1.0]] * self._key_heads)

    def read(self, inputs_PTD: torch.Tensor, turn_by: Angles, prompts: Prompts, is_last: bool) -> torch.Tensor:
        turned, value = self._project(inputs_PTD, turn_by)
        query, key, value = (x.transpose(1, 2) for x in (*turned.split([self._query_heads, self._key_heads], 2), value))
        self._prompt = key.mT.contiguous(), value.contiguous()
        shape = (*key.shape[:2], prompts.samples, limits.ROOM, self._head_size)
        self._own = key.new_empty(shape), value.new_empty(shape)
        if prompts.still:
            self._own = key.new_zeros(shape), value.new_zeros(shape)
        if self.begun:
            key, value = self._with_beginnings(key, value)
        allowed_PTT = prompts.allowed_PTT
        causal = allowed_PTT is None
        if is_last:
            query, causal = query[:, :, -1:], False
            allowed_PTT = None if allowed_PTT is None else allowed_PTT[:, :, -1:]
        mixed = F.scaled_dot_product_attention(
            query, key, value, attn_mask=allowed_PTT, is_causal=causal, scale=self._scale, enable_gqa=True
        )
        return self._output(mixed.transpose(1, 2).flatten(2))

    def _with_beginnings(self, key: torch.Tensor, value: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """[P, H, B + T, E], with zeros after a shorter beginning: nothing may attend to them."""
        before = [key.new_zeros(*key.shape[:2], self._before, self._head_size) for _ in range(2)]
        for prompts, (keys, values) in self.begun:
            before[0][prompts, :, : keys.shape[-1]] = keys.mT
            before[1][prompts, :, : keys.shape[-1]] = values
        return torch.cat([before[0], key], 2), torch.cat([before[1], value], 2)

    @property
    def _before(self) -> int:
        return max((keys.shape[-1] for _, (keys, _) in self.begun), default=0)

    def __call__(
        self, inputs_ND: torch.Tensor, turn_by: Angles, bias_PT: torch.Tensor | None, place: Place | int
    ) -> torch.Tensor:
        turned, value = self._project(inputs_ND, turn_by)
        return self._output(self._attend(turned, value, bias_PT, place))

    def _project(self, inputs: torch.Tensor, turn_by: Angles) -> tuple[torch.Tensor, torch.Tensor]:
        """Queries and keys of all heads, turned, and values: [..., heads, E]."""
        qkv = self._qkv(inputs).unflatten(-1, (-1, self._head_size))
        turned, value = qkv.split([self._query_heads + self._key_heads, self._key_heads], -2)
        if self._norms[0] is not None:
            parts = turned.split([self._query_heads, self._key_heads], -2)
            turned = torch.cat([norm(x, own) for x, own in zip(parts, self._norms, strict=True)], -2)
        return turn(turned, *turn_by), value

    def _attend(
        self, turned: torch.Tensor, value: torch.Tensor, bias_PT: torch.Tensor | None, place: Place | int
    ) -> torch.Tensor:
        """Mixed values of the rows [N, heads * E]; the query's part of `turned` is scaled."""
        rows, heads = len(turned), self._key_heads
        prompt_keys, prompt_values = self._prompt
        prompts = len(prompt_keys)
        table = (prompts, rows // prompts, heads, -1, self._head_size)
        query = turned[:, : self._query_heads].view(table).transpose(1, 2)  # P H G R E
        for own, new in zip(self._own, (turned[:, self._query_heads :], value), strict=True):
            of_token = new.view(prompts, -1, heads, self._head_size).transpose(1, 2)
            if isinstance(place, int):
                own[:, :, :, place] = of_token
            else:
                own.index_copy_(3, place.row_1, of_token.unsqueeze(3))
        keys, values = self._own if isinstance(place, Place) else (own[:, :, :, : place + 1] for own in self._own)
        shared = query.flatten(2, 3) @ prompt_keys  # P H (GR) T
        if bias_PT is not None:
            shared = shared + bias_PT[:, None, None]
        alone = (query @ keys.mT).flatten(2, 3)  # P H (GR) S
        if isinstance(place, Place):
            alone = alone + place.ahead_S.to(alone.dtype)
        before = [self._meet_beginnings(query)] if self.begun else []
        share = torch.softmax(torch.cat([*before, shared, alone], -1), -1, dtype=torch.float32).to(query.dtype)
        of_begun, of_prompt, of_own = share.split([self._before, shared.shape[-1], alone.shape[-1]], -1)
        mixed = (of_prompt @ prompt_values).view(query.shape)
        mixed = mixed + of_own.unflatten(2, query.shape[2:4]) @ values
        for numbers, (_, values) in self.begun:
            of_all = of_begun[numbers, ..., : values.shape[1]].transpose(0, 1).flatten(1, 2)  # H (P GR) B
            mixed[numbers] += (of_all @ values).unflatten(1, (-1, *query.shape[2:4])).transpose(0, 1)
        return mixed.transpose(1, 2).reshape(rows, -1)

    def _meet_beginnings(self, query: torch.Tensor) -> torch.Tensor:
        """Scores of all rows' queries, P H G R E, with the keys of their prompts' beginnings: P H (GR) B."""
        scores = query.new_full((*query.shape[:2], query.shape[2] * query.shape[3], self._before), float("-inf"))
        for numbers, (keys, _) in self.begun:
            of_all = query[numbers].transpose(0, 1).flatten(1, 3) @ keys  # H (P GR) B
            scores[numbers, ..., : keys.shape[-1]] = of_all.unflatten(1, (-1, scores.shape[2])).transpose(0, 1)
        return scores

    def make_room(self, tokens: int) -> None:
        self._own = _roomier(self._own[0], tokens), _roomier(self._own[1], tokens)

    def keep(self, rows_PG: torch.Tensor, prompts_P: torch.Tensor) -> None:
        self._prompt = (self._prompt[0][prompts_P], self._prompt[1][prompts_P])
        self._own = _select(self._own[0], rows_PG), _select(self._own[1], rows_PG)


def _roomier(own: torch.Tensor, tokens: int) -> torch.Tensor:
    larger = own.new_zeros(*own.shape[:3], tokens, own.shape[4])
    larger[:, :, :, : own.shape[3]] = own
    return larger


def _select(own: torch.Tensor, rows_PG: torch.Tensor) -> torch.Tensor:
    """Rows of a [P, H, G, room, E] cache, as a table of the shape of `rows_PG`."""
    by_row = own.transpose(1, 2).flatten(0, 1)
    return by_row[rows_PG.flatten()].unflatten(0, rows_PG.shape).transpose(1, 2).contiguous()
