"""The peak memory of a learning pass, ours and a plain one, each in a process of its own.

It is what `python benchmarks/trainer.py --only memory` prints.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import torch
from bench import NEW_TOKENS, PROMPT_TOKENS, SAMPLES, batch_of, status
from transformers import LlamaConfig, LlamaForCausalLM

from kolmocli.learning.batches import Weighted
from kolmocli.learning.learner import Learner
from kolmocli.learning.limits import TOKENS_PER_MICRO_BATCH
from kolmocli.policy.logprobs import pack, token_logprobs
from kolmocli.policy.policy import Policy
from kolmocli.policy.tokenizer import build_tokenizer

WORDS = 32_000
AT_ONCE = {
    "kolmo": 0.0,  # has micro-batches of its own
    "plain, micro-batches of the same tokens": TOKENS_PER_MICRO_BATCH,
    "plain, one batch": float("inf"),
}
"""Tokens that a side reads at once."""
MEMORY_PROMPTS = 2


def plain_pass(model: Any, batch: list[Weighted], tokens_at_once: float = float("inf")) -> None:
    """Gradients of the same loss from a row per rollout and all its logits."""
    at_once = int(min(len(batch), tokens_at_once // (PROMPT_TOKENS + NEW_TOKENS)))
    for start in range(0, len(batch), at_once):
        part = batch[start : start + at_once]
        ids, attention, program = (x.to(model.device) for x in pack([w.rollout for w in part], 0))
        logprobs, entropy = token_logprobs(model, ids, attention)
        weights = torch.tensor([x for w in part for x in w.weights], device=model.device)
        (-(weights * logprobs[program]).sum() / len(batch)).backward()
        entropy[program].sum().item()  # both report it


def peak_mib(side: str) -> float:
    """MiB that the learning pass of 2 x 8 rollouts adds to the process, gradients included."""
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=WORDS, hidden_size=192, intermediate_size=576, num_hidden_layers=4, num_attention_heads=6,
        num_key_value_heads=6, max_position_embeddings=1024, tie_word_embeddings=True,
    )  # fmt: skip
    model, batch = LlamaForCausalLM(config).eval(), batch_of(WORDS, MEMORY_PROMPTS, SAMPLES)
    learner = Learner(
        Policy("32k words", model, build_tokenizer()), learning_rate=0.0, max_grad_norm=1.0, entropy_bonus=0.0
    )
    _ = learner.scorer  # its probes, and what torch sets up at a first product, are not part of the pass
    held = status("VmRSS")
    if side == "kolmo":
        learner.optimiser.step = lambda: None  # type: ignore[method-assign,assignment]  # the moments: both would have them
        learner.step(batch)
    else:
        plain_pass(model, batch, AT_ONCE[side])
    return (status("VmHWM") - held) / 1024


def peaks() -> dict[str, float]:
    """That of each side, in a process of its own."""
    found = {}
    for side in AT_ONCE:
        done = subprocess.run([sys.executable, __file__, side], capture_output=True, text=True, check=True)
        found[side] = float(done.stdout)
    return found


if __name__ == "__main__":
    print(peak_mib(sys.argv[1]))
