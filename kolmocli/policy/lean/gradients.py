"""Operations of the learning pass with a backward pass of their own: norms, the rotary embedding, and attention in parts.

Attention to the prompt and to the rollout's own tokens are two calls of torch's flash attention, merged by their log-sum-exps (as
in Liu et al. 2023, arXiv 2310.01889); the same kernel differentiates each when it is handed the merged result.

Shapes: M rows, Q of what prompts begin with; H heads, E numbers per head.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from kolmocli.policy.lean.layout import Layout
from kolmocli.policy.lean.pointwise import over_rms, turn

_flash = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
_flash_backward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward


def normed(inputs: torch.Tensor, norm: Any) -> torch.Tensor:
    """`pointwise.norm`, differentiable."""
    found: torch.Tensor = _Norm.apply(inputs, norm.weight, norm.variance_epsilon)
    return found


def turned(inputs: torch.Tensor, norm: Any, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Queries or keys as attention takes them: normed, where there is a norm, and turned."""
    found: torch.Tensor = _Turned.apply(inputs if norm is None else normed(inputs, norm), cos, sin)
    return found


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


class MergedAttention(torch.autograd.Function):
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
        layout: Layout,
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


def _together(rows: torch.Tensor) -> torch.Tensor:
    """[1, H, rows, E]."""
    return rows[None].transpose(1, 2)


def _as_rows(table: torch.Tensor) -> torch.Tensor:
    """Back from what the methods of a run return, or from such a table without its last dimension."""
    return table.transpose(1, 2).flatten(0, 1)
