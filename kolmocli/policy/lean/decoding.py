"""A decoding step for models of Llama's shape that computes what transformers' forward computes, with less around it.

At these sizes a step of transformers' forward is mostly Python, mask building and a copy of each prompt's keys for every
one of its samples. Here queries of all samples of a prompt meet its keys in one product, a row's own keys in another,
under one softmax; the weights are the model's own (those of small layers copied side by side, the way round that few
rows are multiplied fastest). A beginning that several prompts share is read once (`beginnings.py`), and the queries of all their
samples meet its keys in one product more. A row of a short convolution keeps the tokens that its kernel still reaches. A test holds
the two to each other for every family of `parts.py`.

With `still` no shape changes from one token to the next and nothing moves: a row's own keys have all of their room from the start,
and those that are still to be written are masked. A GPU can then play a step back (`played.py`).

Shapes: P prompts, G samples of each, N = P*G rows, B tokens of a beginning, T of the rest of a prompt, S tokens written,
L layers, H key heads, R query heads per key head, E numbers per head, D hidden units, K taps of a kernel.
"""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import torch
from torch.nn import functional as F

from kolmocli.pace import Look, unheard
from kolmocli.policy import limits
from kolmocli.policy.head import Head
from kolmocli.policy.lean.beginnings import Ids
from kolmocli.policy.lean.parts import Attention, Convolution, Layer, last_norm, layers_of
from kolmocli.policy.lean.played import Played
from kolmocli.policy.lean.products import join, split
from kolmocli.processor import Precision


class LeanDecoder:
    """A `Decoder` of a model whose head `find_lean` has found."""

    def __init__(
        self,
        head: Head,
        ids_PT: torch.Tensor,
        mask_PT: torch.Tensor,
        samples: int,
        precision: Precision = "fp32",
        beginnings: Sequence[Ids] = (),
        read: MutableMapping[tuple[Ids, str], list[Any]] | None = None,
        look: Look = unheard,
        still: bool | None = None,
    ) -> None:
        """`beginnings` are what stands before the `ids_PT` of each prompt, equal ones side by side; none where there are none.
        `read` has what layers keep of beginnings that were read with these weights before, and gets that of others. `look` is
        called between layers. `still` is so on a GPU, where nothing else is asked for."""
        model, self._head, self._look = head.decoder, head, look
        on_gpu = ids_PT.device.type == "cuda"
        self._still = on_gpu if still is None else still
        in_8bit = any(not parameter.is_floating_point() for parameter in model.parameters())  # waits for the GPU
        self._played = Played(self._write) if on_gpu and self._still and not in_8bit else None
        self._norm = last_norm(model)
        self._layers = [_Layer(layer, precision) for layer in layers_of(model)]
        self._written = 0
        self._beginnings = list(beginnings) or [()] * len(ids_PT)
        self._read = {} if read is None else read
        self._precision = precision
        positions_PT = (mask_PT.cumsum(-1) - 1).clamp(min=0)
        for ids in filter(None, dict.fromkeys(self._beginnings)):
            self._read_beginning(ids, mask_PT)
        self._part_prompts()
        if before := [len(ids) for ids in self._beginnings] if any(self._beginnings) else None:
            positions_PT = positions_PT + mask_PT.new_tensor(before)[:, None]
        hidden_PTD = model.embed_tokens(ids_PT)
        turn_by = _Angles(*(x.unsqueeze(2) for x in angles(model, hidden_PTD, positions_PT)))
        is_padded = not bool(mask_PT.all())
        allowed = _allowed(mask_PT, before) if is_padded or before else None
        prompts = _Prompts(samples, mask_PT if is_padded else None, allowed, self._still)
        for i, layer in enumerate(self._layers):
            look()
            hidden_PTD = layer.read(hidden_PTD, turn_by, prompts, is_last=i == len(self._layers) - 1)
        self._position_N = positions_PT[:, -1].repeat_interleave(samples, 0)
        self._bias_PT: torch.Tensor | None = None
        if is_padded:
            self._bias_PT = torch.zeros_like(mask_PT, dtype=hidden_PTD.dtype).masked_fill_(mask_PT == 0, float("-inf"))
        self._room = limits.ROOM
        self._place = _Place.first(hidden_PTD) if self._still else None
        self._scale_H1 = next(
            (scale for layer in self._layers if (scale := layer.scale_of_heads(hidden_PTD)) is not None), 1
        )
        state_PD = norm(hidden_PTD[:, -1], self._norm)
        self.states_ND = state_PD.repeat_interleave(samples, 0)
        self.logits_NV = head.logits(state_PD).repeat_interleave(samples, 0)

    def _read_beginning(self, ids: Ids, like: torch.Tensor) -> None:
        """Each by itself, so that what it gives depends on nothing else."""
        if (ids, self._precision) in self._read:
            return
        model, ids_PT = self._head.decoder, like.new_tensor([ids])
        hidden_PTD = model.embed_tokens(ids_PT)
        positions_PT = torch.arange(len(ids), device=like.device)[None]
        turn_by = _Angles(*(x.unsqueeze(2) for x in angles(model, hidden_PTD, positions_PT)))
        kept = []
        for i, layer in enumerate(self._layers):
            self._look()
            hidden_PTD = layer.read(
                hidden_PTD, turn_by, _Prompts(0, None, None, False), is_last=i == len(self._layers) - 1
            )
            kept.append(layer.operator.kept())
        self._read[ids, self._precision] = kept

    def _part_prompts(self) -> None:
        """Tell every layer which prompts have which beginning."""
        parts, first = [], 0
        for ids, alike in groupby(self._beginnings):
            count = len(list(alike))
            if ids:
                parts.append((slice(first, first + count), self._read[ids, self._precision]))
            first += count
        for i, layer in enumerate(self._layers):
            layer.operator.begun = [(prompts, kept[i]) for prompts, kept in parts]

    def step(self, token_N: torch.Tensor) -> None:
        if self._written == self._room:
            self._make_room()
        if self._played is None:
            self._write(token_N)
        else:
            self._played(token_N)
        self._written += 1

    def _write(self, token_N: torch.Tensor) -> None:
        model = self._head.decoder
        self._position_N += 1
        if self._place is not None:
            self._place.go_on()
        hidden_ND = model.embed_tokens(token_N)
        # Scores are scaled with the angles that queries are turned by, once for all layers.
        turn_by = _Angles(*(x[0][:, None] * self._scale_H1 for x in angles(model, hidden_ND, self._position_N[None])))
        for layer in self._layers:
            self._look()
            hidden_ND = layer(hidden_ND, turn_by, self._bias_PT, self._place or self._written)
        self.states_ND = norm(hidden_ND, self._norm)
        self.logits_NV = self._head.logits(self.states_ND)

    def _make_room(self) -> None:
        """For the keys and values of `limits.ROOM` tokens more."""
        self._room += limits.ROOM
        for layer in self._layers:
            layer.operator.make_room(self._room)
        if self._place is not None:
            self._place = self._place.with_room(self._room)
        self._moved()

    def _moved(self) -> None:
        if self._played is not None:
            self._played.forget()

    def keep(self, rows_PG: torch.Tensor, prompts_P: torch.Tensor) -> None:
        for layer in self._layers:
            layer.operator.keep(rows_PG, prompts_P)
        if any(self._beginnings):
            self._beginnings = [self._beginnings[i] for i in prompts_P.tolist()]
            self._part_prompts()
        self._position_N = self._position_N[rows_PG.flatten()]
        if self._bias_PT is not None:
            self._bias_PT = self._bias_PT[prompts_P]
        self._moved()


class _Angles(NamedTuple):
    cos: torch.Tensor
    sin: torch.Tensor


class _Prompts(NamedTuple):
    """The prompts as layers need them. Both masks are None where there is no padding, and nothing before them."""

    samples: int
    mask_PT: torch.Tensor | None
    allowed_PTT: torch.Tensor | None
    """[P, 1, T, B + T], with B of the longest beginning."""
    still: bool
    """Whether what is kept of the rows stays where it is, with nothing in it that is no number."""


class _Place(NamedTuple):
    """Where a step writes the keys of its tokens, in tensors that stay where they are."""

    row_1: torch.Tensor
    ahead_S: torch.Tensor
    """What is added to scores: nothing for tokens that are written, minus infinity for those to come."""

    @classmethod
    def first(cls, like: torch.Tensor) -> _Place:
        """Before the first token."""
        return cls(
            torch.full((1,), -1, device=like.device), like.new_full((limits.ROOM,), float("-inf"), dtype=torch.float32)
        )

    def go_on(self) -> None:
        self.row_1.add_(1)
        self.ahead_S.index_fill_(0, self.row_1, 0.0)

    def with_room(self, tokens: int) -> _Place:
        more = self.ahead_S.new_full((tokens - len(self.ahead_S),), float("-inf"))
        return _Place(self.row_1, torch.cat([self.ahead_S, more]))


class _Layer:
    """One layer of a model in the middle of writing."""

    def __init__(self, layer: Layer, precision: Precision) -> None:
        self._layer = layer
        of = layer.operator
        self.operator = _Attention(of, precision) if isinstance(of, Attention) else _Convolution(of, precision)
        self._gate_up = split([layer.gate, layer.up], precision)
        self._down = join([layer.down], precision)

    def scale_of_heads(self, like: torch.Tensor) -> torch.Tensor | None:
        return self.operator.scale_of_heads(like) if isinstance(self.operator, _Attention) else None

    def read(self, hidden_PTD: torch.Tensor, turn_by: _Angles, prompts: _Prompts, is_last: bool) -> torch.Tensor:
        """Take the prompts in; of the last layer only their last state is made."""
        mixed = self.operator.read(norm(hidden_PTD, self._layer.before), turn_by, prompts, is_last)
        return self._finish(hidden_PTD[:, -1:] if is_last else hidden_PTD, mixed)

    def __call__(
        self, hidden_ND: torch.Tensor, turn_by: _Angles, bias_PT: torch.Tensor | None, place: _Place | int
    ) -> torch.Tensor:
        return self._finish(hidden_ND, self.operator(norm(hidden_ND, self._layer.before), turn_by, bias_PT, place))

    def _finish(self, hidden: torch.Tensor, mixed: torch.Tensor) -> torch.Tensor:
        hidden = mixed.add_(hidden)
        gate, up = self._gate_up(norm(hidden, self._layer.between))
        return self._down(self._layer.activation(gate).mul_(up)).add_(hidden)


class _Convolution:
    """Window of a kernel over each row: the products B * x of its last K - 1 tokens, the latest first."""

    def __init__(self, convolution: Convolution, precision: Precision) -> None:
        self._inputs, self._output = join([convolution.inputs], precision), join([convolution.output], precision)
        self._taps = convolution.taps
        self.begun: list[tuple[slice, torch.Tensor]] = []
        """The prompts, side by side, that have a beginning, and what `kept` gave of it."""

    def kept(self) -> torch.Tensor:
        """The last K - 1 products of a prompt that was read without samples, [K - 1, D]."""
        return self._tail_PKD[0]

    def read(self, inputs_PTD: torch.Tensor, turn_by: _Angles, prompts: _Prompts, is_last: bool) -> torch.Tensor:
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
        self, inputs_ND: torch.Tensor, turn_by: _Angles, bias_PT: torch.Tensor | None, place: _Place | int
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


class _Attention:
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

    def read(self, inputs_PTD: torch.Tensor, turn_by: _Angles, prompts: _Prompts, is_last: bool) -> torch.Tensor:
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
        self, inputs_ND: torch.Tensor, turn_by: _Angles, bias_PT: torch.Tensor | None, place: _Place | int
    ) -> torch.Tensor:
        turned, value = self._project(inputs_ND, turn_by)
        return self._output(self._attend(turned, value, bias_PT, place))

    def _project(self, inputs: torch.Tensor, turn_by: _Angles) -> tuple[torch.Tensor, torch.Tensor]:
        """Queries and keys of all heads, turned, and values: [..., heads, E]."""
        qkv = self._qkv(inputs).unflatten(-1, (-1, self._head_size))
        turned, value = qkv.split([self._query_heads + self._key_heads, self._key_heads], -2)
        if self._norms[0] is not None:
            parts = turned.split([self._query_heads, self._key_heads], -2)
            turned = torch.cat([norm(x, own) for x, own in zip(parts, self._norms, strict=True)], -2)
        return turn(turned, *turn_by), value

    def _attend(
        self, turned: torch.Tensor, value: torch.Tensor, bias_PT: torch.Tensor | None, place: _Place | int
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
        keys, values = self._own if isinstance(place, _Place) else (own[:, :, :, : place + 1] for own in self._own)
        shared = query.flatten(2, 3) @ prompt_keys  # P H (GR) T
        if bias_PT is not None:
            shared = shared + bias_PT[:, None, None]
        alone = (query @ keys.mT).flatten(2, 3)  # P H (GR) S
        if isinstance(place, _Place):
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


def angles(model: Any, like: torch.Tensor, position_NT: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Cosines and sines for `turn`, [N, T, E], of the device and type of `like`."""
    cos, sin = model.rotary_emb(like, position_NT)
    half = sin.shape[-1] // 2
    return cos, torch.cat([-sin[..., :half], sin[..., half:]], -1)  # the sign of the swapped half, once for all layers


def turn(inputs: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, sign: float = 1.0) -> torch.Tensor:
    """The rotary embedding, x cos + swapped(x) sin: `swapped` exchanges the halves of a head. -1 turns back."""
    half = inputs.shape[-1] // 2
    swapped = torch.cat([inputs[..., half:], inputs[..., :half]], -1)
    return (inputs * cos).addcmul_(swapped, sin, value=sign)


def over_rms(inputs: torch.Tensor, epsilon: float) -> torch.Tensor:
    """One over the root of the mean square of the last dimension, [..., 1]: `rms_norm` takes twice as many passes."""
    length = torch.linalg.vector_norm(inputs, dim=-1, keepdim=True, dtype=torch.float32)
    return length.square_().div_(inputs.shape[-1]).add_(epsilon).rsqrt_()


def norm(inputs: torch.Tensor, layer: Any) -> torch.Tensor:
    """A layer of the kind of `LlamaRMSNorm`. A GPU has one kernel for it, which on a CPU takes twice as many passes."""
    if inputs.is_cuda:
        return F.rms_norm(inputs, inputs.shape[-1:], layer.weight, layer.variance_epsilon)
    return (inputs * over_rms(inputs, layer.variance_epsilon)).to(inputs.dtype).mul_(layer.weight)


def _allowed(mask_PT: torch.Tensor, before: Sequence[int] | None) -> torch.Tensor:
    """Tokens that each token of a prompt attends to, [P, 1, T, B + T]: all of its beginning, `before` tokens long, and what is before
    it; padding to itself, as to nothing would be no number."""
    itself = torch.eye(mask_PT.shape[1], dtype=torch.bool, device=mask_PT.device)
    allowed = (mask_PT.bool()[:, None] | itself).tril()
    if before is not None:
        begun_PB = torch.arange(max(before), device=mask_PT.device) < mask_PT.new_tensor(before)[:, None]
        allowed = torch.cat([begun_PB[:, None].expand(-1, mask_PT.shape[1], -1), allowed], -1)
    return allowed[:, None]


def _roomier(own: torch.Tensor, tokens: int) -> torch.Tensor:
    larger = own.new_zeros(*own.shape[:3], tokens, own.shape[4])
    larger[:, :, :, : own.shape[3]] = own
    return larger


def _select(own: torch.Tensor, rows_PG: torch.Tensor) -> torch.Tensor:
    """Rows of a [P, H, G, room, E] cache, as a table of the shape of `rows_PG`."""
    by_row = own.transpose(1, 2).flatten(0, 1)
    return by_row[rows_PG.flatten()].unflatten(0, rows_PG.shape).transpose(1, 2).contiguous()
