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
from typing import Any

import torch

from kolmocli.pace import Look, unheard
from kolmocli.policy import limits
from kolmocli.policy.head import Head
from kolmocli.policy.lean.beginnings import Ids
from kolmocli.policy.lean.operators import Angles, Place, Prompts, WrittenAttention, WrittenConvolution
from kolmocli.policy.lean.parts import Attention, Layer, last_norm, layers_of
from kolmocli.policy.lean.played import Played
from kolmocli.policy.lean.pointwise import angles, norm
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
        turn_by = Angles(*(x.unsqueeze(2) for x in angles(model, hidden_PTD, positions_PT)))
        is_padded = not bool(mask_PT.all())
        allowed = _allowed(mask_PT, before) if is_padded or before else None
        prompts = Prompts(samples, mask_PT if is_padded else None, allowed, self._still)
        for i, layer in enumerate(self._layers):
            look()
            hidden_PTD = layer.read(hidden_PTD, turn_by, prompts, is_last=i == len(self._layers) - 1)
        self._position_N = positions_PT[:, -1].repeat_interleave(samples, 0)
        self._bias_PT: torch.Tensor | None = None
        if is_padded:
            self._bias_PT = torch.zeros_like(mask_PT, dtype=hidden_PTD.dtype).masked_fill_(mask_PT == 0, float("-inf"))
        self._room = limits.ROOM
        self._place = Place.first(hidden_PTD) if self._still else None
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
        turn_by = Angles(*(x.unsqueeze(2) for x in angles(model, hidden_PTD, positions_PT)))
        kept = []
        for i, layer in enumerate(self._layers):
            self._look()
            hidden_PTD = layer.read(
                hidden_PTD, turn_by, Prompts(0, None, None, False), is_last=i == len(self._layers) - 1
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
        turn_by = Angles(*(x[0][:, None] * self._scale_H1 for x in angles(model, hidden_ND, self._position_N[None])))
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


class _Layer:
    """One layer of a model in the middle of writing."""

    def __init__(self, layer: Layer, precision: Precision) -> None:
        self._layer = layer
        of = layer.operator
        self.operator = (
            WrittenAttention(of, precision) if isinstance(of, Attention) else WrittenConvolution(of, precision)
        )
        self._gate_up = split([layer.gate, layer.up], precision)
        self._down = join([layer.down], precision)

    def scale_of_heads(self, like: torch.Tensor) -> torch.Tensor | None:
        return self.operator.scale_of_heads(like) if isinstance(self.operator, WrittenAttention) else None

    def read(self, hidden_PTD: torch.Tensor, turn_by: Angles, prompts: Prompts, is_last: bool) -> torch.Tensor:
        """Take the prompts in; of the last layer only their last state is made."""
        mixed = self.operator.read(norm(hidden_PTD, self._layer.before), turn_by, prompts, is_last)
        return self._finish(hidden_PTD[:, -1:] if is_last else hidden_PTD, mixed)

    def __call__(
        self, hidden_ND: torch.Tensor, turn_by: Angles, bias_PT: torch.Tensor | None, place: Place | int
    ) -> torch.Tensor:
        return self._finish(hidden_ND, self.operator(norm(hidden_ND, self._layer.before), turn_by, bias_PT, place))

    def _finish(self, hidden: torch.Tensor, mixed: torch.Tensor) -> torch.Tensor:
        hidden = mixed.add_(hidden)
        gate, up = self._gate_up(norm(hidden, self._layer.between))
        return self._down(self._layer.activation(gate).mul_(up)).add_(hidden)


def _allowed(mask_PT: torch.Tensor, before: Sequence[int] | None) -> torch.Tensor:
    """Tokens that each token of a prompt attends to, [P, 1, T, B + T]: all of its beginning, `before` tokens long, and what is before
    it; padding to itself, as to nothing would be no number."""
    itself = torch.eye(mask_PT.shape[1], dtype=torch.bool, device=mask_PT.device)
    allowed = (mask_PT.bool()[:, None] | itself).tril()
    if before is not None:
        begun_PB = torch.arange(max(before), device=mask_PT.device) < mask_PT.new_tensor(before)[:, None]
        allowed = torch.cat([begun_PB[:, None].expand(-1, mask_PT.shape[1], -1), allowed], -1)
    return allowed[:, None]
