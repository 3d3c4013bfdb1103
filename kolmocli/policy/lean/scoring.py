"""Hidden states of rollouts for the loss, from models of Llama's shape on a CPU, with less around them than transformers has.

Every token that is read is a row of one matrix, prompts first: each weight is multiplied once for prompts and
continuations together, no row is a mask's, and the keys of a prompt are never copied for its rollouts. Attention to the
prompt and to the rollout's own tokens are two calls of torch's flash attention, merged by their log-sum-exps (as in
Liu et al. 2023, arXiv 2310.01889); the same kernel differentiates each when it is handed the merged result. A
continuation begins with the last token of its prompt, so that of the others the last layer makes only keys and values.
A short convolution takes the rows of the tokens before, wherever they are. Under autocast only products of matrices are in
bf16; what is made of them is in fp32 again.

Shapes: M rows, A of them of prompts, B of continuations; H heads, E numbers per head, D hidden units; of a run:
P prompts with T tokens before the last, G rollouts each, C tokens of the longest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch

from kolmocli.policy.lean.decoding import angles, over_rms, turn
from kolmocli.policy.lean.parts import Attention, Convolution, Layer, find_lean, last_norm, layers_of
from kolmocli.policy.limits import ROWS_IN_BF16
from kolmocli.policy.order import rows_of
from kolmocli.policy.recompute import recomputes
from kolmocli.policy.rollout import Rollout

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
    """Prompts of one length with equally many rollouts; neighbours among the rows of prompts and of continuations."""

    prompts: int
    prompt_tokens: int
    rollouts: int
    tokens: int
    first_of_prompts: int
    first: int

    @property
    def prompt_rows(self) -> slice:
        return slice(self.first_of_prompts, self.first_of_prompts + self.prompts * self.prompt_tokens)

    @property
    def rows(self) -> slice:
        """Among those of continuations."""
        return slice(self.first, self.first + self.prompts * self.rollouts * self.tokens)

    def of_prompts(self, rows_AHE: torch.Tensor) -> torch.Tensor:
        """[P, H, T, E]."""
        return rows_AHE[self.prompt_rows].unflatten(0, (self.prompts, -1)).transpose(1, 2)

    def by_prompt(self, rows_BHE: torch.Tensor) -> torch.Tensor:
        """[P, H, G * C, E]."""
        return rows_BHE[self.rows].unflatten(0, (self.prompts, -1)).transpose(1, 2)

    def by_rollout(self, rows_BHE: torch.Tensor) -> torch.Tensor:
        """[P * G, H, C, E]."""
        return rows_BHE[self.rows].unflatten(0, (-1, self.tokens)).transpose(1, 2)


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
    """Tokens of prompts and programs."""

    @cached_property
    def previous_M(self) -> torch.Tensor:
        """The row of the token before; M, the row after the last, where there is none. One number longer than M rows.
        Only convolutions ask for it."""
        rows = len(self.ids_M)
        previous_M = torch.arange(-1, rows)
        for run in self.runs:
            starts = torch.arange(run.rows.start, run.rows.stop, run.tokens or 1) + self.prompt_rows
            if run.prompt_tokens:
                of_prompts = torch.arange(run.prompt_rows.start, run.prompt_rows.stop, run.prompt_tokens)
                previous_M[of_prompts] = rows
                previous_M[starts] = (of_prompts + run.prompt_tokens - 1).repeat_interleave(run.rollouts)
            else:
                previous_M[starts] = rows
        previous_M[rows] = rows
        return previous_M

    def apart(self, rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Those of prompts, none where there are only others, and those of continuations."""
        border = len(rows) - (len(self.ids_M) - self.prompt_rows)
        return rows[:border], rows[border:]


def lean_states(decoder: Any, rollouts: Sequence[Rollout], pad: int) -> tuple[torch.Tensor, int]:
    """The state before each program token, [K, D], and the number of tokens that were read; as `scoring.row_states`."""
    layout = _lay_out(rollouts, pad, ROWS_IN_BF16 if torch.is_autocast_enabled("cpu") else 1)
    hidden_MD = decoder.embed_tokens(layout.ids_M)
    cos, sin = (x[0][:, None] for x in angles(decoder, hidden_MD, layout.position_M[None]))
    *layers, last = layers_of(decoder)
    for layer in layers:
        hidden_MD = _layer(layer, hidden_MD, cos, sin, layout, 0)
    hidden_BD = _layer(last, hidden_MD, cos, sin, layout, layout.prompt_rows)
    return _norm(hidden_BD, last_norm(decoder))[layout.chosen_K], layout.read


def _lay_out(rollouts: Sequence[Rollout], pad: int, multiple: int) -> _Layout:
    """The rows of prompts and of continuations are filled up to a multiple with rows that belong to nothing."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for i, rollout in enumerate(rollouts):
        groups.setdefault(rollout.prompt, []).append(i)
    alike: dict[tuple[int, int], list[tuple[int, ...]]] = {}
    for prompt, members in groups.items():
        alike.setdefault((len(prompt) - 1, len(members)), []).append(prompt)
    runs: list[_Run] = []
    prompt_ids: list[int] = []
    prompt_positions: list[int] = []
    ids: list[int] = []
    positions: list[int] = []
    first = [0] * len(rollouts)
    for (before, size), prompts in alike.items():
        longest = max(len(rollouts[i].tokens) for prompt in prompts for i in groups[prompt])
        runs.append(_Run(len(prompts), before, size, longest, len(prompt_ids), len(ids)))
        for prompt in prompts:
            prompt_ids += prompt[:-1]
            prompt_positions += range(before)
            for i in groups[prompt]:
                first[i] = len(ids)
                tokens = rollouts[i].tokens
                ids += [prompt[-1], *tokens[:-1], *[pad] * (longest - len(tokens))]
                positions += range(before, before + longest)
    chosen = [row for i, r in enumerate(rollouts) for row in range(first[i], first[i] + len(r.tokens))]
    read = len(prompt_ids) + len(chosen)
    for tokens_of, positions_of in ((prompt_ids, prompt_positions), (ids, positions)):
        missing = -len(tokens_of) % multiple
        tokens_of += [pad] * missing
        positions_of += [0] * missing
    position_M = torch.tensor(prompt_positions + positions)
    return _Layout(runs, torch.tensor(prompt_ids + ids), position_M, len(prompt_ids), torch.tensor(chosen), read)


def _layer(
    layer: Layer, hidden_MD: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, layout: _Layout, skip: int
) -> torch.Tensor:
    """The rows after this layer, without the first `skip`, of which only keys and values are made."""
    normed_MD = _norm(hidden_MD, layer.before)
    of = layer.operator
    mixed = (
        _attended(of, normed_MD, cos, sin, layout, skip)
        if isinstance(of, Attention)
        else _convolved(of, normed_MD, layout, skip)
    )
    hidden_MD = hidden_MD[skip:] + mixed
    normed_MD = _norm(hidden_MD, layer.between)
    return hidden_MD + layer.down(layer.activation(layer.gate(normed_MD)) * layer.up(normed_MD))


def _convolved(of: Convolution, normed_MD: torch.Tensor, layout: _Layout, skip: int) -> torch.Tensor:
    b, c, x = of.inputs(normed_MD).float().chunk(3, -1)
    product = torch.nn.functional.pad(b * x, (0, 0, 0, 1))  # the last row, of zeros, is before the first of every text
    here = torch.arange(skip, len(normed_MD))
    mixed = torch.zeros((), dtype=product.dtype)
    for tap in of.taps:
        mixed = mixed + tap * rows_of(product, here)  # the last token of a prompt is before each of its rollouts
        here = layout.previous_M[here]
    return of.output(c[skip:] * mixed)


def _attended(
    of: Attention, normed_MD: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, layout: _Layout, skip: int
) -> torch.Tensor:
    size = of.head_size
    key = _turned(of.key(normed_MD).float().unflatten(-1, (-1, size)), of.key_norm, cos, sin)
    value = of.value(normed_MD).float().unflatten(-1, (-1, size))
    normed_MD, cos, sin = (x[skip:] for x in (normed_MD, cos, sin))
    query = _turned(of.query(normed_MD).float().unflatten(-1, (-1, size)), of.query_norm, cos, sin)
    per_key = query.shape[1] // key.shape[1]
    if per_key > 1:
        key, value = (x.repeat_interleave(per_key, 1) for x in (key, value))
    mixed = _Attention.apply(query, key, value, layout, of.scale)
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
    """Every row's mix of values [., H, E]: a prompt's of those up to it, a continuation's of its prompt's and its own.

    Queries are of all rows, or of the continuations alone.
    """

    @staticmethod
    def forward(
        ctx: Any, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, layout: _Layout, scale: float
    ) -> torch.Tensor:
        mixed, total = torch.zeros_like(query), query.new_empty(query.shape[:2])
        (q_A, q), (k_A, k), (v_A, v), (mixed_A, mixed_B), (total_A, total_B) = map(
            layout.apart, (query, key, value, mixed, total)
        )
        for run in layout.runs:
            own, own_total = _attend(run.by_rollout(q), run.by_rollout(k), run.by_rollout(v), True, scale)
            if run.prompt_tokens:
                of_prompt = run.of_prompts(k_A), run.of_prompts(v_A)
                shared, shared_total = _attend(run.by_prompt(q), *of_prompt, False, scale)
                both = torch.logaddexp(own_total, shared_total)
                own, own_total = own.lerp_(shared, (shared_total - both).exp_()[..., None]), both
                if len(q_A):
                    mixed_A[run.prompt_rows], total_A[run.prompt_rows] = _attend(
                        run.of_prompts(q_A), *of_prompt, True, scale
                    )
            mixed_B[run.rows], total_B[run.rows] = own, own_total
        ctx.save_for_backward(query, key, value, mixed, total)
        ctx.layout, ctx.scale = layout, scale
        return mixed

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        layout, scale, (query, key, value, mixed, total) = ctx.layout, ctx.scale, ctx.saved_tensors
        found = torch.zeros_like(query), torch.zeros_like(key), torch.zeros_like(value)
        (q_A, q), (k_A, k), (v_A, v) = map(layout.apart, (query, key, value))
        (dq_A, dq), (dk_A, dk), (dv_A, dv) = map(layout.apart, found)
        mixes_A, mixes = zip(*map(layout.apart, (grad, mixed, total)), strict=True)
        for run in layout.runs:
            of_own = _differentiate([*map(run.by_rollout, (q, k, v, *mixes))], True, scale)
            dq[run.rows], dk[run.rows], dv[run.rows] = of_own
            if not run.prompt_tokens:
                continue
            of_prompt = run.of_prompts(k_A), run.of_prompts(v_A)
            from_rows = _differentiate([run.by_prompt(q), *of_prompt, *map(run.by_prompt, mixes)], False, scale)
            dq[run.rows] += from_rows[0]
            dk_A[run.prompt_rows], dv_A[run.prompt_rows] = from_rows[1:]
            if len(q_A):
                alone = _differentiate([run.of_prompts(q_A), *of_prompt, *map(run.of_prompts, mixes_A)], True, scale)
                dq_A[run.prompt_rows] = alone[0]
                dk_A[run.prompt_rows] += alone[1]
                dv_A[run.prompt_rows] += alone[2]
        return *found, None, None


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
