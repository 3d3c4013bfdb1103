"""Hidden states of rollouts for the loss, from models of Llama's shape on a CPU, with less around them than transformers has.

Every token that is read is a row of one matrix, prompts first: each weight is multiplied once for prompts and
continuations together, no row is a mask's, and the keys of a prompt are never copied for its rollouts. Attention to the
prompt and to the rollout's own tokens are two calls of torch's flash attention, merged by their log-sum-exps (as in
Liu et al. 2023, arXiv 2310.01889); the same kernel differentiates each when it is handed the merged result. A
continuation begins with the last token of its prompt, so that of the others the last layer makes only keys and values.
The beginnings of prompts (`beginnings.py`) is read once before them, for as many calls as are to share it; its keys are a third
part that is merged, and their gradient, summed up over the calls, is led on through it at the end. A short convolution takes the rows of the tokens before, wherever they are. Under autocast only products of matrices are in
bf16; what is made of them is in fp32 again.

Shapes: M rows, A of them of prompts, B of continuations, Q of what prompts begin with; H heads, E numbers per head, D hidden
units; of a run: P prompts with T tokens before the last, G rollouts each, C tokens of the longest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any

import torch

from kolmocli.policy import limits
from kolmocli.policy.lean.beginnings import Ids, beginnings_of, may_begin_alike
from kolmocli.policy.lean.decoding import angles, over_rms, turn
from kolmocli.policy.lean.parts import Attention, Convolution, Layer, find_lean, last_norm, layers_of
from kolmocli.policy.order import rows_of
from kolmocli.policy.recompute import recomputes
from kolmocli.policy.rollout import Rollout
from kolmocli.policy.sizes import LEAN

_flash = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
_flash_backward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward


def can_score(model: Any) -> bool:
    """Whether `lean_states` is for this model, where it is and as it is stored. It does not call transformers' layers,
    so it is not for those that are to be computed again."""
    head = find_lean(model)
    if head is None or recomputes(model):
        return False
    return model.device.type == "cpu" and head.decoder.embed_tokens.weight.dtype == torch.float32


@dataclass(frozen=True, slots=True)
class _Run:
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


def _together(rows: torch.Tensor) -> torch.Tensor:
    """[1, H, rows, E]."""
    return rows[None].transpose(1, 2)


def _as_rows(table: torch.Tensor) -> torch.Tensor:
    """Back from what the methods of a run return, or from such a table without its last dimension."""
    return table.transpose(1, 2).flatten(0, 1)


@dataclass(frozen=True)
class _Layout:
    runs: list[_Run]
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
        runs.append(_Run(1, 0, 1, len(own), 0, (len(own),), first, slice(0, 0)))
        first += len(own)
    position_M = torch.cat([torch.arange(len(own)) for own in ids])
    none = torch.tensor([], dtype=torch.long)
    layout = _Layout(runs, torch.tensor([x for own in ids for x in own]), position_M, 0, none, first, [], none)
    hidden_MD = decoder.embed_tokens(layout.ids_M)
    cos, sin = (x[0][:, None] for x in angles(decoder, hidden_MD, position_M[None]))
    kept = []
    for layer in layers[:-1]:
        hidden_MD, own_kept = _layer(layer, hidden_MD, cos, sin, layout, 0, ())
        kept.append(own_kept)
    normed_MD = _norm(hidden_MD, layers[-1].before)
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
    layout = _lay_out(rollouts, pad, limits.ROWS_IN_BF16 if torch.is_autocast_enabled("cpu") else 1, begun)
    hidden_MD = decoder.embed_tokens(layout.ids_M)
    cos, sin = (x[0][:, None] for x in angles(decoder, hidden_MD, layout.position_M[None]))
    layers = layers_of(decoder)
    for layer, kept in zip(layers[:-1], begun.kept, strict=False):
        hidden_MD, _ = _layer(layer, hidden_MD, cos, sin, layout, 0, kept)
    hidden_BD, _ = _layer(layers[-1], hidden_MD, cos, sin, layout, layout.prompt_rows, begun.kept[-1])
    return _norm(hidden_BD, last_norm(decoder))[layout.chosen_K], layout.read + read


def _lay_out(rollouts: Sequence[Rollout], pad: int, multiple: int, begun: Begun) -> _Layout:
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
    runs: list[_Run] = []
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
        runs.append(_Run(*of_prompts, lengths, first_row, begun_rows, *_spread(lengths, longest)))
    chosen = [row for i, r in enumerate(rollouts) for row in range(first[i], first[i] + len(r.tokens))]
    read = len(prompt_ids) + len(chosen)
    for tokens_of, positions_of in ((prompt_ids, prompt_positions), (ids, positions)):
        missing = -len(tokens_of) % multiple
        tokens_of += [pad] * missing
        positions_of += [0] * missing
    position_M = torch.tensor(prompt_positions + positions)
    ends = [rows.stop for rows in begun.rows.values()]
    tails = [end - 1 - i for end in ends for i in range(begun.reach)]
    return _Layout(
        runs, torch.tensor(prompt_ids + ids), position_M, len(prompt_ids), torch.tensor(chosen), read, ends,
        torch.tensor(tails, dtype=torch.long),
    )  # fmt: skip


def _spread(lengths: Sequence[int], longest: int) -> tuple[torch.Tensor | None, torch.Tensor | None]:
    """For `_Run`; nothing where there is no padding to leave out."""
    if min(lengths) == longest:
        return None, None
    length_N1, place_C = torch.tensor(lengths)[:, None], torch.arange(longest)
    start_N1 = length_N1.cumsum(0) - length_N1
    row_NC = start_N1 + torch.minimum(place_C, length_N1 - 1)
    return row_NC.flatten(), (place_C < length_N1).flatten().nonzero()[:, 0]


def _layer(
    layer: Layer,
    hidden_MD: torch.Tensor,
    cos: torch.Tensor,
    sin: torch.Tensor,
    layout: _Layout,
    skip: int,
    begun: tuple[torch.Tensor, ...],
) -> tuple[torch.Tensor, tuple[torch.Tensor, ...]]:
    """The rows after this layer, without the first `skip`, of which only keys and values are made; and what is met again of
    all rows in what follows them: keys and values, or a convolution's products. `begun` has the latter of beginnings."""
    normed_MD = _norm(hidden_MD, layer.before)
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
    normed_MD = _norm(hidden_MD, layer.between)
    return hidden_MD + layer.down(layer.activation(layer.gate(normed_MD)) * layer.up(normed_MD)), kept


def _products(of: Convolution, normed_MD: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """B * x and C."""
    b, c, x = of.inputs(normed_MD).float().chunk(3, -1)
    return b * x, c


def _convolved(
    of: Convolution,
    product: torch.Tensor,
    c: torch.Tensor,
    layout: _Layout,
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
    key = _turned(of.key(normed_MD).float().unflatten(-1, (-1, size)), of.key_norm, cos, sin)
    return key, of.value(normed_MD).float().unflatten(-1, (-1, size))


def _attended(
    of: Attention,
    normed_MD: torch.Tensor,
    kept: tuple[torch.Tensor, ...],
    cos: torch.Tensor,
    sin: torch.Tensor,
    layout: _Layout,
    skip: int,
    begun: tuple[torch.Tensor, ...],
) -> torch.Tensor:
    normed_MD, cos, sin = (x[skip:] for x in (normed_MD, cos, sin))
    query = _turned(of.query(normed_MD).float().unflatten(-1, (-1, of.head_size)), of.query_norm, cos, sin)
    keys_and_values = [*kept, *(begun or (x[:0] for x in kept))]
    per_key = query.shape[1] // kept[0].shape[1]
    if per_key > 1:
        keys_and_values = [x.repeat_interleave(per_key, 1) for x in keys_and_values]
    mixed = _Attention.apply(query, *keys_and_values, layout, of.scale)
    return of.output(mixed.flatten(1))


def _norm(inputs: torch.Tensor, norm: Any) -> torch.Tensor:
    normed: torch.Tensor = _Norm.apply(inputs, norm.weight, norm.variance_epsilon)
    return normed


def _turned(inputs: torch.Tensor, norm: Any, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    turned: torch.Tensor = _Turned.apply(inputs if norm is None else _norm(inputs, norm), cos, sin)
    return turned


class _Norm(torch.autograd.Function):
    """x / rms(x) * weight over the last dimension. With n = x / rms(x), d = dL/dn: dx = (d - n mean(d n)) / rms(x)."""

    @staticmethod
    def forward(ctx: Any, inputs: torch.Tensor, weight: torch.Tensor, epsilon: float) -> torch.Tensor:
        over = over_rms(inputs, epsilon)
        ctx.save_for_backward(inputs, weight, over)
        return (inputs * over).mul_(weight)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        inputs, weight, over = ctx.saved_tensors
        normed = inputs * over
        to_weight = None
        if ctx.needs_input_grad[1]:
            to_weight = (grad * normed).flatten(0, -2).sum(0)
        grad = grad * weight
        share = torch.linalg.vecdot(grad, normed)[..., None].div_(inputs.shape[-1])
        return grad.addcmul_(normed, share, value=-1.0).mul_(over), to_weight, None


class _Turned(torch.autograd.Function):
    """`turn`, whose transpose turns back."""

    @staticmethod
    def forward(ctx: Any, inputs: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(cos, sin)
        return turn(inputs, cos, sin)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        cos, sin = ctx.saved_tensors
        return turn(grad, cos, sin, -1.0), None, None


class _Attention(torch.autograd.Function):
    """Every row's mix of values [., H, E]: a prompt's of those up to it, a continuation's of its prompt's and its own, and both
    of their beginning's.

    Queries are of all rows, or of the continuations alone.
    """

    @staticmethod
    def forward(
        ctx: Any,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        key_QHE: torch.Tensor,
        value_QHE: torch.Tensor,
        layout: _Layout,
        scale: float,
    ) -> torch.Tensor:
        mixed, total = torch.zeros_like(query), query.new_empty(query.shape[:2])
        (q_A, q), (k_A, k), (v_A, v), (mixed_A, mixed_B), (total_A, total_B) = map(
            layout.apart, (query, key, value, mixed, total)
        )
        for run in layout.runs:
            own = _attend(run.by_rollout(q), run.by_rollout(k), run.by_rollout(v), True, scale)
            of_prompt = run.of_prompts(k_A), run.of_prompts(v_A)
            of_beginning = _together(key_QHE[run.begun]), _together(value_QHE[run.begun])
            if run.prompt_tokens:
                own = _merged(*own, *_attend(run.by_prompt(q), *of_prompt, False, scale))
            own = run.without_padding(own[0]), run.without_padding(own[1])
            if run.begun.stop:
                own = _merged(*own, *_attend(_together(q[run.rows]), *of_beginning, False, scale))
            mixed_B[run.rows], total_B[run.rows] = own
            if run.prompt_tokens and len(q_A):
                own = _attend(run.of_prompts(q_A), *of_prompt, True, scale)
                if run.begun.stop:
                    own = _merged(*own, *_attend(_together(q_A[run.prompt_rows]), *of_beginning, False, scale))
                mixed_A[run.prompt_rows], total_A[run.prompt_rows] = own
        ctx.save_for_backward(query, key, value, key_QHE, value_QHE, mixed, total)
        ctx.layout, ctx.scale = layout, scale
        return mixed

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        layout, scale, (query, key, value, key_QHE, value_QHE, mixed, total) = ctx.layout, ctx.scale, ctx.saved_tensors
        found = torch.zeros_like(query), torch.zeros_like(key), torch.zeros_like(value)
        begun = torch.zeros_like(key_QHE), torch.zeros_like(value_QHE)
        (q_A, q), (k_A, k), (v_A, v) = map(layout.apart, (query, key, value))
        (dq_A, dq), (dk_A, dk), (dv_A, dv) = map(layout.apart, found)
        mixes_A, mixes = zip(*map(layout.apart, (grad, mixed, total)), strict=True)
        for run in layout.runs:
            spread = run.by_rollout(q), run.by_rollout(k), run.by_rollout(v)
            grads = run.gradient_by_place(mixes[0]).unflatten(0, (-1, run.tokens)).transpose(1, 2)
            of_own = _differentiate([*spread, grads, *map(run.by_rollout, mixes[1:])], True, scale)
            dq[run.rows], dk[run.rows], dv[run.rows] = map(run.without_padding, of_own)
            of_beginning = _together(key_QHE[run.begun]), _together(value_QHE[run.begun])
            if run.begun.stop:
                own = _together(q[run.rows]), *of_beginning, *(_together(x[run.rows]) for x in mixes)
                _add(_differentiate([*own], False, scale), dq[run.rows], *(x[run.begun] for x in begun))
            if not run.prompt_tokens:
                continue
            of_prompt = run.of_prompts(k_A), run.of_prompts(v_A)
            grads = run.gradient_by_place(mixes[0]).unflatten(0, (run.prompts, -1)).transpose(1, 2)
            from_rows = _differentiate(
                [run.by_prompt(q), *of_prompt, grads, *map(run.by_prompt, mixes[1:])], False, scale
            )
            dq[run.rows] += run.without_padding(from_rows[0])
            dk_A[run.prompt_rows], dv_A[run.prompt_rows] = from_rows[1:]
            if len(q_A):
                alone = _differentiate([run.of_prompts(q_A), *of_prompt, *map(run.of_prompts, mixes_A)], True, scale)
                dq_A[run.prompt_rows] = alone[0]
                dk_A[run.prompt_rows] += alone[1]
                dv_A[run.prompt_rows] += alone[2]
                if run.begun.stop:
                    own = (
                        _together(q_A[run.prompt_rows]),
                        *of_beginning,
                        *(_together(x[run.prompt_rows]) for x in mixes_A),
                    )
                    _add(_differentiate([*own], False, scale), dq_A[run.prompt_rows], *(x[run.begun] for x in begun))
        return *found, *begun, None, None


def _add(found: Sequence[torch.Tensor], *sums: torch.Tensor) -> None:
    for sum_, more in zip(sums, found, strict=True):
        sum_ += more


def _merged(
    mixed: torch.Tensor, total: torch.Tensor, other: torch.Tensor, other_total: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Mixed values and log-sum-exps of the keys of both."""
    both = torch.logaddexp(total, other_total)
    return mixed.lerp_(other, (other_total - both).exp_()[..., None]), both


def _attend(query: Any, key: Any, value: Any, causal: bool, scale: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Mixed values and log-sum-exps, as rows."""
    mixed, total = _flash(query, key, value, 0.0, causal, attn_mask=None, scale=scale)
    return _as_rows(mixed), _as_rows(total)


def _differentiate(
    inputs: list[torch.Tensor], causal: bool, scale: float
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Gradients of queries, keys and values, as rows. `inputs` are these, the gradient, mixed values and log-sum-exps
    that come of them; the last two may be of more keys than these."""
    query, key, value, grad, mixed, total = inputs
    found = _flash_backward(grad, query, key, value, mixed, total, 0.0, causal, attn_mask=None, scale=scale)
    first, second, third = map(_as_rows, found)
    return first, second, third
