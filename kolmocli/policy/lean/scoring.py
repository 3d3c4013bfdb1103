"""Hidden states of rollouts for the loss, from models of Llama's shape on a CPU, with less around them than transformers has.

Every token that is read is a row of one matrix, prompts first (`layout.py`): each weight is multiplied once for prompts and
continuations together, no row is a mask's, and the keys of a prompt are never copied for its rollouts (`gradients.py`). A
continuation begins with the last token of its prompt, so that of the others the last layer makes only keys and values.
What prompts begin with (`beginnings.py`) is read once before them, for as many calls as share it. Its keys are a third part that
attention merges, and their gradient, summed up over the calls, is led on through it at the end. A short convolution takes the
rows of the tokens before, wherever they are. Under autocast only products of matrices are in bf16; what is made of them is in
fp32 again.

Shapes: M rows, B of them of continuations, Q of what prompts begin with; H heads, E numbers per head, D hidden units.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Any

import torch

from kolmocli.policy import limits
from kolmocli.policy.lean.beginnings import Ids, beginnings_of, may_begin_alike
from kolmocli.policy.lean.gradients import MergedAttention, normed, turned
from kolmocli.policy.lean.layout import Layout, Run, lay_out
from kolmocli.policy.lean.parts import Attention, Convolution, Layer, find_lean, last_norm, layers_of
from kolmocli.policy.lean.pointwise import angles
from kolmocli.policy.order import rows_of
from kolmocli.policy.recompute import recomputes
from kolmocli.policy.rollout import Rollout
from kolmocli.policy.sizes import LEAN


def can_score(model: Any) -> bool:
    """Whether `lean_states` is for this model, where it is and as it is stored. It does not call transformers' layers,
    so it is not for those that are to be computed again."""
    head = find_lean(model)
    if head is None or recomputes(model):
        return False
    return model.device.type == "cpu" and head.decoder.embed_tokens.weight.dtype == torch.float32


class Begun:
    """The beginnings of prompts of several calls, read once for all of them. `read` counts its tokens.

    Where gradients are asked for, those of the calls gather until `backward` leads them on to the weights. `packs` says
    whether rollouts have no rows of padding, and `room` how many tokens a call then has room for.
    """

    def __init__(self, decoder: Any, prompts: Iterable[Ids], alone: bool) -> None:
        """`alone`: for one call, whose own backward pass goes through it."""
        self.beginnings: dict[Ids, Ids] = {}
        layers = layers_of(decoder)
        self.packs = may_begin_alike(len(decoder.embed_tokens.weight), decoder.device.type)
        room = limits.tokens_kept(_kept_per_token(layers, decoder.config.hidden_size))
        if self.packs:
            self.beginnings = beginnings_of(set(prompts), room // 2)
        ids = list(filter(None, dict.fromkeys(self.beginnings.values())))
        ends = [0, *accumulate(map(len, ids))]
        self.rows = {x: slice(*of) for x, of in zip(ids, pairwise(ends), strict=True)}
        self.read = ends[-1]
        self.room = room - self.read if self.packs else None
        self.reach = max(
            (len(layer.operator.taps) - 1 for layer in layers if isinstance(layer.operator, Convolution)), default=0
        )
        self._made: list[tuple[torch.Tensor, ...]] = [()] * len(layers)
        if ids:
            self._made = _read_beginnings(decoder, layers, ids)
        self.kept = self._made
        if not alone:
            self.kept = [tuple(x.detach().requires_grad_(x.requires_grad) for x in of_layer) for of_layer in self._made]

    def of(self, prompt: Ids) -> Ids:
        return self.beginnings.get(prompt, ())

    def backward(self) -> None:
        pairs = [
            (made, kept.grad)
            for of_layer in zip(self._made, self.kept, strict=True)
            for made, kept in zip(*of_layer, strict=True)
            if kept.is_leaf and kept.grad is not None
        ]
        if pairs:
            torch.autograd.backward([made for made, _ in pairs], [grad for _, grad in pairs])


def _kept_per_token(layers: Sequence[Layer], hidden: int) -> float:
    """Numbers, in fp32."""
    return sum(
        LEAN["fp32"].per_token(hidden, layer.gate.out_features, isinstance(layer.operator, Convolution))
        for layer in layers
    )


def _read_beginnings(decoder: Any, layers: Sequence[Layer], ids: Sequence[Ids]) -> list[tuple[torch.Tensor, ...]]:
    """State of each layer, as `_kept` gives it, for the rows of all beginnings."""
    # To each other they are continuations of nothing.
    runs, first = [], 0
    for own in ids:
        runs.append(Run(1, 0, 1, len(own), 0, (len(own),), first, slice(0, 0)))
        first += len(own)
    position_M = torch.cat([torch.arange(len(own)) for own in ids])
    none = torch.tensor([], dtype=torch.long)
    layout = Layout(runs, torch.tensor([x for own in ids for x in own]), position_M, 0, none, first, [], none)
    hidden_MD = decoder.embed_tokens(layout.ids_M)
    cos, sin = (x[0][:, None] for x in angles(decoder, hidden_MD, position_M[None]))
    kept = []
    for layer in layers[:-1]:
        hidden_MD, own_kept = _layer(layer, hidden_MD, cos, sin, layout, 0, ())
        kept.append(own_kept)
    normed_MD = normed(hidden_MD, layers[-1].before)
    last = layers[-1].operator
    if isinstance(last, Attention):
        kept.append(_keys_and_values(last, normed_MD, cos, sin))
    else:
        kept.append((_products(last, normed_MD)[0],))
    return kept


def lean_states(
    decoder: Any, rollouts: Sequence[Rollout], pad: int, begun: Begun | None = None
) -> tuple[torch.Tensor, int]:
    """The state before each program token, [K, D], and the number of tokens that were read; as `scoring.row_states`.

    `begun` is what was read of their prompts before; without it what they begin with is read here.
    """
    read = 0
    if begun is None:
        begun = Begun(decoder, (r.prompt for r in rollouts), alone=True)
        read = begun.read
    layout = lay_out(rollouts, pad, limits.ROWS_IN_BF16 if torch.is_autocast_enabled("cpu") else 1, begun)
    hidden_MD = decoder.embed_tokens(layout.ids_M)
    cos, sin = (x[0][:, None] for x in angles(decoder, hidden_MD, layout.position_M[None]))
    layers = layers_of(decoder)
    for layer, kept in zip(layers[:-1], begun.kept, strict=False):
        hidden_MD, _ = _layer(layer, hidden_MD, cos, sin, layout, 0, kept)
    hidden_BD, _ = _layer(layers[-1], hidden_MD, cos, sin, layout, layout.prompt_rows, begun.kept[-1])
    return normed(hidden_BD, last_norm(decoder))[layout.chosen_K], layout.read + read


def _layer(
    layer: Layer,
    hidden_MD: torch.Tensor,
    cos: torch.Tensor,
    sin: torch.Tensor,
    layout: Layout,
    skip: int,
    begun: tuple[torch.Tensor, ...],
) -> tuple[torch.Tensor, tuple[torch.Tensor, ...]]:
    """The rows after this layer, without the first `skip`, of which only keys and values are made; and what is met again of
    all rows in what follows them: keys and values, or a convolution's products. `begun` has the latter of beginnings."""
    normed_MD = normed(hidden_MD, layer.before)
    of = layer.operator
    kept: tuple[torch.Tensor, ...]
    if isinstance(of, Attention):
        kept = _keys_and_values(of, normed_MD, cos, sin)
        mixed = _attended(of, normed_MD, kept, cos, sin, layout, skip, begun)
    else:
        product, c = _products(of, normed_MD)
        kept = (product,)
        mixed = _convolved(of, product, c, layout, skip, begun)
    hidden_MD = hidden_MD[skip:] + mixed
    normed_MD = normed(hidden_MD, layer.between)
    return hidden_MD + layer.down(layer.activation(layer.gate(normed_MD)) * layer.up(normed_MD)), kept


def _products(of: Convolution, normed_MD: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """B * x and C."""
    b, c, x = of.inputs(normed_MD).float().chunk(3, -1)
    return b * x, c


def _convolved(
    of: Convolution,
    product: torch.Tensor,
    c: torch.Tensor,
    layout: Layout,
    skip: int,
    begun: tuple[torch.Tensor, ...],
) -> torch.Tensor:
    rows = len(product)
    # After the rows one of zeros, which is before the first of every text, and the ends of beginnings.
    product = torch.nn.functional.pad(product, (0, 0, 0, 1))
    if len(layout.tails_S):
        product = torch.cat([product, begun[0][layout.tails_S]])
    here = torch.arange(skip, rows)
    mixed = torch.zeros((), dtype=product.dtype)
    for tap in of.taps:
        mixed = mixed + tap * rows_of(product, here)  # the last token of a prompt is before each of its rollouts
        here = layout.previous_M[here]
    return of.output(c[skip:] * mixed)


def _keys_and_values(
    of: Attention, normed_MD: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    size = of.head_size
    key = turned(of.key(normed_MD).float().unflatten(-1, (-1, size)), of.key_norm, cos, sin)
    return key, of.value(normed_MD).float().unflatten(-1, (-1, size))


def _attended(
    of: Attention,
    normed_MD: torch.Tensor,
    kept: tuple[torch.Tensor, ...],
    cos: torch.Tensor,
    sin: torch.Tensor,
    layout: Layout,
    skip: int,
    begun: tuple[torch.Tensor, ...],
) -> torch.Tensor:
    normed_MD, cos, sin = (x[skip:] for x in (normed_MD, cos, sin))
    query = turned(of.query(normed_MD).float().unflatten(-1, (-1, of.head_size)), of.query_norm, cos, sin)
    keys_and_values = [*kept, *(begun or (x[:0] for x in kept))]
    per_key = query.shape[1] // kept[0].shape[1]
    if per_key > 1:
        keys_and_values = [x.repeat_interleave(per_key, 1) for x in keys_and_values]
    mixed = MergedAttention.apply(query, *keys_and_values, layout, of.scale)
    return of.output(mixed.flatten(1))
