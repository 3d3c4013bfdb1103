"""Sizes of the parts of a computation. No result depends on them beyond the last digits; memory does."""

from __future__ import annotations

LOGITS_AT_ONCE = 1 << 22
"""Logits in one chunk of the output head: 16 MiB in fp32."""
LOGIT_COPIES = 3
"""Tensors of that size in the backward pass: logits, probabilities, their gradient."""
PROMPT_TOKENS_AT_ONCE = 8_192
"""Tokens of prompts that are read without being continued, padding included."""
ROOM = 65
"""Tokens that the cache of a row grows by. Not a power of two: the rows would share a few lines of a processor's cache."""
JOINED_BELOW = 1 << 20
"""Matrices of fewer numbers are copied side by side for sampling: larger ones gain nothing and would take their memory
twice."""
ROWS_IN_BF16 = 256
"""Products in bf16 are prepared anew for every number of rows, and kept: that takes time and memory, so few numbers occur."""
NUMBERS_KEPT = 1 << 29
"""For the backward pass of one micro-batch of a model from elsewhere, what its prompts begin with included: 2 GiB in fp32. A
model of 135 million parameters keeps 357 thousand per token, so that 1,500 tokens of it fit."""
TOKENS_KEPT = 256, 2_048
"""At least and at most that many tokens, however large or small a model is."""
BEGINNING = 32
"""Tokens that prompts must have in common for them to be read once. Each beginning costs further operations in every layer and
step, which fewer tokens would not repay; a chat template with its system prompt has about a hundred."""
LOGITS_KEPT = 1 << 26
"""Logits of all chunks of a micro-batch, for its backward pass: 256 MiB in fp32. Beyond it they are computed again."""
WIDE = 8_192
"""Words from which on a token is drawn in two steps: first the block that it is in."""


def tokens_kept(numbers_per_token: float) -> int:
    """Tokens that fit in `NUMBERS_KEPT`, by the numbers that each keeps."""
    least, most = TOKENS_KEPT
    return max(least, min(most, int(NUMBERS_KEPT / numbers_per_token)))
