"""The output head, a chunk of positions at a time: log-probability and entropy of chosen tokens.

A plain loss keeps three or four tensors of [positions, vocabulary] numbers for the backward pass; with 32,000 words
they outweigh a small model many times over. Here logits are made `LOGITS_AT_ONCE` at a time, only where a token was chosen.
For the backward pass they are kept if all of them are no more than `LOGITS_KEPT`, and computed again otherwise.

Shapes: K chosen tokens, D hidden units, V words, C rows of a chunk.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn import functional as F

from kolmocli.policy import limits

_LIKE = 0.05
"""Logits that differ by less than this share of their standard deviation are the same: rounding, even to 8 bits, stays
far below, and a head that does something else far above."""
_PROBE_TOKENS = 6


@dataclass(frozen=True, slots=True)
class Head:
    """Map from hidden states of `decoder` to logits: softcap(scale * (weight @ hidden + bias))."""

    decoder: Any
    linear: torch.nn.Linear
    scale: float
    softcap: float | None

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        return _shape(self.linear(hidden), self.scale, self.softcap)


def underlying(model: Any) -> Any:
    """The transformers model in the wrapper of peft, with its adapters in it; any other model as it is."""
    return model.get_base_model() if hasattr(model, "get_base_model") else model


def find_head(model: Any) -> Head | str:
    """The head of a causal language model, or why it cannot be computed apart from the model.

    Families scale logits (Cohere, Granite) or cap them (Gemma 2) after the matrix. Whether that is all they do is not
    looked up but tried: a few tokens go through the model and through decoder and head, and must come out alike.
    """
    model = underlying(model)
    if not hasattr(model, "get_output_embeddings"):
        return "it is not a transformers model"
    linear = model.get_output_embeddings()
    if type(linear) is not torch.nn.Linear:
        return f"its output head is a {type(linear).__name__}"
    config = model.config.get_text_config()
    scale = float(getattr(config, "logit_scale", None) or 1.0) / float(getattr(config, "logits_scaling", None) or 1.0)
    head = Head(model.get_decoder(), linear, scale, getattr(config, "final_logit_softcapping", None))
    ids = torch.arange(_PROBE_TOKENS, device=model.device)[None] % linear.out_features
    with torch.inference_mode():
        read, theirs = head.decoder(input_ids=ids), model(input_ids=ids).logits
        if not hasattr(read, "last_hidden_state"):
            return "its decoder does not give its last hidden states"
        ours = head.logits(read.last_hidden_state)
    return head if is_like(ours, theirs) else "its logits are more than a matrix times its last hidden states"


def is_like(ours: torch.Tensor, theirs: torch.Tensor) -> bool:
    return bool((ours - theirs).abs().max() <= _LIKE * theirs.float().std())


def selected(
    head: Head, hidden_KD: torch.Tensor, targets_K: torch.Tensor, temperature: float = 1.0
) -> tuple[torch.Tensor, torch.Tensor]:
    """Log-probability of each target under the state before it, and the entropy of the choice; both [K], in fp32."""
    softcap = None if head.softcap is None else head.softcap / temperature
    logprobs_K, entropy_K = _Selected.apply(
        hidden_KD, head.linear.weight, head.linear.bias, targets_K, head.scale / temperature, softcap
    )
    return logprobs_K, entropy_K


class _Selected(torch.autograd.Function):
    """With z = logits, p = softmax(z), H the entropy and g the gradients that come in:

    d log p_t / dz_j = [j = t] - p_j and dH / dz_j = -p_j (log p_j + H).
    """

    @staticmethod
    def forward(
        ctx: Any, hidden_KD: Any, weight_VD: Any, bias_V: Any, targets_K: Any, scale: float, softcap: Any
    ) -> Any:
        wide = torch.promote_types(hidden_KD.dtype, torch.float32)
        logprobs_K, entropy_K, total_K = (hidden_KD.new_empty(len(targets_K), dtype=wide) for _ in range(3))
        weight, bias = weight_VD.to(wide), None if bias_V is None else bias_V.to(wide)
        kept: list[torch.Tensor] = []
        keeps = any(ctx.needs_input_grad) and len(targets_K) * len(weight) <= limits.LOGITS_KEPT
        with torch.autocast(hidden_KD.device.type, enabled=False):
            for rows in _chunks(len(targets_K), len(weight)):
                z_CV = _shape(F.linear(hidden_KD[rows].to(wide), weight, bias), scale, softcap)
                if keeps:
                    kept.append(z_CV)
                total_K[rows] = z_CV.logsumexp(-1)
                logprobs_K[rows] = z_CV.gather(-1, targets_K[rows, None])[:, 0] - total_K[rows]
                p_CV = (z_CV - total_K[rows, None]).exp_()
                entropy_K[rows] = total_K[rows] - torch.linalg.vecdot(p_CV, z_CV)
        ctx.save_for_backward(hidden_KD, weight_VD, bias_V, targets_K, total_K, entropy_K)
        ctx.shape, ctx.kept = (scale, softcap), kept
        ctx.set_materialize_grads(False)
        return logprobs_K, entropy_K

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, chosen_K: Any, spread_K: Any) -> Any:
        hidden_KD, weight_VD, bias_V, targets_K, total_K, entropy_K = ctx.saved_tensors
        scale, softcap = ctx.shape
        wide, (to_hidden, to_weight, to_bias, *_) = total_K.dtype, ctx.needs_input_grad
        weight, bias = weight_VD.to(wide), None if bias_V is None else bias_V.to(wide)
        hidden_grad = torch.empty_like(hidden_KD) if to_hidden else None
        weight_grad = torch.zeros_like(weight) if to_weight else None
        bias_grad = torch.zeros_like(bias) if to_bias and bias is not None else None
        with torch.autocast(hidden_KD.device.type, enabled=False):
            for rows in _chunks(len(targets_K), len(weight)):
                hidden_CD = hidden_KD[rows].to(wide)
                # Freed chunk by chunk: a second backward pass makes them again.
                z_CV = ctx.kept.pop(0) if ctx.kept else _shape(F.linear(hidden_CD, weight, bias), scale, softcap)
                logp_CV = z_CV - total_K[rows, None]
                grad_CV = logp_CV.exp()
                if spread_K is not None:
                    factor_CV = (logp_CV + entropy_K[rows, None]) * -spread_K[rows, None]
                    if chosen_K is not None:
                        factor_CV -= chosen_K[rows, None]
                    grad_CV *= factor_CV
                else:
                    grad_CV *= -chosen_K[rows, None]
                if chosen_K is not None:
                    grad_CV.scatter_add_(-1, targets_K[rows, None], chosen_K[rows, None])
                if softcap is not None:
                    grad_CV *= 1.0 - (z_CV / softcap).square_()
                grad_CV *= scale
                if hidden_grad is not None:
                    hidden_grad[rows] = (grad_CV @ weight).to(hidden_grad.dtype)
                if weight_grad is not None:
                    weight_grad.addmm_(grad_CV.mT, hidden_CD)
                if bias_grad is not None:
                    bias_grad += grad_CV.sum(0)
        weight_grad = None if weight_grad is None else weight_grad.to(weight_VD.dtype)
        return hidden_grad, weight_grad, bias_grad, None, None, None


def _shape(logits: torch.Tensor, scale: float, softcap: float | None) -> torch.Tensor:
    if scale != 1.0:
        logits = logits * scale
    return logits if softcap is None else torch.tanh(logits / softcap) * softcap


def _chunks(rows: int, words: int) -> Iterator[slice]:
    step = max(1, limits.LOGITS_AT_ONCE // words)
    return (slice(start, start + step) for start in range(0, rows, step))
