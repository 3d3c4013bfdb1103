"""What a run would need in memory, by what it is for. Estimates: a test holds them to real models.

A micro-batch passes its tokens through every layer, and each of its rollouts attends to keys of its own and of its prompt.
"""

from __future__ import annotations

from kolmocli.config import OptimiserKind
from kolmocli.learning.limits import KEYS_PER_MICRO_BATCH, ROWS_AT_ONCE, TOKENS_PER_MICRO_BATCH
from kolmocli.policy.limits import LOGIT_COPIES, LOGITS_AT_ONCE
from kolmocli.policy.sizes import Size

_FLOAT = 4
_KEPT_PER_HIDDEN, _KEPT_PER_FEED_FORWARD = 12, 4
"""Numbers that a layer keeps for the backward pass per token: inputs of norms and matrices, queries, keys, values,
and the gated MLP's products. Counted with `saved_tensors_hooks` in transformers' forward of Llama (10.8 and 4.0) and
GPT-2 (30 per hidden unit, all in all). The lean forward (`policy/lean/scoring.py`) keeps a quarter less."""
_BLOCK = 256
_DOUBLE = 8
_REGRESSION_COPIES = 3
"""Of the value head's (D + 1)² sums: they themselves, and with the ridge added, and what solving makes of that."""


def memory(
    size: Size,
    *,
    rank: int,
    in_8bit: bool,
    optimiser: OptimiserKind,
    rollouts: int,
    rollout_tokens: int,
    value_head: bool = False,
) -> dict[str, float]:
    """MiB by purpose, and the peak: a step samples first and learns then, so cache and gradients do not add up.

    `rollout_tokens` is the longest prompt with the longest program.
    """
    trained = size.adapter(rank) if rank else size.parameters
    weights = size.weight_bytes(in_8bit=in_8bit) + _FLOAT * trained if rank else _FLOAT * size.parameters
    per_moment = _FLOAT if optimiser == "adamw" else 1 + _FLOAT / _BLOCK
    tokens = max(TOKENS_PER_MICRO_BATCH, rollout_tokens)
    needs = {
        "weights": weights,
        "gradients": _FLOAT * trained,
        "optimiser": 2 * per_moment * trained,
        "activations": activations(size, tokens, max(KEYS_PER_MICRO_BATCH, rollout_tokens)),
        "logits": _FLOAT * LOGIT_COPIES * min(LOGITS_AT_ONCE, tokens * size.vocabulary),
        "sampling_cache": _FLOAT * size.cache_per_token * min(rollouts, ROWS_AT_ONCE) * rollout_tokens,
    }
    if value_head:
        needs["value_head"] = _REGRESSION_COPIES * _DOUBLE * (size.hidden + 1) ** 2
    learning = needs["gradients"] + needs["activations"] + needs["logits"]
    kept = needs["weights"] + needs["optimiser"] + needs.get("value_head", 0)
    needs["peak"] = kept + max(learning, needs["sampling_cache"])
    return {name: round(needed / 2**20, 2) for name, needed in needs.items()}


def activations(size: Size, tokens: int, keys: int) -> int:
    """Bytes that the forward pass keeps for the backward pass, in fp32: per token that is read, and per key that a
    rollout attends to. Logits are not among them, they are computed again."""
    layer = _KEPT_PER_HIDDEN * size.hidden + _KEPT_PER_FEED_FORWARD * size.feed_forward
    return _FLOAT * (tokens * size.layers * layer + keys * size.cache_per_token)
